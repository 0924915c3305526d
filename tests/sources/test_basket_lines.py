"""Lines of names: all together, by Python and compiled, and where nothing but the kernel may read them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.sources.baskets import kernels, vectors

QUOTE = ord('"')
SETTINGS = examples(120)
TEXTS = st.sampled_from(["ab,\n", "ab ,\t\n", "a ,\t\n", 'ab",\n', "a\0,\n", "a\r\n,", "é;\n "]).flatmap(
    lambda alphabet: st.text(st.sampled_from(alphabet), max_size=24)
)


def read(form, octets: bytes, delimiter: str, *, strip: bool):
    """Return all that a form says and writes of lines."""
    lines = np.frombuffer(octets, np.uint8)
    out = np.zeros(len(lines), np.uint8)
    ends, offsets = np.full(len(lines) // 2 + 2, -1), np.full(octets.count(b"\n") + 1, -1)
    wrong, place, count = form(lines, ord(delimiter), QUOTE, strip, out, ends, offsets)
    if wrong:
        return wrong, place, count
    return wrong, place, count, out[:place].tobytes(), ends[: count + 1].tolist(), offsets.tolist()


def plainly(*args):
    return kernels.cells.plainly(*args)


@SETTINGS
@given(TEXTS, st.sampled_from([",", ";", "\t", " "]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_lines_together_are_lines_one_by_one(text, delimiter, strip, end):
    octets = (text.replace("\n", end) + end).encode()
    wanted = read(kernels.cells.py_func, octets, delimiter, strip=strip)
    assert read(plainly, octets, delimiter, strip=strip) == wanted
    assert read(kernels.cells.dispatcher, octets, delimiter, strip=strip) == wanted
    if vectors.is_simple(np.frombuffer(octets, np.uint8), QUOTE):
        assert not wanted[0]


@pytest.mark.parametrize(
    ("octets", "simple"),
    [
        (b"", True),
        (b"a,b\n", True),
        (b"a,b\r\nc\r\n", True),
        (b'a,"b"\n', False),
        (b"a\0b\n", False),
        (b"a\rb\n", False),
        (b"a\r\r\n", False),
    ],
)
def test_what_is_quoted_or_wrong_is_not_read_together(octets, simple):
    lines = np.frombuffer(octets, np.uint8)
    assert vectors.is_simple(lines, QUOTE) == simple
    few = kernels.cells.steps(lines, ord(","), QUOTE, False)
    assert few == len(octets) * (vectors.STEPS if simple else 1)


def test_many_blanks_take_no_longer_than_few():
    octets = (b" " * 200_000 + b"a" + b" " * 200_000 + b",b\n") * 3
    assert read(plainly, octets, ",", strip=True)[2:4] == (6, b"ababab")
