"""The JSON Schema (draft-07) of a policy file, for editors and for CI without this package.

An editor's YAML gives numbers and booleans where this reader takes text, so each field allows both, and
``${params.name}`` wherever a single value stands. A file with ``extends:`` may leave out what it inherits and write
``null`` to delete, so it has definitions of its own, marked ``.child``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml
from pydantic import BaseModel

from ppdm_flow.core.model import NAME
from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, read
from ppdm_flow.policy.language.kind_pages import entry_of
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, spec_of, third_parties
from ppdm_flow.policy.language.models import Privacy
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    FreeShape,
    Key,
    ListOf,
    MapOf,
    Number,
    Shape,
    SupportShape,
    Text,
    policy_model,
    shape_of,
    whole_model,
)
from ppdm_flow.sdk.registry import OWN

IDENTITY = "https://ppdm-flow.example/schemas/policy.v1.json"

_DRAFT = "http://json-schema.org/draft-07/schema#"
_Schema = dict[str, Any]

_PLACEHOLDER = r"\$\{params\.[A-Za-z][A-Za-z0-9_]*\}"
_SCALAR = ["string", "number", "boolean"]
_NUMERIC = r"^\s*[-+]?([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
_SHARE = rf"{_NUMERIC}|^\s*([0-9]{{1,2}}(\.[0-9]+)?|100(\.0+)?)\s*%\s*$"
_WHOLE = r"^\s*[-+]?[0-9][0-9_]*(\.0*)?\s*$"
Described = tuple[str, Any]


def schema() -> _Schema:
    """Return the schema of a policy file, version 1, with the built-in kinds of requirements."""
    return {"$schema": _DRAFT, "$id": IDENTITY, **_schema(policy_model(), built_in())}


def installed_schema() -> _Schema:
    """Return the schema with the kinds of other packages that are installed as well, for editors.

    Raises PluginError where one of them cannot be loaded, or has no page that can be read.
    """
    others = [spec_of(name) for name in sorted(third_parties())]
    return {"$schema": _DRAFT, **_schema(whole_model(third_parties()), (*built_in(), *others))}


def _schema(model: type[BaseModel], kinds: Iterable[RequirementSpec]) -> _Schema:
    entries = {f"{Privacy.__name__}.{spec.name}": entry_of(spec) for spec in kinds if spec.written}
    described = {**descriptions(POLICY), **entries}
    standalone, child = Writer(described), Writer(described, child=True)
    policy = shape_of(model)
    standalone.reference(policy)
    child.reference(policy)
    return {
        "title": "ppdm-flow release policy",
        "description": "What the columns are, what must hold before the data may leave, and how to get there.",
        "type": "object",
        "if": {"required": ["extends"]},
        "then": {"$ref": "#/definitions/Policy.child"},
        "else": {"$ref": "#/definitions/Policy"},
        "definitions": {
            "placeholder": {"type": "string", "pattern": _PLACEHOLDER, "description": "The value of a param."},
            "extends": _extends(),
            **standalone.definitions,
            **child.definitions,
        },
    }


_EITHER = {"attributes": "tables"}
"""A required key, and what a policy may have in its place."""


class Writer:
    """Writes definitions for whole files, or for policies that inherit; ``described`` has a sentence on each key."""

    def __init__(self, described: Mapping[str, Described], *, child: bool = False) -> None:
        self.described = described
        self.child = child
        self.definitions: dict[str, _Schema] = {}
        self._models: dict[str, type[BaseModel]] = {}

    def reference(self, shape: FixedKeys) -> _Schema:
        """Return a reference to the definition of a map with fixed keys."""
        name = self._name(shape.model) + (".child" if self.child else "")
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._keys(shape)
        return {"$ref": f"#/definitions/{name}"}

    def document(self, model: type[BaseModel], identity: str, title: str, description: str) -> _Schema:
        """Return the schema of a file without params."""
        top = self.reference(shape_of(model))
        none = {"not": {}, "description": "Such a file has no params: nothing fits."}
        return {
            "$schema": _DRAFT,
            "$id": identity,
            "title": title,
            "description": description,
            "type": "object",
            "allOf": [top],
            "definitions": {"placeholder": none, **self.definitions},
        }

    def _name(self, model: type[BaseModel]) -> str:
        """Return the name of a model's definition; where another has it, with the model's module before it."""
        name = model.__name__
        return name if self._models.setdefault(name, model) is model else f"{model.__module__}.{name}"

    def _keys(self, shape: FixedKeys) -> _Schema:
        required = [k.name for k in shape.keys.values() if k.required]
        written: _Schema = {
            "description": (shape.model.__doc__ or "").strip(),
            "type": "object",
            "properties": {k.name: self._property(shape, k) for k in shape.keys.values()},
            "additionalProperties": False,
        }
        if required and not self.child:
            written["required"] = [name for name in required if name not in _EITHER]
            if not _EITHER.keys().isdisjoint(required):
                written["anyOf"] = [{"required": [key]} for pair in _EITHER.items() for key in pair]
        return written

    def _property(self, owner: FixedKeys, key: Key) -> _Schema:
        description, example = self._described(owner, key)
        about: _Schema = {"description": description.replace("`", ""), "markdownDescription": description}
        if example is not None:
            about["examples"] = [example]
        if isinstance(key.default, (str, bool)) and key.default != "":
            about["default"] = str(key.default).lower() if isinstance(key.default, bool) else str(key.default)
        value = self.value(key.shape)
        if key.name == "extends":
            value = {"$ref": "#/definitions/extends"}
        if self.child:
            value = {"anyOf": [value, {"type": "null"}]}
        return {**about, **({"allOf": [value]} if "$ref" in value else value)}

    def _described(self, owner: FixedKeys, key: Key) -> Described:
        """Return what a field says of itself, or what the pages say of it: of a kind of requirement that is its own."""
        if key.description:
            return key.description, key.example
        own = not owner.model.__module__.startswith(f"{OWN}.")
        name = f"{owner.model.__name__}.{key.name}"
        return self.described.get(name, ("", None)) if own else self.described[name]

    def value(self, shape: Shape) -> _Schema:
        """Return what a value of this shape is."""
        if isinstance(shape, Text):
            return _text(shape)
        if isinstance(shape, Number):
            return _number(shape)
        if isinstance(shape, FixedKeys):
            written = self._one_or_named(shape) if shape.named else self.reference(shape)
            return {"anyOf": [{"enum": [shape.instead]}, written]} if shape.instead else written
        if isinstance(shape, SupportShape):
            return self._amount(shape)
        if isinstance(shape, FreeShape):
            return {"type": "object"}
        return self._list(shape) if isinstance(shape, ListOf) else self._map(shape)

    def _one_or_named(self, shape: FixedKeys) -> _Schema:
        """One entry, or a list of several, each with a name."""
        one = self.reference(shape)
        name = f"{shape.model.__name__}.named{'.child' if self.child else ''}"
        if name not in self.definitions:
            entry = self._keys(shape)
            text = "What this entry is called, in figures and reports."
            called = {"type": "string", "pattern": NAME, "examples": ["public"]}
            called |= {"description": text, "markdownDescription": text}
            required = ["name", *entry.get("required", ())]
            self.definitions[name] = {
                **entry,
                "properties": {"name": called, **entry["properties"]},
                "required": required,
            }
        return {"anyOf": [one, {"type": "array", "minItems": 1, "items": {"$ref": f"#/definitions/{name}"}}]}

    def _amount(self, shape: SupportShape) -> _Schema:
        """Exactly one of the two keys, or a bare number; an heir may also take back its parent's with ``null``."""
        keys = {"count": _number(shape.count), "ratio": _number(shape.ratio)}
        written: _Schema = {"type": "object", "additionalProperties": False, "minProperties": 1}
        if self.child:
            written["properties"] = {name: {"anyOf": [value, {"type": "null"}]} for name, value in keys.items()}
        else:
            written |= {"properties": keys, "maxProperties": 1}
        return {"anyOf": [*keys.values(), written]}

    def _list(self, shape: ListOf) -> _Schema:
        written: _Schema = {"type": "array", "items": self.value(shape.item)}
        if shape.least:
            written["minItems"] = shape.least
        if shape.single:
            return {"anyOf": [self.value(shape.item), written]}
        return {"anyOf": [written, {"$ref": "#/definitions/placeholder"}]}

    def _map(self, shape: MapOf) -> _Schema:
        value = self.value(shape.value)
        written: _Schema = {
            "type": "object",
            "additionalProperties": {"anyOf": [value, {"type": "null"}]} if self.child else value,
        }
        if shape.key.pattern:
            written["propertyNames"] = {"anyOf": [{"pattern": shape.key.pattern}, {"pattern": _PLACEHOLDER}]}
        if shape.least and not self.child:
            written["minProperties"] = shape.least
        return written if shape.instead is None else {"anyOf": [written, self.reference(shape.instead)]}


