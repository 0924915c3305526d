"""Rules beyond types: what the bad examples do not show."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from ppdm_flow.policy.language.patterns import DeclaredAttributes, matches, overlap
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.requirements.templates.spec import implies


def worst(rows, channel, pair, weights) -> float:
    """The highest confidence of any group, missing values as a category of their own: the definition itself."""
    groups, hits = Counter(), Counter()
    for row, weight in zip(rows, weights, strict=True):
        key = tuple(row[a] for a in channel)
        groups[key] += weight
        hits[key] += weight * (row[pair[0]] == pair[1])
    return max(hits[k] / groups[k] for k in groups)


def test_the_lemma_holds_on_random_tables() -> None:
    """A table that satisfies a template satisfies all that it implies (Lemma 3.1)."""
    draw = random.Random(31)
    names = ["a", "b", "c"]
    channels = [c for n in (1, 2, 3) for c in itertools.combinations(names, n)]
    judged = 0
    for _ in range(6_000):
        rows = [
            {**{n: draw.choice(["x", "y", None, "⊥"]) for n in names}, "s": draw.choice(["p", "q"])}
            for _ in range(draw.randint(1, 8))
        ]
        weights = [draw.randint(1, 3) for _ in rows]
        one, other = (
            InferenceTemplate(
                channel=draw.choice(channels), sensitive={"s": ("p",)}, confidence=draw.choice([0.3, 0.5, 0.7])
            )
            for _ in range(2)
        )
        if not implies(one, other):
            continue
        if worst(rows, one.channel, ("s", "p"), weights) <= one.confidence:
            judged += 1
            assert worst(rows, other.channel, ("s", "p"), weights) <= other.confidence
    assert judged > 100


def test_the_other_direction_does_not_hold() -> None:
    """A bound on a coarse grouping says nothing of a finer one."""
    fine = InferenceTemplate(channel=("a", "b"), sensitive={"s": ("p",)}, confidence=0.5)
    coarse = InferenceTemplate(channel=("a",), sensitive={"s": ("p",)}, confidence=0.5)
    assert implies(fine, coarse)
    assert not implies(coarse, fine)
    rows = [{"a": "x", "b": "1", "s": "p"}, {"a": "x", "b": "2", "s": "q"}]
    assert worst(rows, ("a",), ("s", "p"), [1, 1]) == 0.5
    assert worst(rows, ("a", "b"), ("s", "p"), [1, 1]) == 1.0


def test_with_wildcards_the_lemma_fails() -> None:
    """Two rows that fit every group thin out the fine groups, and count but once in the coarse one."""
    rows = [("1", "p"), ("2", "p"), (None, "q"), (None, "q")]

    def confidence(b: str | None) -> float:
        group = [s for value, s in rows if b is None or value in (b, None)]
        return group.count("p") / len(group)

    assert max(confidence("1"), confidence("2")) < 0.34
    assert confidence(None) == 0.5


REDUNDANT = """\
privacy:
  templates:
    fine: {channel: [job, city], sensitive: {disease: [a, b]}, confidence: 0.5}
    coarse: {channel: [job], sensitive: {disease: [b]}, confidence: 0.5}
"""


@pytest.mark.parametrize(("nulls", "found"), [("own_category", 1), ("wildcard", 0), ("exclude", 0)])
def test_redundancy_is_judged_only_where_the_lemma_holds(read, start, codes, nulls: str, found: int) -> None:
    assert codes(read(start + REDUNDANT + f"nulls: {nulls}\n")).count("PPF508") == found


def test_several_templates_may_make_one_redundant_together(read, start) -> None:
    text = start + REDUNDANT.replace("[a, b]", "[a]").replace("[b]", "[a, b]")
    text += "    other: {channel: [city, job], sensitive: {disease: [b]}, confidence: 0.4}\n"
    (fault,) = [d for d in read(text).diagnostics if d.code == "PPF508"]
    assert "`fine` and `other`" in fault.message
    assert len(fault.related) == 2


@pytest.mark.parametrize(
    "change",
    [
        ("confidence: 0.5}\n    coarse", "confidence: 0.6}\n    coarse"),
        ("[b]", "[c]"),
        ("[job, city]", "[city]"),
        ("coarse: {", "coarse: {negated: true, "),
        ("coarse: {", "coarse: {min_support: 2, "),
    ],
)
def test_what_is_not_redundant(read, start, codes, change: tuple[str, str]) -> None:
    assert "PPF508" not in codes(read(start + REDUNDANT.replace(*change)))


def test_a_support_at_least_as_large_is_implied_too(read, start, codes) -> None:
    text = start + REDUNDANT.replace("fine: {", "fine: {min_support: 3, ").replace(
        "coarse: {", "coarse: {min_support: 2, "
    )
    assert "PPF508" in codes(read(text))


def test_of_two_equal_templates_the_later_is_redundant(read, start) -> None:
    text = start + REDUNDANT.replace("[job]", "[city, job]").replace("[b]", "[b, a]")
    (fault,) = [d for d in read(text).diagnostics if d.code == "PPF508"]
    assert "template `coarse`" in fault.message


@pytest.mark.parametrize(
    ("path", "good"),
    [
        ("a.csv", True),
        ("dir/a.csv", True),
        ("a..b.csv", True),
        ("..a/b", True),
        ("../a", False),
        ("a/../../b", False),
        ("a/..", False),
        ("/a", False),
        ("\\\\host\\a", False),
        ("a\\..\\..\\b", False),
        ("C:/a", False),
        ("~/a", False),
        ("", False),
        ("  ", False),
        (".", False),
        ("a/", False),
        ("./a.csv", True),
    ],
)
def test_release_paths(read, start, codes, path: str, good: bool) -> None:
    text = start.replace("path: study.csv", f"path: '{path}'") + "privacy: {k_anonymity: {k: 2}}\n"
    assert codes(read(text)) == ([] if good else ["PPF516"])


def test_globs_declare_attributes(read, start, codes) -> None:
    text = start.replace("city:", '"c[ij]*":') + "privacy: {k_anonymity: {k: 2, attributes: [city, town]}}\n"
    assert codes(read(text)) == ["PPF500"]


def names() -> list[str]:
    return ["".join(w) for n in range(5) for w in itertools.product("ab", repeat=n)]


def test_overlap_is_what_some_name_shows() -> None:
    everything = names()
    pieces = ["a", "b", "*", "?"]
    patterns = ["".join(p) for n in range(1, 4) for p in itertools.product(pieces, repeat=n)]
    for one, other in itertools.product(patterns, repeat=2):
        shared = any(matches(one, n) and matches(other, n) for n in everything)
        assert overlap(one, other) == shared, (one, other)


def test_an_own_name_goes_before_patterns_and_the_first_pattern_before_others(read, start) -> None:
    text = start + "  x: {path: x.csv}\n"
    text = text.replace("attributes:\n", 'attributes:\n  "d*": {role: insensitive}\n  "di*": {role: target}\n')
    from_policy = read(text).policy

    declared = DeclaredAttributes.of(from_policy)
    assert declared.key("disease") == "disease"
    assert declared.key("digits") == "d*"
    assert declared.get("other") is None
