"""The lines that changed between two texts."""

from __future__ import annotations

import random

import pytest
from growth import growth

from ppdm_flow.page.views.policies.comparing import changed_lines


def shown(old: str, new: str) -> list[str]:
    signs = {"same": " ", "gone": "-", "new": "+", "skip": "…"}
    return [signs[line.kind] + line.text for line in changed_lines("\n".join(old), "\n".join(new))]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("abc", "abc", []),
        ("abc", "axc", [" a", "-b", "+x", " c"]),
        ("abcdefgh", "abcdeXgh", ["…", " c", " d", " e", "-f", "+X", " g", " h"]),
        ("aaa", "aaaa", [" a", " a", " a", "+a"]),
        ("", "ab", ["+a", "+b"]),
        ("xaay", "zaaw", ["-x", "+z", " a", " a", "-y", "+w"]),
    ],
)
def test_what_is_shown(old, new, lines):
    assert shown(old, new) == lines


def test_both_texts_can_be_made_of_the_lines():
    draw = random.Random(5)
    for _ in range(300):
        old, new = ("".join(draw.choices("abcdefgh", k=draw.randrange(12))) for _ in range(2))
        lines = changed_lines("\n".join(old), "\n".join(new))
        for kind, text, other in (("gone", old, "old"), ("new", new, "new")):
            there = {getattr(line, other): line.text for line in lines if line.kind in ("same", kind)}
            assert all(text[number - 1] == line for number, line in there.items())
        gone, came = ([line.text for line in lines if line.kind == kind] for kind in ("gone", "new"))
        assert len(old) - len(gone) == len(new) - len(came)


@pytest.mark.slow
def test_many_equal_lines_take_no_cubic_time():
    def compare(size: int) -> None:
        old, new = ([line for number in range(size) for line in ("same", f"{kind}{number}")] for kind in "ab")
        changed_lines("\n".join(old), "\n".join(new))

    def compare_pairs(size: int) -> None:
        lines = [f"{n // 2}" for n in range(size)]
        changed_lines("\n".join(lines), "\n".join(lines[::-1]))

    assert growth(compare, 40, 320) < 150  # cubic: 512 times as long
    assert growth(compare_pairs, 1_000, 8_000) < 60
