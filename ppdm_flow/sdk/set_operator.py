"""An operator on sets of items, as `operator.json` has it: without libraries for data, so that `check` reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.texts import is_text

SETS = "transactions"
"""The form of an entry in ``operator.json`` that is a :class:`SetOperator`."""
PACKED, SEEDED = "packed", "seeded"
"""The forms of randomized sets: bits of the alphabet, or seeds that expand to them."""
_LARGEST = 256 << 20
"""Bytes of an operator's file."""


@dataclass(frozen=True, slots=True)
class SetOperator:
    """A randomization channel on sets of items: what it does to a set of m items, for each m, in a JSON document.

    ``document`` is what `ppdm_flow.mining.transactions.operators` reads and writes. ``step`` is the step that applies
    it. ``items`` are those that it chooses from, in their order, and ``sets`` the form of what it makes (``packed`` or
    ``seeded``), where a file says so: a client that randomizes its own set needs both. ``by_clients``: they did, before
    anything was read.
    """

    attribute: str
    document: Mapping[str, Any]
    step: str = ""
    items: tuple[str, ...] = ()
    sets: str = ""
    by_clients: bool = False

    def entry(self) -> dict[str, Any]:
        """Return the JSON form of an entry in ``operator.json``, without the items."""
        return {"attribute": self.attribute, "form": SETS, "operator": dict(self.document)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> SetOperator:
        """Read the JSON form. Raises KeyError or ValueError where it is none; the operator itself is not looked at."""
        if document["form"] != SETS or not isinstance(document["operator"], Mapping):
            raise ValueError("an operator of an unknown form")
        items, sets = document.get("items", []), document.get("sets", "")
        if not isinstance(items, list) or not all(isinstance(item, str) and is_text(item) for item in items):
            raise ValueError("an operator whose items are no texts")
        if len(set(items)) < len(items) or sets not in ("", PACKED, SEEDED):
            raise ValueError("an operator that has an item twice, or an unknown form of sets")
        if not is_text(str(document["attribute"])):
            raise ValueError("an operator on an attribute whose name is no text")
        return cls(str(document["attribute"]), document["operator"], items=tuple(items), sets=sets)


def read_set_operator(path: Path, attribute: str | None = None) -> SetOperator:
    """Return the only operator on sets of a file, or that on ``attribute``. Raises DataError."""
    operators = [each for each in _entries(path) if attribute in (None, each.attribute)]
    if len(operators) == 1:
        return operators[0]
    what = "no operator" if not operators else "several operators"
    raise unusable(f"`{path.name}` has {what} on sets" + (f" of `{attribute}`" if attribute else ""))


def _entries(path: Path) -> list[SetOperator]:
    broken = DataError(Diagnostic("PPF736", f"`{path}` does not describe a perturbation operator"))
    try:
        if path.stat().st_size > _LARGEST:
            raise broken
        content = json.loads(read_definition(path).decode("utf-8"))
        entries = content.get("operators", [content])
        return [SetOperator.from_document(each) for each in entries if each.get("form") == SETS]
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise DataError(Diagnostic("PPF701", f"cannot read `{path}`: {reason}")) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise broken from None


def unusable(text: str, advice: str | None = None) -> DataError:
    """Return the error for an operator that clients cannot apply."""
    return DataError(Diagnostic("PPF440", text, help=advice))
