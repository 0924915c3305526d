"""Sets of items where people are counted, from the source to the release: judged by counting in the released file."""

from __future__ import annotations

import io
from collections import defaultdict
from itertools import combinations
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

VISITS = """version: 1
name: illnesses
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier}
  day: {role: insensitive, type: integer}
  ill: {role: sensitive, domain: [a, b, c, d, e, f]}
people: {known_rows: all}
privacy:
  k_anonymity: {k: 2}
  km_anonymity: {attribute: ill, k: K, m: M}
steps:
  people: {use: one_row_each, with: {keep: last, order: day, sets: {ills: ill}}}
  rare: {use: apriori_anonymization}
  classes: {use: mondrian}
  gone: {use: drop, with: {attributes: [patient, day]}}
releases: {study: {path: study.parquet}}
"""


def visits(draw, people):
    """Rows of patient, age, day and illness; some patients have many."""
    rows = []
    for person in range(people):
        age = str(draw.randint(20, 24))
        many = draw.choice((1, 1, 2, 3, 9))
        rows += [[f"p{person}", age, str(draw.randint(1, 365)), draw.choice("aaabbbccdef")] for _ in range(many)]
    draw.shuffle(rows)
    return rows


def released(tools, done):
    ((_, content),) = [(k, v) for k, v in tools.released(done.run_dir).items() if k.endswith(".parquet")]
    return pq.read_table(io.BytesIO(content))


def holders(sets, whose, m):
    """The people with each combination of at most m items in one set."""
    found = defaultdict(set)
    for items, person in zip(sets, whose, strict=True):
        for combination in (c for size in range(1, m + 1) for c in combinations(sorted(items), size)):
            found[combination].add(person)
    return found


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(8))
def test_visits_become_sets_in_which_nothing_is_rare(seed, bench, tools):
    draw = Random(seed)
    rows, k, m = visits(draw, 40), draw.randint(2, 5), draw.randint(1, 3)
    bench.data(rows, "patient,age,day,ill")
    done = bench.run(bench.plan(VISITS.replace("K", str(k)).replace("M", str(m))), partition_rows=17)
    assert done.report.verdict == "released"
    table = released(tools, done)
    assert table.column_names == ["age", "ills"]
    sets = table["ills"].to_pylist()
    assert len(sets) == len({row[0] for row in rows})
    assert all(len(people) >= k for people in holders(sets, range(len(sets)), m).values())
    had = defaultdict(set)
    for patient, _, _, ill in rows:
        had[patient].add(ill)
    every = [frozenset(items) for items in had.values()]
    assert all(any(set(items) <= own for own in every) for items in sets)


BASKETS = """version: 1
name: baskets
source: {path: table.parquet}
attributes:
  person: {role: subject}
  age: {role: quasi_identifier}
  items: {role: items}
people: {known_rows: KNOWN}
privacy: {PRIVACY}
steps:
  STEPS
releases: {study: {path: study.parquet}}
"""


def baskets(bench, people, rows_each):
    """A table of so many rows for each person, all of one age; those of person 0 hold what nobody else has."""
    whose = [f"p{person}" for person in range(people) for _ in range(rows_each(person))]
    sets = [["wine"] if person == "p0" else ["bread"] for person in whose]
    table = pa.table({"person": whose, "age": ["30"] * len(whose), "items": pa.array(sets, pa.list_(pa.string()))})
    pq.write_table(table, bench.folder / "table.parquet")


def policy(privacy, steps, known="1"):
    return BASKETS.replace("PRIVACY", privacy).replace("STEPS", steps).replace("KNOWN", known)


GONE = "gone: {use: drop, with: {attributes: [person]}}"


def test_the_sets_of_one_person_are_withheld(bench):
    baskets(bench, 9, lambda person: 5 if person == 0 else 1)
    done = bench.run(bench.plan(policy("km_anonymity: {k: 5, m: 1}", GONE)))
    assert done.report.verdict == "withheld"
    (result,) = [r for r in done.report.requirements if r.id == "privacy.km_anonymity"]
    assert (result.measured, result.holds) == (1, False)


def test_a_step_by_people_leaves_them_out(bench, tools):
    baskets(bench, 9, lambda person: 5 if person == 0 else 1)
    done = bench.run(
        bench.plan(policy("km_anonymity: {k: 5, m: 1}", f"rare: {{use: apriori_anonymization}}\n  {GONE}"))
    )
    assert done.report.verdict == "released"
    assert sorted(map(tuple, released(tools, done)["items"].to_pylist())) == [()] * 5 + [("bread",)] * 8


@pytest.mark.slow
def test_sets_that_may_link_rows_beside_classes(bench):
    """A rare set in two rows shows that they are one person's: classes of such rows are not measured."""
    baskets(bench, 9, lambda person: 2 if person == 0 else 1)
    done = bench.run(bench.plan(policy("k_anonymity: {k: 5}", GONE)))
    assert done.report.verdict == "withheld"
    (result,) = [r for r in done.report.requirements if r.id == "privacy.k_anonymity"]
    assert (result.measured, result.verified, result.holds) == (None, False, False)
    assert "`items` may show" in result.sentence
    baskets(bench, 9, lambda _person: 1)
    assert bench.run(bench.plan(policy("k_anonymity: {k: 5}", GONE))).report.verdict == "released"
