"""The population of a requirement: how many people have each combination of quasi-identifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.populations.population import Population
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table


@runtime_checkable
class InPopulation(Protocol):
    """A requirement whose groups are those of a population."""

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form groups."""
        ...

    @property
    def population(self) -> Population:
        """The file."""
        ...


def people(asked: InPopulation, home: Path) -> Counts:
    """Count the population over the attributes of the requirement, in their present names. Raises PluginError."""
    columns = dict(asked.population.columns)
    wanted = {name: columns.get(name, name) for name in asked.grouping}
    read = _read(home / asked.population.path, asked.population.delimiter, tuple(wanted.values()))
    table = Table({n: _column(read[c]) for n, c in wanted.items()}, np.arange(read.num_rows, dtype=np.int64))
    return count(table, asked.grouping)


def _read(path: Path, delimiter: str, columns: tuple[str, ...]) -> pa.Table:
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(columns, pa.string()),
        include_columns=list(dict.fromkeys(columns)),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=True,
    )
    try:
        return pa_csv.read_csv(path, parse_options=pa_csv.ParseOptions(delimiter=delimiter), convert_options=options)
    except KeyError:
        raise _unusable(path, f"lacks one of the columns {', '.join(f'`{c}`' for c in columns)}") from None
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror or 'no reason given'}") from None
    except (pa.ArrowInvalid, pa.ArrowException):
        raise _unusable(path, "is not a CSV file in UTF-8") from None


def _column(cells: pa.ChunkedArray) -> Column:
    coded = pc.dictionary_encode(cells).combine_chunks()
    coded = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    codes = coded.indices.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(codes, coded.dictionary)


def _unusable(path: Path, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF808", f"the population table {path.name} {what}"))
