"""Opens a released file in the form that its policy declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine.faults import data_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_released, released_names
from ppdm_flow.engine.streams.checks import WeightCheck
from ppdm_flow.engine.streams.reading import ReadOptions
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.storage import Source, TypedSource


def released_source(
    release: ReleaseNode, path: Path, partition_rows: int, *, foreign: bool = False
) -> tuple[Source, ReadOptions]:
    """Return the reader of a file with exactly the columns of ``release``, in their order. Raises DataError.

    ``foreign``: another tool wrote it.
    """
    names = release.columns
    who = f"release `{release.name}`"
    with wrap_plugin_errors(who):
        source = open_released(release, path)
        column_names = released_names(release, path, source)
        columns = dict(zip(column_names, source.names(), strict=True))
    if column_names != names:
        raise data_fault(
            "PPF904", f"{who}: the file has {len(column_names)} columns, other than the {len(names)} of the plan"
        )
    missing = () if release.received is None else release.received.missing or ()
    reading = ReadOptions(
        columns=columns, missing=missing, partition_rows=partition_rows, released=True, who=who, foreign=foreign
    )
    if foreign and isinstance(source, TypedSource) and _spells_numbers(release.options):
        types = {columns[a.name]: a.type for a in release.attributes if a.type.is_numeric and not a.type.is_time}
        return RespelledNumbers(source, types), reading
    return source, reading


def _spells_numbers(options: Mapping[str, Any]) -> bool:
    """Whether a reader has numbers to spell anew, before they are read as texts."""
    return options.get("decimal", ".") != "." or bool(options.get("thousands"))


@dataclass(frozen=True, slots=True)
class RespelledNumbers:
    """A file of another tool whose columns of numbers and labels become texts with a decimal point."""

    source: TypedSource
    types: Mapping[str, AttributeType]

    def names(self) -> tuple[str, ...]:
        """Return the column names."""
        return cast("Source", self.source).names()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        wanted = {name: kind for name, kind in self.types.items() if name in columns}
        for batch in self.source.typed_batches(columns, wanted):
            arrays = [c if pa.types.is_dictionary(c.type) else c.dictionary_encode() for c in batch.columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


def released_checks(release: ReleaseNode) -> tuple[WeightCheck, ...]:
    """Return the reference that the rows of a released file are compared with."""
    return tuple(WeightCheck(a, zeros=False) for a in release.attributes if a.role is Role.WEIGHT)
