"""A policy's text with some values changed: all other bytes stay as before.

The tree of the new text is compared with the old tree after the same changes. Where the two differ, there is no new
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ppdm_flow.policy.edit.changes import PolicyEdit, Tree, changed, in_line, in_lines, key, same, tree_of, unwritable
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
from ppdm_flow.policy.edit.marked import MarkedEntry, MarkedMap, MarkedSeq, MarkedValue, marked
from ppdm_flow.policy.text.nodes import PolicyPath

_MOST = 10_000
"""Single edits of one text: no text that can be read needs as many."""
Span = tuple[int, int]


def edited(text: str, changes: Iterable[PolicyEdit], file: str = "policy.yaml") -> str:
    """Return a policy's text with changes in it, made one after the other.

    Raises
    ------
    PolicyError
        Where the text cannot be read (with all its faults), where a path leads nowhere, or where a change would have
        to touch anything else: anchors and aliases, and forms of YAML that policies hardly have (PPF127).
    """
    before = tree_of(text, file)
    wanted = before
    for change in changes:
        wanted = changed(wanted, change)
    return text if same(before, wanted) else rewritten(text, wanted, file)


def rewritten(text: str, wanted: Tree, file: str = "policy.yaml") -> str:
    """Return the text changed so that it says ``wanted``, with as few changes as there are differences.

    Raises PolicyError as `edited` does.
    """
    for _ in range(_MOST):
        tree = tree_of(text, file)
        if same(tree, wanted):
            return text
        root = marked(text)
        new = rewritten_once(text, root, tree, wanted, ValuePlace())
        try:
            tree_of(new, file)
        except Exception:  # noqa: BLE001  # nobody sees this text, so its fault does not matter
            break
        if new == text:
            break
        text = new
    raise unwritable((), "the way in which it is written cannot be changed piece by piece")


# One edit of a text towards what it is to say: the first difference is found, and written.


_STEP = 2


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """The place of a value: its path, the end of its key's colon or dash, and its key's indentation.

    ``behind`` is None for the whole text; ``flow``: it stands inside of brackets.
    """

    path: PolicyPath = ()
    behind: int | None = None
    flow: bool = False
    indent: int = 0
    step: int = _STEP


def rewritten_once(text: str, node: MarkedValue | None, before: Tree, wanted: Tree, place: ValuePlace) -> str:
    """Return the text with one difference less. Raises PolicyError where that would touch anything else."""
    if node is None:
        return _begun(text, wanted)
    if node.anchored:
        raise unwritable(place.path, "it repeats another value by an alias, or is repeated by one")
    if isinstance(node, MarkedMap) and isinstance(before, dict) and isinstance(wanted, dict) and before and wanted:
        return _map(text, node, before, wanted, place)
    if isinstance(node, MarkedSeq) and isinstance(before, list) and isinstance(wanted, list) and before and wanted:
        return _list(text, node, before, wanted, place)
    return _replaced(text, node, wanted, place)


def _begun(text: str, wanted: Tree) -> str:
    """Return a text that said nothing, with its first entries."""
    break_ = line_break(text)
    head = text if not text or line_start(text, len(text)) == len(text) else text + break_
    return head + "".join(line + break_ for line in _lines(wanted, 0, _STEP, ()))


def _lines(wanted: Tree, indent: int, step: int, path: PolicyPath) -> list[str]:
    if not isinstance(wanted, dict):
        raise unwritable(path, "a policy is a map")
    return [line for name, each in wanted.items() for line in in_lines(name, each, indent, step, section=not path)]


def _map(text: str, node: MarkedMap, before: dict[str, Tree], wanted: dict[str, Tree], place: ValuePlace) -> str:
    if not node.flow and not all(key_is_plain(text, entry) for entry in node.entries):
        raise unwritable(place.path, "its keys are not written as `key: value`")
    if node.flow and not is_bracketed(text, node):
        return _replaced(text, node, wanted, place)
    moved = _moved([name for name in before if name in wanted], [name for name in wanted if name in before])
    if moved is not None:
        return _without_entry(text, node, moved, place)
    new = next((name for name in wanted if name not in before), None)
    if new is not None:
        return _with_entry(text, node, new, wanted, place)
    gone = next((name for name in before if name not in wanted), None)
    if gone is not None:
        return _without_entry(text, node, gone, place)
    name = next(name for name in wanted if not same(before[name], wanted[name]))
    entry = node.entries[node.place_of(name)]
    return rewritten_once(text, entry.value, before[name], wanted[name], _below(text, node, entry, place))


def _moved(before: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return a key that has another place among those that stay: one that puts all right by itself, if there is one."""
    for old, new in zip(before, wanted, strict=True):
        if old != new:
            alone = [name for name in before if name != old] == [name for name in wanted if name != old]
            return old if alone else new
    return None


def _with_entry(text: str, node: MarkedMap, new: str, wanted: dict[str, Tree], place: ValuePlace) -> str:
    there = {entry.name for entry in node.entries}
    above = [name for name in list(wanted)[: list(wanted).index(new)] if name in there]
    behind = node.place_of(above[-1]) + 1 if above else 0
    if node.flow:
        return inserted(text, node, f"{key(new)}: {in_line(wanted[new])}", behind)
    indent, root = column(text, node.start), not place.path
    lines = list(in_lines(new, wanted[new], indent, place.step, section=root))
    if root and behind and len(lines) > 1 and has_empty_lines(text, node):
        lines.insert(0, "")
    return entry_inserted(text, node, lines, behind)


