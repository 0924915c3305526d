"""The inputs of the form: each shows and changes the value at one path of a policy's text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import BaseModel

from ppdm_flow.api.explain.cards import key_expects
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.policy.edit.changes import REMOVED, RemovedValue, Tree, Value, in_line, tree_of
from ppdm_flow.policy.edit.changes import at as value_at
from ppdm_flow.policy.language.schemas import POLICY, descriptions
from ppdm_flow.policy.language.shape import FixedKeys, Key, ListOf, MapOf, Number, Shape, Text, as_written, at, shape_of
from ppdm_flow.policy.text.nodes import PolicyPath
from ppdm_flow.sdk import registry

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


# The entries of a policy as groups of inputs, by what the language and the plugins say of their keys.


@dataclass(frozen=True, slots=True)
class Group:
    """An entry: its path, what it means, its inputs, those that are hardly used, and the entries below it."""

    path: PolicyPath
    about: str = ""
    term: str = ""
    inputs: tuple[Input, ...] = ()
    more: tuple[Input, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def name(self) -> str:
        """The key."""
        return self.path[-1]

    @property
    def id(self) -> str:
        """A word for the page that stays the same."""
        return identity(self.path)


def entry(tree: Tree, path: PolicyPath, about: str = "", term: str = "") -> Group:
    """Return the group of the entry at a path."""
    return replace(_group(tree, path, as_written(at(path), value_at(tree, path))), about=about, term=term)


def step(tree: Tree, path: PolicyPath) -> Group:
    """Return the group of a step, with the parameters of its plugin."""
    use = value_at(tree, (*path, "use"))
    name = use if isinstance(use, str) else ""
    about, params = plugin(name)
    group = _group(tree, path, at(path), skip=("use", "with"))
    below = (*path, "with")
    given = (Input(below, InputKind.YAML, shown(InputKind.YAML, value_at(tree, below))),)
    taken = given if params is None else tuple(_inputs(tree, below, shape_of(params)))
    chosen = Input((*path, "use"), InputKind.CHOICE, name, choices=plugins(), required=True)
    return replace(group, about=about, term=name, inputs=(chosen, *taken), more=(*group.inputs, *group.more))


def plugins() -> tuple[str, ...]:
    """Return the names of all steps that are installed."""
    return tuple(each.name for each in registry.listed("anonymizers"))


def plugin(name: str) -> tuple[str, type[BaseModel] | None]:
    """Return a sentence on a step, and what it takes; nothing where there is none of this name."""
    if name not in plugins():
        return "", None
    try:
        spec = registry.load("anonymizers", name)
    except PpdmError:  # the check of the policy says why
        return "", None
    return spec.info.summary, spec.params


def _group(tree: Tree, path: PolicyPath, shape: Shape | None, skip: tuple[str, ...] = ()) -> Group:
    value = value_at(tree, path)
    if isinstance(shape, MapOf) and isinstance(value, dict) and isinstance(shape.value, FixedKeys):
        return Group(path, groups=tuple(_group(tree, (*path, name), shape.value) for name in value))
    if not isinstance(shape, FixedKeys) or not isinstance(value, dict | None):
        return Group(path, inputs=(Input(path, InputKind.YAML, shown(InputKind.YAML, value)),))
    every = [each for each in _inputs(tree, path, shape) if each.label not in skip]
    first = tuple(each for each in every if each.required or each.value)
    return Group(path, inputs=first, more=tuple(each for each in every if each not in first))


def _inputs(tree: Tree, path: PolicyPath, shape: FixedKeys) -> Iterator[Input]:
    """Yield an input for each key, and one for each that the text has and the language does not know."""
    for key in shape.keys.values():
        below = (*path, key.name)
        yield _input(below, key, value_at(tree, below), _about(shape, key))
    value = value_at(tree, path)
    for name in value if isinstance(value, dict) else ():
        if name not in shape.keys:
            below = (*path, name)
            yield Input(below, InputKind.YAML, shown(InputKind.YAML, value_at(tree, below)))


def _input(path: PolicyPath, key: Key, value: Tree, about: str) -> Input:
    kind, choices = _kind(key.shape, value)
    return Input(path, kind, shown(kind, value), about, choices, key.required)


def _kind(shape: Shape, value: Tree) -> tuple[InputKind, tuple[str, ...]]:
    if isinstance(shape, Text) and shape.choices and (value is None or value in shape.choices):
        return InputKind.CHOICE, shape.choices
    if isinstance(shape, Text | Number) and fits_text(value):
        return InputKind.TEXT, ()
    plain = isinstance(shape, ListOf) and isinstance(shape.item, Text | Number)
    if plain and isinstance(value, list | None) and fits_words(value):
        return InputKind.WORDS, ()
    return InputKind.YAML, ()


def _about(shape: FixedKeys, key: Key) -> str:
    known: Mapping[str, tuple[str, object]] = descriptions(POLICY)
    description = key.description or known.get(f"{shape.model.__name__}.{key.name}", ("", None))[0]
    if not description and isinstance(key.shape, MapOf) and key.default is None and not key.required:
        return catalogue()("form.map_help")
    return description or key_expects(key)
