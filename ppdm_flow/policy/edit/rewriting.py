"""One edit of a text towards what it is to say: the first difference is found, and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ppdm_flow.policy.edit import block, flow
from ppdm_flow.policy.edit.changes import Tree
from ppdm_flow.policy.edit.lines import column, line_break, line_start
from ppdm_flow.policy.edit.marked import MarkedEntry, MarkedMap, MarkedSeq, MarkedValue
from ppdm_flow.policy.edit.tree import same, unwritable
from ppdm_flow.policy.edit.writing import in_line, in_lines, key
from ppdm_flow.policy.text.nodes import PolicyPath

_STEP = 2


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a value stands: its path, where its key's colon or its dash ends, and how far in its key is.

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
    if not node.flow and not all(block.key_is_plain(text, entry) for entry in node.entries):
        raise unwritable(place.path, "its keys are not written as `key: value`")
    if node.flow and not flow.is_bracketed(text, node):
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
        return flow.inserted(text, node, f"{key(new)}: {in_line(wanted[new])}", behind)
    indent, root = column(text, node.start), not place.path
    lines = list(in_lines(new, wanted[new], indent, place.step, section=root))
    if root and behind and len(lines) > 1 and block.has_empty_lines(text, node):
        lines.insert(0, "")
    return block.entry_inserted(text, node, lines, behind)


def _without_entry(text: str, node: MarkedMap, name: str, place: ValuePlace) -> str:
    at = node.place_of(name)
    if node.entries[at].value.shared or node.entries[at].key.shared:
        raise unwritable((*place.path, name), "a value in it is repeated elsewhere, or repeats another")
    return flow.without(text, node, at) if node.flow else block.entry_without(text, node, at)


def _below(text: str, node: MarkedMap, entry: MarkedEntry, place: ValuePlace) -> ValuePlace:
    path, colon = (*place.path, entry.name), text.find(":", entry.key.end, max(entry.value.start, entry.key.end))
    if node.flow:
        return ValuePlace(path, colon + 1 if colon >= 0 else None, flow=True)
    step = place.step
    if not place.path:
        step = _step(text, node)
    return ValuePlace(path, block.colon_end(text, entry), indent=column(text, entry.key.start), step=step)


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
        return flow.inserted(text, node, new, first) if node.flow else block.item_appended(text, node, new)
    if same(before[first + 1 :], wanted[first:]):
        if node.items[first].shared:
            raise unwritable((*place.path, str(first)), "a value in it is repeated elsewhere, or repeats another")
        return flow.without(text, node, first) if node.flow else block.item_without(text, node, first)
    return _replaced(text, node, wanted, place)


def _item(text: str, node: MarkedSeq, at: int, place: ValuePlace) -> ValuePlace:
    path = (*place.path, str(at))
    if node.flow:
        return ValuePlace(path, node.items[at].start, flow=True)
    return replace(place, path=path, behind=block.dash_end(text, node, at), indent=-1)


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
            return block.replaced_by_lines(text, place.behind, node, lines[1:])
    return block.replaced(text, place.behind, node, in_line(wanted, node.style))


def _replaced_in_flow(text: str, node: MarkedValue, wanted: Tree, place: ValuePlace) -> str:
    written = in_line(wanted, node.style)
    if node.start < node.end:
        return text[: node.start] + written + text[node.end :]
    if place.behind is None:
        return f"{text[: node.start].rstrip(' ')}: {written}{text[node.end :]}"
    return f"{text[: place.behind]} {written}{text[place.behind :].lstrip(' ')}"
