"""An operator as JSON: what ``operator.json`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.mining.transactions.operators import (
    CUT_AND_PASTE,
    NONE,
    SELECT_A_SIZE,
    UNIFORM,
    TransactionOperator,
    is_real,
    is_whole,
)

_INSERTING = "uniform_inserting"
"""A family of its own in documents: what does not know of inserted items must not read it as `uniform`."""


def document(operator: TransactionOperator) -> dict[str, Any]:
    """Return what rebuilds the operator, in JSON values only."""
    entries: dict[str, Any] = {"family": operator.family, "alphabet": int(operator.alphabet)}
    if operator.keep is not None:
        entries["keep"] = operator.keep
    if operator.inserted:
        entries |= {"family": _INSERTING, "insert": operator.inserted}
    entries["sizes"] = [_entry(operator, m) for m in operator.sizes]
    return entries


def from_document(read: Any) -> TransactionOperator:
    """Rebuild an operator from its document. Raises ValueError, with no value of it, for anything that is none."""
    entries = read.get("sizes") if isinstance(read, Mapping) else None
    if not isinstance(read, Mapping) or not isinstance(entries, list):
        raise ValueError("this is no document of an operator: an object with a list `sizes` is expected")  # noqa: TRY004 - one error for all that is wrong with a document
    alphabet: Any = read.get("alphabet")
    match read.get("family"):
        case "select_a_size":
            laws = {m: _numbers(law) for m, law in _field(entries, "retained").items()}
            return TransactionOperator.select_a_size(laws, _field(entries, "rho"), alphabet)
        case "cut_and_paste":
            return TransactionOperator.cut_and_paste(_field(entries, "cutoff"), _field(entries, "rho"), alphabet)
        case "uniform" | "uniform_inserting" as family:
            keep: Any = read.get("keep")
            inserted: Any = read.get("insert") if family == _INSERTING else 0
            return TransactionOperator.uniform(_field(entries, "size"), keep, alphabet, inserted)
        case "none":
            return TransactionOperator.none(_field(entries, "size"), alphabet)
    raise ValueError("the document names no known family of operators")


def _entry(operator: TransactionOperator, size: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"size": size}
    if operator.family == SELECT_A_SIZE:
        entry["retained"] = [float(p) for p in operator.retained[size]]
    if operator.family == CUT_AND_PASTE:
        entry["cutoff"] = operator.cutoffs[size]
    if operator.family not in (UNIFORM, NONE):
        entry["rho"] = operator.insertion[size]
    return entry


def _numbers(values: Any) -> list[float]:
    if not isinstance(values, list) or not all(is_real(v) for v in values):
        raise ValueError("a retained law in the document is not a list of numbers")
    return values


def _field(entries: list[Any], name: str) -> dict[int, Any]:
    """Return size -> ``name`` of a document's entries."""
    by_size: dict[int, Any] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or not is_whole(entry.get("size")) or name not in entry:
            raise ValueError(f"an entry of `sizes` lacks `size` or `{name}`")
        if entry["size"] in by_size:
            raise ValueError("a transaction size is given twice")
        by_size[entry["size"]] = entry[name]
    return by_size
