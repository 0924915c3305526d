"""Class sizes in the population that the release was taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from ppdm_flow.audits.release import source_of
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table, concat

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """``sizes`` (classes,) of the released classes, at least what is released of them; ``note`` says what was taken.

    ``strangers`` counts released classes that the population does not have.
    """

    sizes: Integers
    note: str = ""
    strangers: int = 0


def population_of(
    file: str | None, columns: Sequence[str], released: Counts, original: DataView, ctx: AuditContext
) -> Population:
    """Return the population: the file's, or the original's where its classes are comparable, or the release itself.

    Generalized, perturbed or renamed values have no counterpart in the original: then only the release itself can be
    taken, which overstates the risk. Raises DataError where the file cannot be used.
    """
    sizes = released.counts
    if file is not None:
        return _sized(released, _counted(_read(ctx.home / file, columns), columns))
    facts = [ctx.attributes[c] for c in columns if c in ctx.attributes]
    if any(f.was(Change.GENERATED) for f in facts):
        return Population(sizes, "at most: generated rows belong to nobody, and only look like somebody's")
    if original.counts(()).total == int(sizes.sum()):
        return Population(sizes, "every row of the original is released, so the release is the population")
    sources = [source_of(c, ctx) for c in columns]
    if any(f.was(*Change) for f in facts) or any(s not in original.schema for s in sources):
        return Population(
            sizes, "at most: the classes of the original are not comparable, so the release stands for it"
        )
    counted = original.counts(sources)
    return _sized(released, Counts(tuple(columns), counted.categories, counted.codes, counted.counts))


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    types = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(columns, pa.string()),
        include_columns=list(columns),
        null_values=[""],
        strings_can_be_null=True,
    )
    try:
        return pa.csv.read_csv(path, convert_options=types)
    except OSError:
        text = "the population file of the risk audit cannot be opened"
        raise DataError(Diagnostic("PPF841", text)) from None
    except (pa.ArrowInvalid, KeyError):  # its message may quote a cell
        text = "the population file of the risk audit is no CSV file with a column for each released quasi-identifier"
        raise DataError(Diagnostic("PPF841", text)) from None


def _counted(table: pa.Table, columns: Sequence[str]) -> Counts:
    built = {}
    for name in columns:
        coded = table[name].combine_chunks().dictionary_encode()
        built[name] = Column(
            coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32), coded.dictionary
        )
    return count(Table(built, np.arange(table.num_rows, dtype=np.int64)), columns)


def _sized(released: Counts, population: Counts) -> Population:
    """Look the released classes up among those of the population."""
    both = concat(
        Table(
            {c: Column(np.ascontiguousarray(part.of(c)), part.names(c)) for c in released.columns},
            np.arange(len(part), dtype=np.int64),
        )
        for part in (released, population)
    )
    codes = np.empty((len(both), len(both.names)), dtype=np.int32)
    for i, name in enumerate(both.names):
        codes[:, i] = both[name].codes
    rows = np.concatenate([np.zeros(len(released), dtype=np.int64), population.counts])
    group, size = Counts(both.names, tuple(both[c].categories for c in both.names), codes, rows).groups(both.names)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, group, rows)
    sizes = found[group[: len(released)]]
    return Population(np.maximum(sizes, released.counts), "", int((sizes < released.counts).sum()))
