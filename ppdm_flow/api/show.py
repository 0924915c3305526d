"""The policy after inheritance and params, and where each part of it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts import escaped, visible_line
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.floors.strength import fitting
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.redaction import UNSHOWN

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*|-?[0-9]+(\.[0-9]+)?")
_NULLS = frozenset({"null", "Null", "NULL"})


def show(path: Path, sets: Mapping[str, str] = {}, *, origin: bool = False) -> str:
    """Return the resolved policy as YAML; with ``origin``, where each value was set, a line each, and by which floors.

    Raises PolicyError where the policy is invalid.
    """
    loaded = load(path, sets)
    if has_errors(loaded.diagnostics):
        raise PolicyError(loaded.diagnostics, loaded.sources)
    if not origin:
        return shown_text(loaded)
    leaves = _leaves(loaded.tree, (), loaded, _limits(loaded))
    rows = [tuple(map(visible_line, row)) for row in (*_params(loaded), *leaves)]
    widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    return "".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() + "\n" for a, b, c in rows)


def shown_text(loaded: PolicyReading) -> str:
    """Return a resolved policy as YAML, without what came from the environment."""
    return resolved_text(_public(loaded.tree, (), loaded))


def _public(value: Any, path: tuple[str, ...], loaded: PolicyReading) -> Any:
    """Return the tree with a word in place of each text that came from the environment; numbers stay."""
    if isinstance(value, Mapping):
        return {key: _public(item, (*path, str(key)), loaded) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_public(item, (*path, str(place)), loaded) for place, item in enumerate(value)]
    return UNSHOWN if path in loaded.hidden and value in loaded.secrets else value


def resolved_text(tree: Mapping[str, Any]) -> str:
    """Return a tree of text as YAML that reads back as the same tree."""
    return "".join(f"{line}\n" for line in _lines(tree, ""))


def _lines(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_scalar(key)}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{_scalar(key)}: {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return "null" if value is None else _scalar(value)


def _scalar(text: str) -> str:
    """Return the text plain where it can only be itself, else in double quotes: JSON's escapes are YAML's too.

    A resolved text has no references to params left: what looks like one is escaped.
    """
    if _PLAIN.fullmatch(text) and text not in _NULLS:
        return text
    return escaped(json.dumps(text.replace("${", "$${"), ensure_ascii=False))


def _params(loaded: PolicyReading) -> Iterator[tuple[str, str, str]]:
    """Yield each param with the place of its value and what it is for."""
    for param in loaded.params:
        value = f" = {', '.join(param.texts)}" if param.texts else ""
        where = _place(param.place) or param.note.removeprefix("its value comes from ")
        yield f"params.{param.name}{value}", where, " ".join(param.help.split())


def _leaves(
    value: Any, path: tuple[str, ...], loaded: PolicyReading, limits: Mapping[PolicyPath, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield each value's path, place, and the floors about it; of a floor itself, what it demands."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)), loaded, limits)
        return
    limit = str(value) if path[0] == "floors" else limits.get(path, "")
    yield ".".join(path), _place(loaded.places.value(*path)), limit


def _limits(loaded: PolicyReading) -> dict[PolicyPath, str]:
    """Return by path which floors are about a value."""
    words: dict[PolicyPath, list[str]] = {}
    for floor in loaded.floors:
        for path in dict.fromkeys(place.path for place in fitting(loaded.tree, floor.path)):
            words.setdefault(path, []).append(f"must {floor.words} ({_place(floor.span)})")
    return {path: "; ".join(each) for path, each in words.items()}


def _place(span: Span | None) -> str:
    return f"{span.file}:{span.line}" if span else ""
