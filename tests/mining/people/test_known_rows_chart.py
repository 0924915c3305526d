"""The picture of what known rows tell."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.people.known_rows import crowds_of, profiles
from ppdm_flow.mining.people.known_rows_chart import crowds_by_known_rows, known_rows_chart


def held(*people):
    rows = [(p, ord(c) - ord("a")) for p, classes in enumerate(people) for c in classes]
    person, group = np.array(rows).T
    return profiles(person, group, np.ones(len(rows), dtype=bool))


def test_bars_fall_as_more_rows_are_known():
    chart = known_rows_chart(crowds_by_known_rows(held("abc", "abc", "ab", "bc", "ac")), k=3)
    assert chart.x == ("1", "2", "3", "all")
    assert [s.name for s in chart.series] == ["people", "required"]
    assert chart.series[0].y == (4.0, 3.0, 2.0, 1.0)
    assert chart.series[1].y == (3.0,) * 4
    assert chart.note.endswith("rows are linked: 4 for 1, 3 for 2, 2 for 3 and 1 for all")


def test_what_has_too_many_combinations_is_named_and_left_out(monkeypatch):
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows.MOST_COMBINATIONS", 60)
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows.MOST_COMBINATIONS", 60)
    people = ["abcdefghij".replace(c, "") for c in "abcdefghij"]
    chart = known_rows_chart(crowds_by_known_rows(held(*people)))
    assert chart.x == ("all",)
    assert chart.note.endswith("1, 2 and 3")


def test_nobody_linked_is_no_picture():
    nothing = np.zeros(2, dtype=np.int64)
    nobody = profiles(nothing, nothing, np.zeros(2, dtype=bool))
    assert known_rows_chart(crowds_by_known_rows(nobody)) is None


def test_what_was_judged_is_drawn_and_much_work_is_not_done_for_a_picture(monkeypatch):
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows_chart.MOST_DRAWN", 4)
    people = held("abc", "abc")
    assert list(crowds_by_known_rows(people)) == [1, None]
    assert list(crowds_by_known_rows(people, {2: crowds_of(people, 2)})) == [1, 2, None]
