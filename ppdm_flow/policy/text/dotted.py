"""The paths of floors as texts: names between dots, in double quotes where a name has a dot itself."""

from __future__ import annotations

import re

from ppdm_flow.policy.text.nodes import PolicyPath

_PART = re.compile(r'"([^"]*)"|([^."]+)')
_SPECIAL = re.compile(r"[.\"]|\A\Z")


def split(text: str) -> PolicyPath:
    """Return the names of a path: ``attributes."home.town".role`` has three."""
    parts: list[str] = []
    position = 0
    while found := _PART.match(text, position):
        parts.append(found[2] if found[1] is None else found[1])
        position = found.end() + 1
        if text[found.end() : position] != ".":
            break
    return tuple(parts) if position > len(text) else tuple(text.split("."))


def written(path: PolicyPath) -> str:
    """Return a path as a policy writes it."""
    return ".".join(f'"{part}"' if _SPECIAL.search(part) else part for part in path)
