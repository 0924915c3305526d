"""The inputs of the form: each shows and changes the value at one path of a policy's text."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from enum import StrEnum

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.policy.edit.changes import REMOVED, RemovedValue, Tree, Value, in_line, tree_of
from ppdm_flow.policy.text.nodes import PolicyPath

_WORD = re.compile(r"[^,\s](?:[^,]*[^,\s])?")
_EDGES = re.compile(r"^[\s]|[\s]$")


class InputKind(StrEnum):
    """How a value is shown and read."""

    TEXT = "text"
    CHOICE = "choice"
    WORDS = "words"
    YAML = "yaml"


@dataclass(frozen=True, slots=True)
class Input:
    """One input. ``name`` is that of its field, ``label`` the key in the policy, ``about`` a sentence on it."""

    path: PolicyPath
    kind: InputKind
    value: str
    about: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False

    @property
    def name(self) -> str:
        """The name of the field: how it is read, and the path."""
        return f"{self.kind}:{json.dumps(self.path, ensure_ascii=False)}"

    @property
    def label(self) -> str:
        """The key."""
        return self.path[-1]

    @property
    def id(self) -> str:
        """A word for the page that stays the same."""
        return identity(self.path)


class UnreadableFieldError(Exception):
    """What stands in the input of this path is no YAML."""

    def __init__(self, path: PolicyPath) -> None:
        self.path = path
        super().__init__()


def identity(path: PolicyPath) -> str:
    """Return an id of an element for a path."""
    return "at-" + hashlib.sha256("\0".join(path).encode(errors="replace")).hexdigest()[:12]


def field_path(name: str) -> tuple[InputKind, PolicyPath] | None:
    """Return what the name of a field says; None where it is not one of an input."""
    kind, _, rest = name.partition(":")
    path = path_in(rest)
    return (InputKind(kind), path) if kind in set(InputKind) and path else None


def path_in(text: str) -> PolicyPath:
    """Return the path that a form brought as JSON; an empty one where it is none."""
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    fits = isinstance(parts, list) and all(isinstance(part, str) and part for part in parts)
    return tuple(parts) if fits else ()


def shown(kind: InputKind, value: Tree) -> str:
    """Return how an input of this kind shows what the text says."""
    if value is None:
        return ""
    if kind is InputKind.WORDS and isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if kind is InputKind.YAML or not isinstance(value, str):
        return in_line(value)
    return value


def fits_words(value: Tree) -> bool:
    """Whether a list can be written as words with commas between them."""
    items = value if isinstance(value, list) else []
    return all(isinstance(each, str) and _WORD.fullmatch(each) and not _EDGES.search(each) for each in items)


def fits_text(value: Tree) -> bool:
    """Whether a value can be written in an input of one line."""
    return value is None or (isinstance(value, str) and "\n" not in value and "\r" not in value)


def read(kind: InputKind, text: str, path: PolicyPath) -> Value | RemovedValue:
    """Return the value that somebody has put into an input; nothing in it takes the key away.

    Raises UnreadableFieldError.
    """
    if not text.strip():
        return REMOVED
    if kind is InputKind.WORDS:
        return [word for word in (part.strip() for part in text.split(",")) if word]
    if kind is not InputKind.YAML:
        return text
    try:
        tree = tree_of(f"value: {text}")
    except PpdmError:
        raise UnreadableFieldError(path) from None
    if not isinstance(tree, dict) or list(tree) != ["value"]:
        raise UnreadableFieldError(path)
    value: Value = tree["value"]
    return value
