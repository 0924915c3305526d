"""The description of a template: its words, its params and its floors, its own and inherited ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.files import parents_of
from ppdm_flow.policy.inheritance.references import FoundTemplate, NotFoundError, find
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import forbidden, read

_MODELINE = re.compile(r"#\s*(yaml-language-server:|\$schema:)")
_REMARK = re.compile(r"\s#\s+(\S.*)$")


@dataclass(frozen=True, slots=True)
class ParamWords:
    """One param as its template declares it. ``limits`` are its choices, or its bounds; ``home`` declares it."""

    name: str
    type: str
    default: str | None
    limits: str
    help: str
    home: str


@dataclass(frozen=True, slots=True)
class FloorWords:
    """One floor, with what the template says about it behind it, and the template that it stands in."""

    place: str
    bound: str
    why: str
    home: str


@dataclass(frozen=True, slots=True)
class TemplateDescription:
    """A template as its file says it.

    ``words`` is the block of comments that it begins with, ``body`` the rest; ``parents`` are what it extends, and
    their params and floors are among its own.
    """

    reference: str
    description: str
    words: str
    body: str
    params: tuple[ParamWords, ...]
    floors: tuple[FloorWords, ...]
    parents: tuple[str, ...]


def described(reference: str, home: str = ".") -> TemplateDescription:
    """Read a template.

    Raises
    ------
    NotFoundError
        Where there is none.
    UsageError
        Where its file cannot be read (PPF100), or is no YAML.
    """
    return _described(find(reference, home), frozenset())


def _described(template: FoundTemplate, below: frozenset[str]) -> TemplateDescription:
    text = read(template.path, template.shown)
    root = _tree(text, template.shown)
    head, body = _parted(text)
    parents = tuple(p.template.text or "" for p in parents_of(root))
    above = list(_above(parents, template, below | {template.identity}))
    params = {p.name: p for each in above for p in each.params}
    params |= {p.name: p for p in _params(root, template.shown, params)}
    floors = [f for each in above for f in each.floors]
    floors += _floors(root, text.splitlines(), template.shown)
    description = _text(root.get("description")) or ""
    return TemplateDescription(template.shown, description, head, body, tuple(params.values()), tuple(floors), parents)


def _tree(text: str, shown: str) -> Map:
    try:
        fault = forbidden(text, shown)
        root = None if fault else parse(text, shown)[0]
    except UnreadableError as error:
        raise UsageError(error.diagnostic) from None
    if fault is not None:
        raise UsageError(fault)
    return root if isinstance(root, Map) else Map({}, Span(shown, 1, 1, 1, 1))


def _above(parents: tuple[str, ...], template: FoundTemplate, below: frozenset[str]) -> Iterator[TemplateDescription]:
    """What a template extends, as far as it can be read without values for params."""
    for reference in parents:
        try:
            parent = find(reference, str(template.path.parent))
        except NotFoundError:
            continue
        if parent.identity not in below:
            yield _described(parent, below)


def _parted(text: str) -> tuple[str, str]:
    """The comments that a file begins with, as plain text, and what comes after them."""
    lines = text.splitlines()
    length = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    words = [line[1:].removeprefix(" ") for line in lines[:length] if not _MODELINE.match(line)]
    return "\n".join(words).strip(), "\n".join(lines[length:]).strip()


def _params(root: Map, home: str, above: Mapping[str, ParamWords]) -> Iterator[ParamWords]:
    """The params that a file declares; what it does not say of an inherited one stays as it is."""
    node = root.get("params")
    for name, entry in node.entries.items() if isinstance(node, Map) else ():
        declared = entry.node if isinstance(entry.node, Map) else Map({}, entry.key_span)
        said = {
            "type": _text(declared.get("type")),
            "default": _default(declared.get("default")),
            "limits": _limits(declared) or None,
            "help": _text(declared.get("help")),
        }
        base = above.get(name, ParamWords(name, "text", None, "", "", home))
        yield replace(base, home=home, **{key: text for key, text in said.items() if text is not None})


def _default(node: Node | None) -> str | None:
    return f"[{', '.join(_items(node))}]" if isinstance(node, Seq) else _text(node)


def _limits(declared: Map) -> str:
    choices = declared.get("choices")
    if isinstance(choices, Seq):
        return "one of " + ", ".join(f"`{c}`" for c in _items(choices))
    ends = (("from", _text(declared.get("min"))), ("to", _text(declared.get("max"))))
    return " ".join(f"{word} {end}" for word, end in ends if end is not None)


def _floors(root: Map, lines: list[str], home: str) -> Iterator[FloorWords]:
    node = root.get("floors")
    for place, entry in node.entries.items() if isinstance(node, Map) else ():
        bound = _text(entry.node)
        remark = _REMARK.search(lines[entry.key_span.line - 1])
        yield FloorWords(place, bound or "", remark[1] if remark else "", home)


def _items(node: Seq) -> list[str]:
    return [item.text for item in node.items if isinstance(item, Scalar) and item.text is not None]


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Scalar) else None
