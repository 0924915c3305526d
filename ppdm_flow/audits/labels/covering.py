"""Which labels of a release may hide which values of persons, by their form and by the declared hierarchy."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.forms import MASK, SPECIAL, covered, everything, one_width
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_SUPPRESSED, _MISSING = SUPPRESSED + SPECIALS, MISSING + SPECIALS

Lines = Mapping[str, tuple[str, ...]]


def lines(hierarchy: HierarchySpec | None, home: Path) -> Lines:
    """Return each value's ancestors, nearest first; empty where the hierarchy does not list values.

    Raises DataError where its file cannot be read.
    """
    if hierarchy is None:
        return {}
    if hierarchy.levels is not None:
        return dict(hierarchy.levels)
    if hierarchy.order is not None:
        return _of_order(hierarchy.order, hierarchy.then)
    return _read(home / hierarchy.csv, hierarchy.delimiter) if hierarchy.csv is not None else {}


def _of_order(values: tuple[str, ...], then: tuple[int, ...]) -> Lines:
    """Each level joins so many neighbours of the one below: ``first to last``."""
    above: dict[str, list[str]] = {v: [] for v in values}
    size = 1
    for together in then:
        size *= together
        for start in range(0, len(values) if size < len(values) else 0, size):
            group = values[start : start + size]
            for value in group:
                above[value].append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
    return {v: (*labels, "*") for v, labels in above.items()}


def _read(path: Path, delimiter: str) -> Lines:
    try:
        stream = io.StringIO(read_definition(path).decode("utf-8-sig"), newline="")
        return {row[0]: tuple(row[1:]) for row in csv.reader(stream, delimiter=delimiter) if row}
    except (OSError, UnicodeDecodeError, csv.Error):  # its message may quote a cell
        text = "the hierarchy file of an attacked attribute cannot be read"
        raise DataError(Diagnostic("PPF878", text)) from None


@dataclass(frozen=True, slots=True, eq=False)
class LabelCover:
    """Dense codes (suppressed 0, missing 1) of values and labels.

    ``labels[starts[v]:starts[v + 1]]`` may hide value ``v``, as may the ``wide`` ones, which cover all values.
    ``unknown`` (values,) are values that the attacker does not know: every label may hide them.
    """

    starts: Integers
    labels: Integers
    wide: Truths
    unknown: Truths


def cover(
    labels: pa.StringArray, values: pa.StringArray, hierarchy: HierarchySpec | None, nulls: Nulls, home: Path
) -> LabelCover:
    """Read every label: by the policy's hierarchy where that lists values, and by its form.

    A suppressed cell may be anything. A missing one is a value of its own, or anything (``wildcard``), or nobody's
    (``exclude``). Raises DataError where the hierarchy's file cannot be read.
    """
    mask = hierarchy.mask if hierarchy is not None else MASK
    wide = np.zeros(len(labels) + SPECIALS, dtype=np.bool_)
    wide[SPECIALS:] = everything(labels, mask) | everything(labels)
    tree = _by_tree(labels, values, lines(hierarchy, home))
    pairs = [_same(labels, values), *tree, _by_form(labels, values, mask, wide[SPECIALS:])]
    wide[_SUPPRESSED], wide[_MISSING] = True, nulls is Nulls.WILDCARD
    unknown = np.zeros(len(values) + SPECIALS, dtype=np.bool_)
    unknown[_SUPPRESSED], unknown[_MISSING] = True, nulls is not Nulls.OWN_CATEGORY
    if nulls is Nulls.OWN_CATEGORY:
        pairs.append((np.array([_MISSING]), np.array([_MISSING])))
    value, label = (np.concatenate(side).astype(np.int64) for side in zip(*pairs, strict=True))
    return _sorted(value, label, wide, unknown)


def _sorted(value: Integers, label: Integers, wide: Truths, unknown: Truths) -> LabelCover:
    kept = ~wide[label]
    keys = np.unique(value[kept] * len(wide) + label[kept])
    starts = np.searchsorted(keys, np.arange(len(unknown) + 1) * len(wide))
    return LabelCover(starts.astype(np.int64), keys % len(wide), wide, unknown)


def _same(labels: pa.StringArray, values: pa.StringArray) -> tuple[Integers, Integers]:
    place = pc.index_in(values, value_set=labels).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    there = np.flatnonzero(place >= 0)
    return there + SPECIALS, place[there] + SPECIALS


def _by_form(labels: pa.StringArray, values: pa.StringArray, mask: str, wide: Truths) -> tuple[Integers, Integers]:
    """Return the (value, label) pairs of every label that may hide others than itself, but for ``wide`` ones."""
    odd = pc.match_substring_regex(labels, SPECIAL).to_numpy(zero_copy_only=False).astype(np.bool_)
    if mask != MASK:
        odd |= pc.match_substring(labels, mask).to_numpy(zero_copy_only=False).astype(np.bool_)
    places = np.flatnonzero(odd & ~wide)
    texts = labels.take(pa.array(places)).to_pylist()
    value, label = covered(texts, values, mask, padded=one_width(labels, mask))
    return value + SPECIALS, places[label] + SPECIALS


def _by_tree(labels: pa.StringArray, values: pa.StringArray, tree: Lines) -> list[tuple[Integers, Integers]]:
    if not tree:
        return []
    pairs = [(v, a) for v, ancestors in tree.items() for a in dict.fromkeys(ancestors)]
    leaf = pc.index_in(pa.array([v for v, _ in pairs], pa.string()), value_set=values)
    above = pc.index_in(pa.array([a for _, a in pairs], pa.string()), value_set=labels)
    places = [p.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for p in (leaf, above)]
    both = (places[0] >= 0) & (places[1] >= 0)
    return [(places[0][both] + SPECIALS, places[1][both] + SPECIALS)]