def _text(shape: Text) -> _Schema:
    if shape.choices:
        return {"anyOf": [{"enum": _spellings(shape.choices)}, {"$ref": "#/definitions/placeholder"}]}
    if shape.pattern:
        named = {"type": "string", "pattern": shape.pattern}
        return {"anyOf": [named, {"$ref": "#/definitions/placeholder"}]}
    return {"type": _SCALAR}


def _spellings(choices: tuple[str, ...]) -> list[Any]:
    """The choices, and what an editor's YAML makes of them unquoted."""
    if choices == ("true", "false"):
        return [True, False, "true", "false"]
    return [*(int(c) for c in choices if c.isdecimal()), *choices]


def _number(shape: Number) -> _Schema:
    names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    ends = {word: getattr(shape, name) for name, word in names.items() if getattr(shape, name) is not None}
    written = {"type": "integer" if shape.integer else "number", **ends}
    text = {"type": "string", "pattern": _WHOLE if shape.integer else _SHARE if shape.share else _NUMERIC}
    return {"anyOf": [written, text, {"$ref": "#/definitions/placeholder"}]}


def _extends() -> _Schema:
    """One template, or several; each by its name alone, or with values for its params."""
    name = {"type": "string", "minLength": 1}
    return {"anyOf": [name, {"type": "array", "items": {"anyOf": [name, {"$ref": "#/definitions/Extends"}]}}]}


