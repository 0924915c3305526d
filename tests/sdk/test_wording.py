"""Values are looked for in texts as words of their own."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.sdk.wording import Explanations, _bounded, _places, is_explained

WORDS = st.text("ab1 _-é²𝟙", max_size=5)


@given(wanted=WORDS, text=st.text("ab1 _-é²𝟙", max_size=30))
def test_places_are_those_that_a_pattern_with_borders_finds(wanted, text):
    found = [(m.start(), m.start() + len(wanted)) for m in re.finditer(f"(?={_bounded(wanted)})", text)]
    assert list(_places(wanted, text)) == found


@given(value=WORDS, text=st.text("ab1 _-", max_size=20), pieces=st.lists(st.text("ab1 _-", min_size=1, max_size=6)))
def test_a_value_is_explained_alike_alone_and_among_many(value, text, pieces):
    class NoCode:
        def of(self, home):
            return iter(())

    known = Explanations([p.casefold() for p in pieces], NoCode())
    for _ in range(2):
        assert known.has(value, text, "nowhere") == is_explained(value, text, [p.casefold() for p in pieces])
