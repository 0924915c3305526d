"""Texts cut to a width, and in the middle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.texts import shortened


@given(st.text(max_size=60), st.integers(3, 40))
def test_shortening_keeps_both_ends(text, most):
    found = shortened(text, most)
    assert len(found) <= max(most, 0) or found == text
    if len(text) > most:
        assert len(found) == most
        assert found[0] == text[0]
        assert "…" in found
    else:
        assert found == text
