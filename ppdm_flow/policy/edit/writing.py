"""Values as YAML: in one line, or as a block of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.policy.edit.changes import Tree
from ppdm_flow.policy.text.placeholder import PLACEHOLDER
from ppdm_flow.policy.text.quoting import plain_or_quoted, quoted

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)+")
_SWITCH = frozenset({"true", "false"})
_WIDTH = 110


def scalar(text: str | None, style: str = "") -> str:
    """Return a text as YAML, between the quotes that ``style`` says where it can stand there.

    Numbers, switches, paths and references to params are plain.
    """
    if text is None:
        return "null"
    if style == "'" and text.isprintable() and "'" not in text:
        return f"'{text}'"
    if style == '"':
        return quoted(text)
    plain = _NUMBER.fullmatch(text) or _PATH.fullmatch(text) or PLACEHOLDER.fullmatch(text) or text in _SWITCH
    return text if plain else plain_or_quoted(text)


def in_line(value: Tree, style: str = "") -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)}: {in_line(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(in_line(each) for each in value) + "]"
    return scalar(value, style)


def key(name: str) -> str:
    """Return a key as YAML."""
    return plain_or_quoted(name)


def in_lines(name: str, value: Tree, indent: int, step: int, *, section: bool = False) -> Iterator[str]:
    """Yield an entry of a block: in one line where that fits, each entry of a section in a line of its own."""
    line = f"{' ' * indent}{key(name)}: {in_line(value)}"
    if isinstance(value, dict) and value and (section or len(line) > _WIDTH):
        yield f"{' ' * indent}{key(name)}:"
        for below, each in value.items():
            yield from in_lines(below, each, indent + step, step)
    else:
        yield line
