"""Generalization hierarchies given value by value: CSV files, leaf first, and levels written in the policy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.tables.column import SUPPRESSED_TEXT

Lines = Mapping[str, tuple[str, ...]]
"""Each value's ancestors, nearest first."""


@dataclass(frozen=True, slots=True)
class LabelLookup:
    """The label of every value that occurs."""

    label_of: Mapping[str, str]
    level: int

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the ancestors."""
        absent = sum(v not in self.label_of for v in values)
        if absent:
            raise UnplacedError("PPF789", absent, "do not stand in the hierarchy", "add them to it, leaf first")
        return [self.label_of[v] for v in values]

    def describe(self) -> str:
        """Return the level."""
        return f"hierarchy level {self.level}"


@dataclass(frozen=True, slots=True)
class TopLevel:
    """The top of a hierarchy: one label for all values."""

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return ``*`` for each."""
        return ["*"] * len(values)

    def describe(self) -> str:
        """Return that nothing is left."""
        return "one value for all"


def height(lines: Lines) -> int:
    """Return how many levels every value has above it."""
    return min((len(ancestors) for ancestors in lines.values()), default=0)


def at_level(lines: Lines, level: int, column: str) -> LabelLookup:
    """Return the map to ``level`` (0 is the value itself). Raises PluginError where the hierarchy ends below it."""
    if level > height(lines):
        text = f"the hierarchy of `{column}` has {height(lines)} levels above the values; level {level} was asked for"
        raise PluginError(Diagnostic("PPF788", text))
    labels = {value: (value, *ancestors)[level] for value, ancestors in lines.items()}
    if SUPPRESSED_TEXT in labels.values():
        text = f"the hierarchy of `{column}` uses the mark of suppressed cells as a label"
        raise PluginError(Diagnostic("PPF788", text))
    return LabelLookup(labels, level)


def read_csv(path: Path, delimiter: str, column: str) -> Lines:
    """Read a hierarchy file. Raises PluginError with the line number where it is none."""
    try:
        text = read_definition(path).decode("utf-8-sig")
        return _lines(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), path, column)
    except OSError as error:
        raise _unusable(path, column, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unusable(path, column, "is not UTF-8 text") from None
    except csv.Error:
        raise _unusable(path, column, "is not a CSV file") from None


def _lines(rows: Iterable[list[str]], path: Path, column: str) -> Lines:
    lines: dict[str, tuple[str, ...]] = {}
    width = 0
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        width = width or len(row)
        if len(row) != width:
            raise _unusable(path, column, f"has {len(row)} fields in line {number}, and {width} in the first")
        if "" in row[1:]:
            raise _unusable(path, column, f"has an empty label in line {number}")
        if lines.setdefault(row[0], tuple(row[1:])) != tuple(row[1:]):
            raise _unusable(path, column, f"gives a value other ancestors in line {number} than before")
    if width < 2:
        raise _unusable(path, column, "has no levels: is the delimiter another one?")
    return lines


def _unusable(path: Path, column: str, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF788", f"the hierarchy of `{column}`, {path.name}, {what}"))
