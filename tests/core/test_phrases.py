"""Numbers with their nouns, and names in a row."""

from __future__ import annotations

import pytest

from ppdm_flow.core.phrases import counted, listed


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "class", "1 class"),
        (2, "class", "2 classes"),
        (0, "policy", "0 policies"),
        (1, "policy", "1 policy"),
        (3, "key", "3 keys"),
        (1200, "row", "1,200 rows"),
        (2, "test file", "2 test files"),
    ],
)
def test_counted(number, noun, text):
    assert counted(number, noun) == text


@pytest.mark.parametrize(
    ("names", "most", "first", "text"),
    [
        ([], None, None, ""),
        (["a"], None, None, "a"),
        (["a", "b"], None, None, "a and b"),
        (["a", "b", "c"], 3, None, "a, b and c"),
        (["a", "b", "c", "d"], 3, None, "a, b and 2 more"),
        (list("abcdef"), 5, 1, "a and 5 more"),
    ],
)
def test_listed(names, most, first, text):
    assert listed(names, most, first) == text
