"""Lines of names: compiled, by Python, and by splitting what is neither quoted nor wrong."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.sources.baskets import algorithm

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


def split(text: str, delimiter: str, *, strip: bool) -> list[list[str]]:
    """Return the names of each line, where nothing is quoted and nothing is wrong."""
    rows = [line.removesuffix("\r").split(delimiter) for line in text.split("\n")[:-1]]
    blank = " \t".replace(delimiter, "")
    return [[name for each in row if (name := each.strip(blank) if strip else each)] for row in rows]


@SETTINGS
@given(TEXTS, st.sampled_from([",", ";", "\t", " "]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_compiled_lines_are_those_of_python(text, delimiter, strip, end):
    text = text.replace("\n", end) + end
    octets = text.encode()
    wanted = read(algorithm.cells.py_func, octets, delimiter, strip=strip)
    assert read(algorithm.cells, octets, delimiter, strip=strip) == wanted
    if not set(text.replace("\r\n", "\n")) & {'"', "\0", "\r"}:
        wrong, size, count, names, ends, offsets = wanted
        rows = split(text.replace("\r\n", "\n"), delimiter, strip=strip)
        found = [names[a:b].decode() for a, b in itertools.pairwise(ends)]
        assert (wrong, size, count) == (algorithm.NOTHING, len(names), len(found))
        assert [found[a:b] for a, b in itertools.pairwise(offsets)] == rows


def test_many_blanks_take_no_longer_than_few():
    octets = (b" " * 200_000 + b"a" + b" " * 200_000 + b",b\n") * 3
    assert read(algorithm.cells, octets, ",", strip=True)[2:4] == (6, b"ababab")
