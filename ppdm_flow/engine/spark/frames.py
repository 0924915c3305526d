"""Relations of the second route as DataFrames: released files by Spark's own readers, all else by ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts.sql_names import quoted as identifier
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.fragments import Fragment, Recipe
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.spark.tallies import ALIKE, TallyWork
from ppdm_flow.engine.streams.coding import arrow, arrow_codes
from ppdm_flow.plan.cluster.steps import IN_PARTS
from ppdm_flow.plan.definition import ReleaseNode

Frame = Callable[[frozenset[str]], Any]
_EMPTY = "\ue000empty"
"""What an empty text is read as: Spark's reader of CSV tells it from a missing value only by another text."""
_GLOB = frozenset("*?[]{}\\,%#")


@dataclass(frozen=True, slots=True)
class TextsFrame:
    """Makes DataFrames of a stream's columns, as our own reader has them."""

    stream: SparkStream

    def __call__(self, columns: frozenset[str]) -> Any:
        """Return the rows with these columns."""
        names, schema = self._chosen(columns)
        work = _TextsWork(self.stream.recipe, names, coded=False)
        return self.stream.farm.frame(work, self.stream.fragments, ", ".join(schema))

    def tallied(self, columns: frozenset[str]) -> Any:
        """Return the combinations of these columns, counted by fragment."""
        names, schema = self._chosen(columns)
        work = TallyWork(_TextsWork(self.stream.recipe, names, coded=True), names)
        return self.stream.farm.frame(work, self.stream.fragments, ", ".join([*schema, f"{ALIKE} long"]))

    def _chosen(self, columns: frozenset[str]) -> tuple[tuple[str, ...], list[str]]:
        every = tuple(a.name for a in self.stream.attributes)
        names = tuple(name for name in every if name in columns) or every[:1]
        return names, [f"{quoted(name)} string" for name in names]


@dataclass(frozen=True, slots=True)
class _TextsWork:
    recipe: Recipe
    names: tuple[str, ...]
    coded: bool

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        for part in self.recipe.of(fragment).parts(self.names):
            if self.coded:
                cells = [arrow_codes(part.table[name]) for name in self.names]
            else:
                cells = [arrow(part.table[name]).cast(pa.string()) for name in self.names]
            yield pa.RecordBatch.from_arrays(cells, names=list(self.names))


def released_frame(farm: Farm, release: ReleaseNode, place: Path, stream: SparkStream) -> Frame:
    """Return what makes a DataFrame of a release, as Spark reads its files; by our reader where it would interpret."""
    readable = not _GLOB & set(str(place.absolute())) and all(_is_plain(release, a) for a in release.attributes)
    if not readable or release.partition_by or release.collapse or release.format not in IN_PARTS:
        return TextsFrame(stream)
    if release.format == "csv" and (len(release.attributes) == 1 or release.options.get("formulas") == "escape"):
        return TextsFrame(stream)
    return lambda _columns: _read(farm, release, place)


def _is_plain(release: ReleaseNode, facts: Any) -> bool:
    """Whether Spark has the same text of each cell: not of sets, nor of floating point numbers in Parquet."""
    if facts.role is Role.ITEMS:
        return False
    return release.format == "csv" or not facts.is_numeric or facts.type is not AttributeType.FLOAT


def _read(farm: Farm, release: ReleaseNode, place: Path) -> Any:
    address = f"file://{place.absolute()}"
    if release.format == "parquet":
        return farm.files("parquet", address, None, {}, [_as_text(a) for a in release.attributes])
    schema = ", ".join(f"{quoted(name)} string" for name in release.columns)
    options = {
        "header": "true",
        "sep": str(release.options.get("delimiter", ",")),
        "quote": '"',
        "escape": '"',
        "multiLine": "true",
        "nullValue": "",
        "emptyValue": _EMPTY,
        "mode": "FAILFAST",
        "maxCharsPerColumn": "-1",
        "maxColumns": str(max(20480, len(release.columns))),
    }
    cells = [f"CASE WHEN {quoted(n)} = '{_EMPTY}' THEN '' ELSE {quoted(n)} END AS {quoted(n)}" for n in release.columns]
    return farm.files("csv", address, schema, options, cells)


def _as_text(facts: Any) -> str:
    name = quoted(facts.name)
    if not facts.is_numeric:
        return name
    text = f"CAST({name} AS STRING)"
    return f"replace({text}, ' ', 'T') AS {name}" if facts.type is AttributeType.TIMESTAMP else f"{text} AS {name}"


def quoted(name: str) -> str:
    """Return an identifier of Spark's SQL."""
    return identifier(name, "`")
