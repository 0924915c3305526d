"""Characters that browsers obey: none is left in the text of a page, and no other thread waits for the look at it."""

from __future__ import annotations

import random
import re

import pytest

from ppdm_flow.core.texts import visible
from ppdm_flow.page.looks import templates
from ppdm_flow.page.looks.templates import with_all_visible

_KEPT = re.compile(r"(<textarea\b.*?</textarea>|<[^>]*>)", re.DOTALL)


def _in_one_piece(html: str) -> str:
    pieces = _KEPT.split(html)
    return "".join(piece if place % 2 else visible(piece) for place, piece in enumerate(pieces))


@pytest.mark.parametrize("slice_", [1, 2, 7, 1 << 14])
def test_slices_of_any_size_give_the_same_page(monkeypatch, slice_):
    monkeypatch.setattr(templates, "_SLICE", slice_)
    draw = random.Random(5)
    parts = ["\u202e", "\x7f", "a", "é", "&lt;", "\n", '<p title="\u202e">', "</p>", "<textarea>\u202e\n</textarea>"]
    for _ in range(200):
        html = "".join(draw.choices(parts, k=draw.randrange(30)))
        assert with_all_visible(html) == _in_one_piece(html)


@pytest.mark.parametrize("html", ["\u202e" * 1_000_000, "<b>\u202e" * 300_000, "<td>a</td>" * 300_000 + "\u202e"])
def test_no_call_has_more_than_a_slice_of_a_page(monkeypatch, html):
    longest = 0

    def noting(text: str) -> str:
        nonlocal longest
        longest = max(longest, len(text))
        return visible(text)

    monkeypatch.setattr(templates, "visible", noting)
    assert "\ufffd" in with_all_visible(html)
    assert longest <= templates._SLICE


def test_a_page_without_them_stays_as_it_is():
    html = "<p>é</p>" * 10_000
    assert with_all_visible(html) == html
