"""The style sheet of pictures: its colours can be told apart, in light and in dark; elements are escaped."""

from __future__ import annotations

import re

import pytest
from contrast import contrast

from ppdm_flow.pictures.svg import element, sheet

GROUNDS = {
    "p-card": ("p-ink", "p-soft", "c1", "c4"),
    "p-sunk": ("p-ink", "p-soft"),
    "p-plus": ("p-ink",),
    "p-minus": ("p-ink",),
}
"""What texts stand on, and their colours."""


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(theme):
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", sheet())
    colours = {name: found[theme] for name, *found in pairs}
    for ground, texts in GROUNDS.items():
        for text in texts:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in (*(f"c{i}" for i in range(8)), "p-ok", "p-bad", "p-warn"):
        assert contrast(colours[mark], colours["p-card"]) >= 3, mark


def test_what_is_used_is_defined():
    assert set(re.findall(r"var\(--([\w-]+)\)", sheet())) <= {"own", *re.findall(r"--([\w-]+):", sheet())}


def test_elements_are_escaped():
    assert element("text", "a < b\x00", class_="tick", x=1.25, text_anchor="end", aria_label='"') == (
        '<text class="tick" x="1.2" text-anchor="end" aria-label="&#34;">a &lt; b\ufffd</text>'
    )
    assert element("line", x1=0, class_="", id=None) == '<line x1="0"/>'
