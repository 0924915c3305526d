"""Templates that contradict each other, wherever their attribute is released."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

START = """attributes:
  job: {role: quasi_identifier}
  city: {role: quasi_identifier}
  disease: {role: sensitive}
"""
RELEASE = "releases:\n  r: {path: r.csv}\n"
BOTH = """privacy:
  templates:
    rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.2}
    not-too-rare: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.7, negated: true}
"""
DROP = "steps:\n  bare: {use: drop, with: {attributes: [disease]}}\n"


def shares_exist(most: dict[str, float], least: dict[str, float]) -> bool:
    """Whether some table has at most, and at least, these shares of the values a, b and c: tried in hundredths."""
    steps = [range(round(100 * least.get(v, 0)), round(100 * most.get(v, 1)) + 1) for v in "abc"]
    return any(sum(shares) <= 100 for shares in itertools.product(*steps))


@pytest.mark.slow
def test_templates_conflict_exactly_where_no_table_satisfies_them(codes) -> None:
    draw = random.Random(7)
    seen = Counter()
    for _ in range(100):
        most = {v: draw.choice([0.1, 0.3, 0.5]) for v in "abc" if draw.random() < 0.4}
        least = {v: draw.choice([0.1, 0.3, 0.5, 0.7]) for v in "abc" if draw.random() < 0.6}
        lines = [
            f"    m{v}: {{channel: [job], sensitive: {{disease: [{v}]}}, confidence: {h}}}" for v, h in most.items()
        ]
        lines += [
            f"    l{v}: {{channel: [city], sensitive: {{disease: [{v}]}}, confidence: {1 - h:.2g}, negated: true}}"
            for v, h in least.items()
        ]
        if lines:
            privacy = "privacy:\n  templates:\n" + "\n".join(lines) + "\n"
            conflict = "PPF566" in codes(START + privacy + RELEASE)
            assert conflict == (not shares_exist(most, least)), lines
            seen[conflict] += 1
    assert min(seen.values()) > 15


def test_the_fewest_templates_that_conflict_are_named(compiled) -> None:
    privacy = """privacy:
  templates:
    alone: {channel: [job], sensitive: {disease: [a, b, c]}, confidence: 0.6, negated: true}
    other: {channel: [job], sensitive: {disease: [d]}, confidence: 0.5, negated: true}
"""
    (fault,) = [d for d in compiled(START + privacy + RELEASE).diagnostics if d.code == "PPF566"]
    assert "`alone` contradicts itself" in fault.message


@pytest.mark.parametrize(
    ("steps", "releases", "conflict"),
    [
        ("", RELEASE, True),
        ("steps:\n  r: {use: rename, with: {attributes: {disease: illness}}}\n", RELEASE, True),
        (DROP, RELEASE, False),
        (DROP, "releases:\n  bare: {path: b.csv}\n  full: {from: source, path: f.csv}\n", True),
    ],
)
def test_templates_about_what_no_release_has_are_at_peace(codes, steps, releases, conflict) -> None:
    assert ("PPF566" in codes(START + BOTH + steps + releases)) == conflict


def test_a_pattern_stands_for_the_attribute_until_the_columns_are_known(codes) -> None:
    start = START.replace("disease:", '"dis*":')
    assert "PPF566" in codes(start + BOTH + RELEASE, columns=("job", "city", "disease"))
