"""Two releases with noise of their own: joined, and judged by what their copies tell together."""

from __future__ import annotations

import math

import numpy as np
import pytest

RNG = np.random.default_rng(7)
TWICE = """version: 1
name: wages
source: {path: table.csv}
attributes:
  person: {role: identifier}
  income: {role: sensitive, type: float}
privacy:
  PRIVACY
steps:
  ids: {use: pseudonymize, with: {attributes: [person], key_file: one.key}}
  others: {use: pseudonymize, input: source, with: {attributes: [person], key_file: two.key}}
  first: {use: add_noise, input: ids, with: {attributes: [income], sd: 2000}}
  second: {use: add_noise, input: FROM, with: {attributes: [income], sd: 2000}}
releases:
  one: {from: first, path: one.csv, shuffle: true}
  two: {from: second, path: two.csv, shuffle: true}
randomness: {mode: reproducible, seed: near}
"""
NEAR = "interval_disclosure: {income: {width: {absolute: 1000}, max: 0.42}}"
LINKED = "numeric_linkage: {attributes: [income], max: 0.009, sample: 100000}"
BOTH = "one + two"


@pytest.fixture
def wages(bench):
    incomes = RNG.uniform(0, 1_000_000, 3000)
    bench.data([[f"p{i}", f"{n:.2f}"] for i, n in enumerate(incomes)], header="person,income")
    for name, first in (("one.key", 1), ("two.key", 101)):
        key = bench.folder / name
        key.write_bytes(bytes(range(first, first + 24)).hex().encode())
        key.chmod(0o600)
    return bench


def judged(wages, policy):
    report = wages.run(wages.plan(policy)).report
    return {r.release: (r.measured, r.holds) for r in report.requirements}


def test_two_noisy_releases_are_averaged(wages):
    """A normal error of 2000 is within 1000 with erf(1/2 / sqrt 2) = 0.383; the mean of two with erf(1/2) = 0.520."""
    found = judged(wages, TWICE.replace("FROM", "ids").replace("PRIVACY", NEAR))
    assert [found[n][1] for n in ("one", "two", BOTH)] == [True, True, False]
    for name, expected in (("one", 0.3829), ("two", 0.3829), (BOTH, 0.5205)):
        assert found[name][0] == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 3000))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "change",
    [
        ("FROM", "others"),
        ("releases:", "recipients: apart\nreleases:"),
        ("sd: 2000}}\nreleases", "sd: 900000}}\nreleases"),
    ],
)
def test_copies_that_nobody_combines(wages, change):
    """Other pseudonyms, other readers; or a second copy that tells next to nothing."""
    policy = TWICE.replace(*change).replace("FROM", "ids").replace("PRIVACY", NEAR)
    assert all(holds for _, holds in judged(wages, policy).values())


def test_one_draw_in_two_releases_is_one_copy(wages):
    policy = TWICE.replace("{from: second", "{from: first").replace("FROM", "ids").replace("PRIVACY", NEAR)
    assert all(holds for _, holds in judged(wages, policy).values())


def test_rows_that_one_release_alone_has_stay_rows(wages):
    some = "  some: {use: sample, input: ids, with: {size: 1000}}\n  second:"
    policy = TWICE.replace("  second:", some).replace("FROM", "some").replace("PRIVACY", NEAR)
    measured = judged(wages, policy)[BOTH][0]
    assert measured == pytest.approx(0.5205 / 3 + 0.3829 * 2 / 3, abs=4 * math.sqrt(0.25 / 3000))


@pytest.mark.slow
def test_records_are_linked_over_two_releases(wages):
    found = judged(wages, TWICE.replace("FROM", "ids").replace("PRIVACY", LINKED))
    assert found[BOTH][0] > 1.2 * max(found["one"][0], found["two"][0])


@pytest.mark.slow
def test_people_of_a_file_are_found_in_both_together(wages):
    """Two noisy copies find more of the people of a file than one does, whose identifier leaves in neither."""
    header, *lines = (wages.folder / "table.csv").read_text().splitlines()
    (wages.folder / "known.csv").write_text("\n".join([header, *lines[::3]]) + "\n")
    asked = LINKED.replace("100000}", "1000, against: known.csv, key: person}")
    found = judged(wages, TWICE.replace("FROM", "ids").replace("PRIVACY", asked))
    assert found[BOTH][0] > max(found[name][0] for name in ("one", "two"))
