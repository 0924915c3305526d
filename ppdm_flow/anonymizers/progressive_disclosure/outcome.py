"""The outcome of the search by attribute, and the transform that applies it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem, Tree
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.column import MISSING, SUPPRESSED, Column
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class Outcome:
    """``values`` that are written, each as its ``label``; all others are suppressed.

    ``missing_shown``: whether missing cells stay missing. ``disclosed``, ``coarse`` and ``hidden`` count the values
    that keep their name, that are generalized and that are suppressed, the missing one included; ``cells`` and
    ``coarse_cells`` the rows whose cell is suppressed, and generalized. ``suppressed``: the values that are, with
    the rows that have them; whether a report may name them is for the reader to ask.
    """

    attribute: str
    values: tuple[str, ...]
    labels: tuple[str, ...]
    missing_shown: bool
    disclosed: int
    coarse: int
    hidden: int
    cells: int
    coarse_cells: int
    suppressed: tuple[tuple[str, int], ...] = ()


def outcomes(problem: Problem, disclosures: Iterable[Disclosure], nulls: Nulls) -> tuple[Outcome, ...]:
    """Return one outcome an attribute, in the problem's order. ``suppressed`` names every suppressed value."""
    shown = [np.zeros(len(a.tree), dtype=np.bool_) for a in problem.attributes]
    for disclosure in disclosures:
        shown[disclosure.attribute][disclosure.node] = True
    return tuple(_outcome(problem, place, mask, nulls) for place, mask in enumerate(shown))


def _outcome(problem: Problem, place: int, shown: npt.NDArray[np.bool_], nulls: Nulls) -> Outcome:
    attribute = problem.attributes[place]
    tree = attribute.tree
    at = visible(tree, shown)[tree.leaf]  # the node that each value is shown as
    rows = np.bincount(attribute.codes + 1, weights=problem.weights, minlength=len(tree.leaf) + 1).astype(np.int64)
    stuck, rows = int(rows[0]), rows[1:]
    exact, top = at == tree.leaf, at < 0
    names = [tree.labels[n] for n in tree.leaf.tolist()]
    kept = [(v, tree.labels[n] or "") for v, n in zip(names, at.tolist(), strict=True) if v is not None and n >= 0]
    missing = [bool(not hidden) for v, hidden in zip(names, top.tolist(), strict=True) if v is None]
    hidden = [(v, n) for v, n, gone in zip(names, rows.tolist(), top.tolist(), strict=True) if gone and v is not None]
    return Outcome(
        attribute.name,
        values=tuple(v for v, _ in kept),
        labels=tuple(label for _, label in kept),
        missing_shown=missing[0] if missing else nulls is Nulls.OWN_CATEGORY,
        disclosed=int(exact.sum()),
        coarse=int((~exact & ~top).sum()),
        hidden=int(top.sum()),
        cells=stuck + int(rows[top].sum()),
        coarse_cells=int(rows[~exact & ~top].sum()),
        suppressed=tuple(hidden),
    )


def visible(tree: Tree, shown: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the nearest disclosed node at or above each node, -1 for ``⊥``. Parents stand before their children."""
    if not tree.inner.any():
        return np.where(shown, np.arange(len(tree)), -1)
    shown_at = np.full(len(tree), -1, dtype=np.int64)
    for node, (visible, parent) in enumerate(zip(shown.tolist(), tree.parent.tolist(), strict=True)):
        shown_at[node] = node if visible else shown_at[parent] if parent >= 0 else -1
    return shown_at


@dataclass(frozen=True, slots=True)
class SuppressTransform(Deterministic):
    """Writes disclosed values, or what generalizes them, and the suppression mark over all else, unknown values too."""

    outcomes: tuple[Outcome, ...]
    named: Mapping[str, tuple[str, ...]]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Suppress."""
        return part.replaced({o.attribute: _suppressed(part[o.attribute], o) for o in self.outcomes})

    def describe(self) -> Mapping[str, Any]:
        """How many values were suppressed, by attribute; only such are named as the policy itself names."""
        return {"attributes": {o.attribute: _account(o, self.named.get(o.attribute, ())) for o in self.outcomes}}


def _account(outcome: Outcome, named: tuple[str, ...]) -> Mapping[str, Any]:
    coarse = {"generalized_values": outcome.coarse, "generalized_cells": outcome.coarse_cells}
    return {
        "disclosed_values": outcome.disclosed,
        **(coarse if outcome.coarse else {}),
        "suppressed_values": outcome.hidden,
        "suppressed_cells": outcome.cells,
        **({"suppressed": list(named)} if named else {}),
    }


def _suppressed(column: Column, outcome: Outcome) -> Column:
    """The column in the written labels alone: not even its dictionary keeps a suppressed value."""
    known = pa.array(outcome.values, pa.string())
    labels = pa.array(sorted(set(outcome.labels), key=str.encode), pa.string())
    code_of = pc.index_in(pa.array(outcome.labels, pa.string()), value_set=labels).to_numpy(zero_copy_only=False)
    place = pc.index_in(column.categories, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    code_map = np.append(code_of.astype(np.int32), np.int32(SUPPRESSED))[place]
    mapped = column.mapped(code_map, labels)
    if outcome.missing_shown:
        return mapped
    return Column(np.where(mapped.codes == MISSING, np.int32(SUPPRESSED), mapped.codes), labels)
