"""One part of a release, written by an executor."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.local.partitions import Partitions
from ppdm_flow.engine.local.writing import batch, opened_sink
from ppdm_flow.engine.opening.opening import takes_numbers
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.formats import usual_ending
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part as it was written: its number and its files, each with the number of its partition, if it has one."""

    number: int
    files: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class PartWriter:
    """Writes a part of a release under private names in ``scratch``, which only the driver makes public."""

    release: ReleaseNode
    scratch: Path
    key: str
    partitions: Partitions | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)

    def write(self, number: int, tables: Iterable[Table]) -> WrittenPart | None:
        """Write one part; None for no rows. Two attempts at one part have other names."""
        if self.partitions is None:
            files = self._files(number, {None: tables}, tuple(a.name for a in self.release.attributes))
        else:
            files = self._files(number, self._by_partition(tables, self.partitions), self._own_names)
        return WrittenPart(number, files) if files else None

    @property
    def _own_names(self) -> tuple[str, ...]:
        """The columns that are in the files, and not in the names of their folders."""
        return tuple(a.name for a in self.release.attributes if a.name not in self.release.partition_by)

    def _by_partition(self, tables: Iterable[Table], partitions: Partitions) -> dict[int | None, list[Table]]:
        by_number: dict[int | None, list[Table]] = {}
        for table in tables:
            numbers = partitions.of_rows(table)
            for number in np.unique(numbers).tolist():
                by_number.setdefault(number, []).append(table.take(numbers == number))
        return by_number

    def _files(
        self, number: int, groups: Mapping[int | None, Iterable[Table]], names: tuple[str, ...]
    ) -> tuple[tuple[str, int | None], ...]:
        typed, files = takes_numbers(self.release), []
        for place, tables in groups.items():
            path = self.scratch / f"{number:06d}-{secrets.token_hex(8)}{ending(self.release)}"
            some = False
            with wrap_plugin_errors(f"release `{self.release.name}`"), opened_sink(self.release, path, names) as sink:
                for table in tables:
                    some = some or len(table) > 0
                    sink.write(batch(table, names, typed=typed, types=self.types))
            if some:
                files.append((path.name, place))
            else:
                path.unlink(missing_ok=True)
        return tuple(files)


def ending(release: ReleaseNode) -> str:
    """Return how the names of part files end."""
    return usual_ending("sinks", release.format, release.path)