# A sentence and an example for every key of the language, for editors; `explain` shows the same pages.


POLICY = "keys/policy"
"""The page on the keys of a policy."""
TESTS = "keys/tests"
"""The page on the keys of a test file."""
_KEY = re.compile(r"(?P<text>.+)\n\n```yaml\n(?P<example>.+\n)```", re.DOTALL)
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@cache
def descriptions(name: str) -> Mapping[str, Described]:
    """Return what a page says of each key, by ``Model.key``: a sentence, and an example whose values are all text."""
    return described(read(name))


def described(page: MarkdownPage) -> Mapping[str, Described]:
    """Return the same of a page that was read. Raises MalformedPageError."""
    return {full: _described(page.name, full, section) for full, section in page.sections.items() if full}


def _described(name: str, full: str, section: str) -> Described:
    parts, key = _KEY.fullmatch(section), full.rpartition(".")[2]
    if parts is None:
        raise MalformedPageError(name, f"`{full}` needs a sentence and an example in YAML")
    example = yaml.load(parts["example"], Loader=_Loader)  # noqa: S506  # it makes nothing but texts, lists and maps
    if not isinstance(example, dict) or list(example) != [key]:
        raise MalformedPageError(name, f"the example of `{full}` must say what `{key}` is, and nothing else")
    return parts["text"], example[key]
