"""Figures of groups that are worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from ppdm_flow.reader.figures import distinct, masses, posteriors, shares, sizes, worst
from ppdm_flow.reader.view import CandidateGroups, ValueReading

TOLD = pd.DataFrame(
    {"group": [0, 0, 0, 1], "kind": [0, 0, 1, 2], "value": [5, 6, 6, 5], "probability": [0.5, 0.5, 1.0, 1.0]}
)
"""In the first group one kind of row has one of two values, another the second one; in the other all have one."""
BASE = pd.Series({5: 0.5, 6: 0.5})


def view(*, people: bool, told: pd.DataFrame = TOLD, whole: bool = False, together: float = 0.0) -> CandidateGroups:
    """Return two groups: of three rows and of two with half the weight, and of two rows."""
    rows = pd.DataFrame({"group": [0, 0, 1], "kind": [0, 1, 2], "weight": [1.0, 0.5, 1.0], "units": [3, 2, 2]})
    who = pd.DataFrame({"kind": [0, 0, 1, 1, 2], "unit": [0, 1, 1, 3, 2], "rows": [2, 1, 1, 1, 2]}) if people else None
    return CandidateGroups(rows, (ValueReading(told, BASE, whole),), frozenset({0}), pd.Series([1, 1]), who, together)


def totals_and_masses(
    one: CandidateGroups, *, spread: bool
) -> list[tuple[dict[tuple[int, int], float], dict[int, float]]]:
    """Return what `masses` yields: by weight and with equal weights, of rows and of units, as dictionaries."""
    return [
        (
            {(int(r.group), int(r.value)): round(float(r.mass), 4) for r in values.itertuples()},
            {int(str(g)): round(float(t), 4) for g, t in totals.items()},
        )
        for _, values, totals in masses(one, spread=spread)
    ]


def test_rows_are_counted_by_their_weights() -> None:
    """Four rows by weight: the second value has half of three, and one."""
    one = view(people=False)
    assert (posteriors(one).to_dict(), sizes(one).to_dict()) == ({0: 4.0}, {0: 4})
    by_weight = ({(0, 5): 1.5, (0, 6): 2.5, (1, 5): 2.0}, {0: 4.0, 1: 2.0})
    equal = ({(0, 5): 1.5, (0, 6): 3.5, (1, 5): 2.0}, {0: 5.0, 1: 2.0})
    assert totals_and_masses(one, spread=False) == [by_weight, equal]
    assert totals_and_masses(one, spread=True) == [by_weight, equal]
    assert sorted(shares(one).round(4)) == [0.625, 0.7, 1, 1]
    assert distinct(one).to_dict() == {0: 2, 1: 1}
    assert worst([one]) == {"k": 4, "l": 1, "alpha": 1.0, "posterior": 4.0}
    assert worst([]) == {"k": None, "l": None, "alpha": None, "posterior": None}


def test_people_are_counted_by_the_chance_that_one_of_their_rows_has_a_value() -> None:
    """The first person has two rows of the first kind, the second one of each kind, the third one of the second."""
    one = view(people=True)
    assert (posteriors(one).to_dict(), sizes(one).to_dict()) == ({0: 2.5}, {0: 2})
    rows = (
        ({(0, 5): 1.5, (0, 6): 2.5, (1, 5): 2.0}, {0: 4.0, 1: 2.0}),
        ({(0, 5): 1.5, (0, 6): 3.5, (1, 5): 2.0}, {0: 5.0, 1: 2.0}),
    )
    units = (
        ({(0, 5): 1.5, (0, 6): 2.5, (1, 5): 1.0}, {0: 2.5, 1: 1.0}),
        ({(0, 5): 1.5, (0, 6): 3.0, (1, 5): 1.0}, {0: 3.0, 1: 1.0}),
    )
    assert totals_and_masses(one, spread=False) == [rows[0], units[0], rows[1], units[1]]
    assert distinct(one).to_dict() == {0: 1, 1: 1}  # all have the second value for certain
    whole = totals_and_masses(view(people=True, whole=True), spread=False)
    assert whole[1] == ({(0, 5): 1.0, (0, 6): 2.0, (1, 5): 1.0}, {0: 2.5, 1: 1.0})


def test_people_are_spread_over_their_rows() -> None:
    """The second person's rows count by their weights: of the second kind half, with a value of its own."""
    assert totals_and_masses(view(people=True), spread=True) == [
        ({(0, 5): 0.8333, (0, 6): 1.6667, (1, 5): 1.0}, {0: 2.5, 1: 1.0}),
        ({(0, 5): 0.75, (0, 6): 2.25, (1, 5): 1.0}, {0: 3.0, 1: 1.0}),
    ]
    more = TOLD.assign(probability=[0.5, 1.0, 1.0, 1.0])  # the second value is twice as likely: sums need not be 1
    assert totals_and_masses(view(people=True, told=more), spread=True) == [
        ({(0, 5): 0.5556, (0, 6): 1.9444, (1, 5): 1.0}, {0: 2.5, 1: 1.0}),
        ({(0, 5): 0.5, (0, 6): 2.5, (1, 5): 1.0}, {0: 3.0, 1: 1.0}),
    ]


def test_units_are_matched_with_values() -> None:
    """One unit has one of three values, and two have the first one: two values are matched."""
    told = pd.DataFrame(
        {"group": [0] * 4, "kind": [0, 0, 0, 1], "value": [1, 2, 3, 1], "probability": [0.4, 0.3, 0.3, 1.0]}
    )
    rows = pd.DataFrame({"group": [0, 0], "kind": [0, 1], "weight": [1.0, 1.0], "units": [1, 2]})
    one = CandidateGroups(rows, (ValueReading(told, BASE),), frozenset({0}), pd.Series([1]))
    assert distinct(one).to_dict() == {0: 2}
    several = CandidateGroups(rows.assign(units=[5, 2]), (ValueReading(told, BASE),), frozenset({0}), pd.Series([1]))
    assert distinct(several).to_dict() == {0: 3}
    certain = told.assign(probability=[0.5, 0.5, 0.0, 1.0])
    assert distinct(
        CandidateGroups(rows.assign(units=[5, 9]), (ValueReading(certain, BASE),), frozenset({0}), pd.Series([1]))
    ).to_dict() == {0: 2}


def test_the_chance_of_several_known_rows_is_a_share() -> None:
    assert max(shares(view(people=False, together=2.0))) == 2
    assert worst([view(people=False), view(people=True)])["k"] == 2
    nobody = CandidateGroups(view(people=False).rows, (), frozenset(), pd.Series([1, 1]))
    assert worst([nobody]) == {"k": None, "l": None, "alpha": None, "posterior": None}
    assert pytest.approx(worst([nobody, view(people=True)])["posterior"]) == 2.5
