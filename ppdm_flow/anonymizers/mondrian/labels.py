"""The labels of every class: one column of texts and marks for each attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.mondrian.values import Values
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.local_recoding.kernels import edges, held
from ppdm_flow.mining.local_recoding.partition import Items, Partition
from ppdm_flow.mining.local_recoding.scales import RecodedForm, flat
from ppdm_flow.tables.column import Column

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """``columns`` (one for each attribute, of a cell a class), ``sizes`` (classes,) records, ``costs`` of each cell."""

    columns: tuple[Column, ...]
    sizes: Ints
    costs: npt.NDArray[np.float64]


def labelled(items: Items, parts: Partition, values: tuple[Values, ...]) -> ClassLabels:
    """Label the classes. Raises PluginError where a label is spelled like a value that the column has."""
    low, high, costs = edges(items.codes, parts.order, parts.begins, parts.ends, flat(items.scales))
    classes = parts.classes
    columns = []
    for j, own in enumerate(values):
        members = _members(classes, items.codes[:, j], len(parts), own)
        columns.append(_column(own, low[:, j], high[:, j], members))
    return ClassLabels(tuple(columns), held(items.weights, parts.order, parts.begins, parts.ends), costs)


def _members(classes: Ints, codes: Codes, size: int, own: Values) -> list[tuple[int, ...]]:
    """Return the values of each class, where sets are asked for."""
    if own.scale.form is not RecodedForm.SET:
        return [()] * size
    pairs = np.unique(classes * own.scale.width + codes)
    owner, code = np.divmod(pairs, max(1, own.scale.width))
    parts = np.split(code, np.searchsorted(owner, np.arange(1, size)))
    return [tuple(p.tolist()) for p in parts] if size else []


def _column(own: Values, low: Codes, high: Codes, members: list[tuple[int, ...]]) -> Column:
    place: dict[str, int] = {}
    known: dict[tuple[int, int, tuple[int, ...]], int] = {}
    codes = np.empty(len(low), dtype=np.int32)
    for i, key in enumerate(zip(low.tolist(), high.tolist(), members, strict=True)):
        if key not in known:
            label = own.label(*key)
            known[key] = label if isinstance(label, int) else place.setdefault(label, len(place))
        codes[i] = known[key]
    if not own.levels:
        _refuse_lies(own, {k: c for k, c in known.items() if k[0] != k[1]}, place)
    return Column(codes, pa.array(list(place), pa.string())).compact()


def _refuse_lies(own: Values, known: dict[tuple[int, int, tuple[int, ...]], int], place: dict[str, int]) -> None:
    """A label of several values must not be spelled like one of them; hierarchies have been looked at before."""
    names = list(place)
    lies = len({names[c] for c in known.values()} & set(own.texts))
    if lies:
        text = f"{lies} labels of the column `{own.name}` would be spelled like one of its values"
        raise PluginError(Diagnostic("PPF788", text, help="give the attribute a hierarchy"))
