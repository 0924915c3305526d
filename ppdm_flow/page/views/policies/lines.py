"""Two texts line by line: what went and what came, with a few lines around."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from ppdm_flow.core.records import dataclass

_AROUND = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A line; ``kind`` is ``same``, ``gone``, ``new`` or ``skip``, and ``old`` and ``new`` are its numbers."""

    kind: str
    old: int | None
    new: int | None
    text: str


def changed_lines(old: str, new: str) -> list[Line]:
    """Return the lines that changed with those around them; nothing where none did."""
    before, after = old.splitlines(), new.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    lines: list[Line] = []
    for group in matcher.get_grouped_opcodes(_AROUND):
        if group[0][1] or group[0][3]:
            lines.append(Line("skip", None, None, ""))
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                lines += [Line("same", i + n + 1, j + n + 1, before[i + n]) for n in range(i_end - i)]
            else:
                lines += _gone(before, i, i_end)
                lines += [Line("new", None, n + 1, after[n]) for n in range(j, j_end)]
    return lines


def _gone(before: list[str], start: int, end: int) -> Iterator[Line]:
    yield from (Line("gone", n + 1, None, before[n]) for n in range(start, end))
