"""The labels above each value in the hierarchy that a policy declares."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError

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
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return {row[0]: tuple(row[1:]) for row in csv.reader(stream, delimiter=delimiter) if row}
    except (OSError, UnicodeDecodeError, csv.Error):  # its message may quote a cell
        text = "the hierarchy file of an attacked attribute cannot be read"
        raise DataError(Diagnostic("PPF891", text)) from None
