"""The JSON Schema (draft-07) of a test file, for editors and for CI without this package."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language.descriptions import TESTS, descriptions
from ppdm_flow.policy.language.schemas import Writer
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, ListOf, Shape
from ppdm_flow.policy.test.models import CaseFile, PolicyTestTable
from ppdm_flow.policy.test.shorthand import SHORT
from ppdm_flow.policy.text.nodes import Seq

IDENTITY = "https://ppdm-flow.example/schemas/test.v1.json"

_Schema = dict[str, Any]
_CELL = {"type": ["string", "number", "boolean", "null"]}
_ROW = {"anyOf": [{"type": "object", "additionalProperties": _CELL}, {"type": "array", "items": _CELL}]}


def schema() -> _Schema:
    """Return the schema of a test file."""
    what = "Small tables, and what a release policy has to make of them."
    return _CasesWriter(descriptions(TESTS)).document(CaseFile, IDENTITY, "ppdm-flow policy tests", what)


class _CasesWriter(Writer):
    """Allows the short form of each value beside its map."""

    def value(self, shape: Shape) -> _Schema:
        if isinstance(shape, FreeShape):
            return _ROW
        if not isinstance(shape, FixedKeys) or shape.model not in SHORT:
            return super().value(shape)
        short = [self._short(shape, kind is Seq, key) for kind, key in SHORT[shape.model].items()]
        return {"anyOf": [*short, self.reference(shape)]}

    def _short(self, shape: FixedKeys, listed: bool, key: str) -> _Schema:
        inner = shape.keys[key].shape
        if isinstance(inner, ListOf) and not listed:
            inner = inner.item
        return {"type": "string"} if shape.model is PolicyTestTable and not listed else super().value(inner)
