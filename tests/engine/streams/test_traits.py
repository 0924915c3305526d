"""What texts of a column may look like: never says of a value, or of the beginning of a long one, that it cannot be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.texts import LONGEST
from ppdm_flow.engine.streams.traits import TextTraits
from ppdm_flow.tables.table import Table

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=9), st.text(min_size=60, max_size=70)), min_size=1, max_size=9)


@given(parts=st.lists(TEXTS, min_size=1, max_size=4))
def test_no_value_is_missed(parts):
    whole = TextTraits(["c"])
    for values in parts:
        one = TextTraits(["c"])
        one.look(Table.of({"c": values}))
        whole.add(one)
    values = [v.strip() for part in parts for v in part if v is not None and v.strip()]
    wanted = {v[:LONGEST] for v in values}
    assert whole.possible(wanted, ["c"]) == wanted


def test_other_words_are_told_from_identifiers():
    traits = TextTraits(["id"])
    traits.look(Table.of({"id": ["p100", "p245", " p983 "]}))
    said = {"p100", "p777", "p10", "10", "p100x", "most: p100", "rows", "p" + "1" * (LONGEST - 1)}
    assert traits.possible(said, ["id"]) == {"p100"}


def test_of_a_column_that_was_not_seen_everything_may_be_a_value():
    traits = TextTraits(["id"])
    traits.look(Table.of({"id": ["p100"]}))
    assert traits.possible({"rows"}, ["id"]) == frozenset()
    assert traits.possible({"rows"}, ["id", "date"]) == {"rows"}
