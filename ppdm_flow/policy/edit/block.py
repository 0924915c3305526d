"""Changes of entries that have lines of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppdm_flow.policy.edit.lines import (
    behind_lines,
    column,
    comments_above,
    is_first_on_line,
    line_break,
    line_end,
    line_start,
    next_line,
)
from ppdm_flow.policy.edit.marked import MarkedEntry, MarkedMap, MarkedSeq, MarkedValue

_EMPTY_LINE = re.compile(r"(?:\r\n|[\n\r])[ \t]*(?:\r\n|[\n\r])")


def is_block(node: MarkedValue) -> bool:
    """Whether a value is a map or a list without brackets, of which each part has a line."""
    return isinstance(node, MarkedMap | MarkedSeq) and not node.flow


def below(text: str, place: int, lines: Sequence[str]) -> str:
    """Return the text with lines below the line on which something ends."""
    end, break_ = line_end(text, place), line_break(text)
    return text[:end] + "".join(break_ + line for line in lines) + text[end:]


def entry_inserted(text: str, node: MarkedMap, lines: Sequence[str], place: int) -> str:
    """Return the text with one more entry of a map, behind others or before all of them."""
    if place:
        return below(text, node.entries[place - 1].end, lines)
    first, break_ = node.entries[0].key.start, line_break(text)
    if is_first_on_line(text, first):
        start = comments_above(text, first)
        return text[:start] + "".join(line + break_ for line in lines) + text[start:]
    far = column(text, first)
    return text[:first] + "".join(line + break_ for line in lines).lstrip(" ") + " " * far + text[first:]


def entry_without(text: str, node: MarkedMap, place: int) -> str:
    """Return the text without an entry that has others beside it. Comments above it stay."""
    entry = node.entries[place]
    if is_first_on_line(text, entry.key.start):
        return _without_lines(text, entry.key.start, entry.end)
    return text[: entry.key.start] + text[node.entries[place + 1].key.start :]


def item_appended(text: str, node: MarkedSeq, written: str) -> str:
    """Return the text with one more item of a list."""
    return below(text, node.items[-1].end, [f"{' ' * column(text, node.start)}- {written}"])


def item_without(text: str, node: MarkedSeq, place: int) -> str:
    """Return the text without an item that has others beside it."""
    dash = _dash(text, node, place)
    if is_first_on_line(text, dash):
        return _without_lines(text, dash, node.items[place].end)
    return text[:dash] + text[_dash(text, node, place + 1) :]


def replaced(text: str, behind: int, old: MarkedValue, written: str) -> str:
    """Return the text with a value in one line in place of an old one; ``behind``: where its key or dash ends.

    Comments between the key and a block stay.
    """
    if old.start == old.end:
        return f"{text[:behind]} {written}{text[behind:]}"
    if not is_block(old) or text[behind : old.start].strip(" ") == "":
        keeps_break = text[old.end - 1 : old.end] in ("\n", "\r")
        return text[: old.start] + written + line_break(text) * keeps_break + text[old.end :]
    between = text[behind : line_start(text, old.start)]
    kept = between.removesuffix(line_break(text))
    return f"{text[:behind]} {written}{kept}{text[old.end :]}"


def replaced_by_lines(text: str, behind: int, old: MarkedValue, lines: Sequence[str]) -> str:
    """Return the text with a block below a key in place of a value on the key's line."""
    shorter = text[:behind] + text[old.end :] if old.end > behind else text
    return below(shorter, behind, lines)


def has_empty_lines(text: str, node: MarkedMap) -> bool:
    """Whether an empty line stands between entries of a map."""
    return len(node.entries) > 1 and bool(_EMPTY_LINE.search(text, node.entries[0].key.end, node.entries[-1].key.start))


def key_is_plain(text: str, entry: MarkedEntry) -> bool:
    """Whether nothing but spaces and dashes stands before a key on its line: no ``? key``."""
    return re.fullmatch(r" *(- +)*", text[line_start(text, entry.key.start) : entry.key.start]) is not None


def colon_end(text: str, entry: MarkedEntry) -> int:
    """Return where the colon behind a key ends."""
    return text.index(":", entry.key.end) + 1


def dash_end(text: str, node: MarkedSeq, place: int) -> int:
    """Return where the dash before an item ends."""
    return _dash(text, node, place) + 1


def _dash(text: str, node: MarkedSeq, place: int) -> int:
    far, start = column(text, node.start), node.start
    if place == 0:
        return start
    line = behind_lines(text, node.items[place - 1].end)
    while text[line : line + far].strip(" ") or text[line + far : line + far + 1] != "-":
        if line >= node.end:
            raise LookupError("no dash stands before an item")
        line = next_line(text, line)
    return line + far


def _without_lines(text: str, start: int, end: int) -> str:
    begin, stop = line_start(text, start), behind_lines(text, end)
    if stop == len(text) and begin and line_end(text, end) == len(text):
        begin = line_end(text, begin)  # what comes last has no line break, as before
    return text[:begin] + text[stop:]
