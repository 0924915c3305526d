"""What the reader makes of files whose values have changed since: figures by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader.cases import released, table
from adversary.reader.figures import find_groups, largest_share, smallest_size
from adversary.reader.files import MISSING, prepare

NOW = table("id a b s", "1 x c hiv | 2 x c flu | 3 x d flu | 4 x d hiv | 5 y d flu | 6 y d hiv")
KEYED = {"id"}, lambda row: f"K{row['id']}", {"kind": "keyed", "key": "K"}


@pytest.mark.parametrize(("moved", "size"), [(True, 1), (False, 2)])
def test_who_has_moved_is_no_candidate_for_others(moved: bool, size: int) -> None:
    """The first two have the same values today; the second one's file of then says where they lived."""
    then = [dict(row) for row in NOW]
    changed = {}
    if moved:
        then[1]["a"] = "y"
        changed = {1: then[1]}
    first = released("then", then, {"id": KEYED, "a": "a"})
    first.then = changed
    second = released("now", NOW, {"id": KEYED, "b": "b"})
    assert smallest_size(find_groups(prepare(NOW, [first, second]), "ab")) == size


def test_a_value_that_has_changed_is_left_out_of_the_own_pair() -> None:
    """No value shows both cells of the first one, who is found all the same."""
    then = [dict(row) for row in NOW]
    then[0]["s"] = "cold"
    first = released("then", then, {"a": "a", "s": "s"})
    first.then = {0: then[0]}
    second = released("now", NOW, {"b": "b", "s": "s"})
    groups = find_groups(prepare(NOW, [first, second]), "ab", "s")
    assert largest_share([g for g in groups if g.sought == 0]) is not MISSING
