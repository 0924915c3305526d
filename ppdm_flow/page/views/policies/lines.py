"""Two texts line by line: what went and what came, with a few lines around."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher

_AROUND = 3
_GAP_PAIRS = 200_000
"""Pairs of lines that are compared between lines that occur once: `difflib` is cubic where many lines are equal."""


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line; ``kind`` is ``same``, ``gone``, ``new`` or ``skip``, and ``old`` and ``new`` are its numbers."""

    kind: str
    old: int | None
    new: int | None
    text: str


def changed_lines(old: str, new: str) -> list[ComparedLine]:
    """Return the lines that changed with those around them; nothing where none did."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[ComparedLine] = []
    for group in _LineMatcher(None, before, after).get_grouped_opcodes(_AROUND):
        if group[0][1] or group[0][3]:
            lines.append(ComparedLine("skip", None, None, ""))
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                lines += [ComparedLine("same", i + n + 1, j + n + 1, before[i + n]) for n in range(i_end - i)]
            else:
                lines += _gone(before, i, i_end)
                lines += [ComparedLine("new", None, n + 1, after[n]) for n in range(j, j_end)]
    return lines


def _gone(before: list[str], start: int, end: int) -> Iterator[ComparedLine]:
    yield from (ComparedLine("gone", n + 1, None, before[n]) for n in range(start, end))


class _LineMatcher(SequenceMatcher[str]):
    """Matches lines that occur once in both texts first (patience diff), and compares what is between these."""

    a: Sequence[str]
    b: Sequence[str]

    def get_matching_blocks(self) -> list[Match]:
        """Return the runs of equal lines, and the empty one at the end."""
        blocks: list[Match] = []
        for i, j in self._pairs():
            if blocks and (blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size) == (i, j):
                blocks[-1] = blocks[-1]._replace(size=blocks[-1].size + 1)
            else:
                blocks.append(Match(i, j, 1))
        return [*blocks, Match(len(self.a), len(self.b), 0)]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the places of equal lines. Once too many lines were compared, what is left counts as changed."""
        old, new, left = self.a, self.b, _GAP_PAIRS
        i = j = 0
        for i_end, j_end in [*_unique_pairs(old, new), (len(old), len(new))]:
            while i < i_end and j < j_end and old[i] == new[j]:
                yield i, j
                i, j = i + 1, j + 1
            same = 0
            while i < i_end - same and j < j_end - same and old[i_end - same - 1] == new[j_end - same - 1]:
                same += 1
            compared = (i_end - same - i) * (j_end - same - j)
            if 0 < compared <= left:
                left -= compared
                gap = SequenceMatcher(None, old[i : i_end - same], new[j : j_end - same], autojunk=False)
                for block in gap.get_matching_blocks():
                    yield from ((i + block.a + n, j + block.b + n) for n in range(block.size))
            yield from ((i_end - n, j_end - n) for n in range(same, 0, -1))
            if i_end < len(old):
                yield i_end, j_end
            i, j = i_end + 1, j_end + 1


def _unique_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the most pairs of lines that occur once in both texts, in an order that both have."""
    counts = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if counts[1][line] == 1}
    candidates = [(i, places[line]) for i, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []  # the smallest last place in `new` of an ordered run, by the run's length
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(candidates):
        length = bisect_left(ends, j)
        before.append(lasts[length - 1] if length else -1)
        ends[length : length + 1], lasts[length : length + 1] = [j], [number]
    chosen: list[tuple[int, int]] = []
    at = lasts[-1] if lasts else -1
    while at >= 0:
        chosen.append(candidates[at])
        at = before[at]
    return chosen[::-1]