def _without_entry(text: str, node: MarkedMap, name: str, place: ValuePlace) -> str:
    at = node.place_of(name)
    if node.entries[at].value.shared or node.entries[at].key.shared:
        raise unwritable((*place.path, name), "a value in it is repeated elsewhere, or repeats another")
    return without(text, node, at) if node.flow else entry_without(text, node, at)


def _below(text: str, node: MarkedMap, entry: MarkedEntry, place: ValuePlace) -> ValuePlace:
    path, colon = (*place.path, entry.name), text.find(":", entry.key.end, max(entry.value.start, entry.key.end))
    if node.flow:
        return ValuePlace(path, colon + 1 if colon >= 0 else None, flow=True)
    step = place.step
    if not place.path:
        step = _step(text, node)
    return ValuePlace(path, colon_end(text, entry), indent=column(text, entry.key.start), step=step)


def _step(text: str, root: MarkedMap) -> int:
    """Return how far in entries stand below their key in this text."""
    inner = (entry.value for entry in root.entries if isinstance(entry.value, MarkedMap) and not entry.value.flow)
    return next((column(text, value.start) for value in inner), _STEP)


def _list(text: str, node: MarkedSeq, before: list[Tree], wanted: list[Tree], place: ValuePlace) -> str:
    pairs = zip(before, wanted, strict=False)
    first = next((i for i, (old, new) in enumerate(pairs) if not same(old, new)), min(len(before), len(wanted)))
    if len(before) == len(wanted):
        return rewritten_once(text, node.items[first], before[first], wanted[first], _item(text, node, first, place))
    if first == len(before):
        new = in_line(wanted[first])
        return inserted(text, node, new, first) if node.flow else item_appended(text, node, new)
    if same(before[first + 1 :], wanted[first:]):
        if node.items[first].shared:
            raise unwritable((*place.path, str(first)), "a value in it is repeated elsewhere, or repeats another")
        return without(text, node, first) if node.flow else item_without(text, node, first)
    return _replaced(text, node, wanted, place)


def _item(text: str, node: MarkedSeq, at: int, place: ValuePlace) -> ValuePlace:
    path = (*place.path, str(at))
    if node.flow:
        return ValuePlace(path, node.items[at].start, flow=True)
    return replace(place, path=path, behind=dash_end(text, node, at), indent=-1)


def _replaced(text: str, node: MarkedValue, wanted: Tree, place: ValuePlace) -> str:
    if node.shared:
        raise unwritable(place.path, "a value in it is repeated elsewhere, or repeats another")
    if not place.path:
        if not isinstance(wanted, dict) or (wanted and not isinstance(node, MarkedMap)):
            raise unwritable((), "a policy is a map")
        return text[: node.start] + (in_line(wanted) if not wanted or node.flow else "") + text[node.end :]
    if place.flow:
        return _replaced_in_flow(text, node, wanted, place)
    if place.behind is None:
        raise unwritable(place.path, "it has no place of its own")
    if isinstance(wanted, dict) and wanted and place.indent >= 0:
        name, section = place.path[-1], len(place.path) == 1
        lines = list(in_lines(name, wanted, place.indent, place.step, section=section))
        if len(lines) > 1:
            return replaced_by_lines(text, place.behind, node, lines[1:])
    return replaced(text, place.behind, node, in_line(wanted, node.style))


def _replaced_in_flow(text: str, node: MarkedValue, wanted: Tree, place: ValuePlace) -> str:
    written = in_line(wanted, node.style)
    if node.start < node.end:
        return text[: node.start] + written + text[node.end :]
    if place.behind is None:
        return f"{text[: node.start].rstrip(' ')}: {written}{text[node.end :]}"
    return f"{text[: place.behind]} {written}{text[place.behind :].lstrip(' ')}"


# Changes of entries that have lines of their own.


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


# Changes inside of braces and brackets.


def is_bracketed(text: str, node: MarkedMap | MarkedSeq) -> bool:
    """Whether it has brackets of its own: ``[a: 1]`` holds a map that has none."""
    return text[node.start : node.start + 1] in ("{", "[")


def inserted(text: str, node: MarkedMap | MarkedSeq, written: str, place: int) -> str:
    """Return the text with one more part at a place among the others."""
    parts = spans(node)
    if not parts:
        return text[: node.start + 1] + written + text[node.start + 1 :]
    if place == 0:
        start = parts[0][0]
        return f"{text[:start]}{written}, {text[start:]}"
    end = parts[place - 1][1]
    return f"{text[:end]}, {written}{text[end:]}"


def without(text: str, node: MarkedMap | MarkedSeq, place: int) -> str:
    """Return the text without a part, and without one comma."""
    parts = spans(node)
    start, end = parts[place]
    if len(parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if place + 1 < len(parts):
        return text[:start] + text[parts[place + 1][0] :]
    before = parts[place - 1][1]
    keeps_lines = text[before:start].replace(",", "", 1).strip(" ") != ""
    return text[:start].rstrip(" ") + text[end:] if keeps_lines else text[:before] + text[end:]


def spans(node: MarkedMap | MarkedSeq) -> Sequence[Span]:
    """Return where each part begins and ends."""
    if isinstance(node, MarkedMap):
        return [(entry.key.start, entry.end) for entry in node.entries]
    return [(item.start, item.end) for item in node.items]
