"""The people of a population file, by the released labels that stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.populations.covering import Labels
from ppdm_flow.mining.populations.file import PeopleFile, coded
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]

_NO_TABLE = "is no CSV file with a column for each released attribute that classes are formed by"


def people_of(
    population: PopulationFile, released: Sequence[str], ctx: AuditContext, whose: str
) -> tuple[Counts, list[str]]:
    """Return the people by the columns of the file that tell the ``released`` ones, and the names of these columns.

    A column is called as ``population`` says, else as the attribute of the source, else as the released one. Raises
    DataError, which says ``whose`` file cannot be used.
    """
    file = PeopleFile(ctx.home / population.path, population.delimiter, f"population file of {whose}", _NO_TABLE)
    header = file.header()
    named = dict(population.columns)
    columns = [_column_of(c, source_of(c, ctx), named, header) for c in released]
    table = file.cells(columns)
    if not columns:
        return Counts((), (), np.zeros((1, 0), dtype=np.int32), np.array([table.num_rows], dtype=np.int64)), []
    built = {name: coded(table[name]) for name in dict.fromkeys(columns)}
    return count(Table(built, np.arange(table.num_rows, dtype=np.int64)), columns), columns


def _column_of(released: str, source: str, named: Mapping[str, str], header: Sequence[str]) -> str:
    column = named.get(source) or named.get(released)
    return column or (source if source in header or released not in header else released)


@dataclass(frozen=True, slots=True, eq=False)
class PopulationProfiles:
    """People who fit the same labels. ``codes`` (profiles, columns) point into ``fits`` of each column.

    ``fits[j][c]`` are the dense codes (suppressed 0, missing 1, then labels) that stand for code c of column j.
    ``people`` (profiles,) counts them.
    """

    codes: Ints
    people: Ints
    fits: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def total(self) -> int:
        """The number of people."""
        return int(self.people.sum())


def profiles(population: PopulationFile, released: Counts, ctx: AuditContext, whose: str) -> PopulationProfiles:
    """Read the population, and find the labels of its values. Raises DataError where ``whose`` file cannot be used."""
    sources = [source_of(c, ctx) for c in released.columns]
    people, columns = people_of(population, released.columns, ctx, whose)
    fits, codes = [], []
    for column, source, name in zip(released.columns, sources, columns, strict=True):
        own = ctx.original_attributes.get(source) or AttributeFacts(source, Role.QUASI_IDENTIFIER)
        labels = Labels(released.names(column).to_pylist(), own, ctx.attributes.get(column, own), ctx.home)
        distinct, place = _fits(people.names(name), labels, ctx.nulls, _shown(column, source, released, ctx))
        fits.append(distinct)
        codes.append(place[people.of(name) + SPECIALS])
    stacked = np.stack(codes, axis=1) if codes else np.zeros((len(people), 0), dtype=np.int64)
    label_sets, inverse = np.unique(stacked, axis=0, return_inverse=True)
    total = np.zeros(len(label_sets), dtype=np.int64)
    np.add.at(total, inverse.reshape(-1), people.counts)
    return PopulationProfiles(label_sets, total, tuple(fits))


def _shown(column: str, source: str, released: Counts, ctx: AuditContext) -> Mapping[str, set[int]] | None:
    """Return the dense codes of the cells that each value of the source is shown by, where cells go by it alone.

    None stands for cells that go by other attributes too, and for one cell that all values have.
    """
    facts = ctx.attributes.get(column)
    if facts is None or ctx.pairs is None or not facts.lineage.value_map or facts.lineage.hidden_by:
        return None
    counts = ctx.pairs.joint(source, column)
    texts = [SUPPRESSED_TEXT, None, *released.names(column).to_pylist()]
    place = {text: i for i, text in enumerate(texts)}
    cells = [SUPPRESSED_TEXT, None, *counts.names("released").to_pylist()]
    values = counts.names("original").to_pylist()
    shown: dict[str, set[int]] = {}
    for value, cell in zip(counts.of("original").tolist(), counts.of("released").tolist(), strict=True):
        if value >= 0 and (code := place.get(cells[cell + SPECIALS])) is not None:
            shown.setdefault(values[value], set()).add(code)
    return shown if len({frozenset(each) for each in shown.values()}) > 1 else None


def _fits(
    names: pa.StringArray, labels: Labels, nulls: Nulls, shown: Mapping[str, set[int]] | None
) -> tuple[tuple[tuple[int, ...], ...], Ints]:
    """Return the distinct sets of labels, and that of each dense code of the population.

    Where it is known by which cells values are ``shown``, those of the source have no others, and a value that does not
    occur there is hidden only where all are. Else a suppressed cell may be anybody's. A missing one is a value of its
    own, unless it is a wildcard: then it fits everybody. A person's missing value may be one that no label stands for.
    """
    missing = (0, MISSING + SPECIALS)
    wild = (MISSING + SPECIALS,) if nulls is Nulls.WILDCARD else ()

    def fitting(name: str) -> set[int]:
        if shown is None:
            return {0, *(p + SPECIALS for p in labels.of(name)), *wild}
        return {*(shown.get(name) or (p + SPECIALS for p in labels.declared(name))), *wild}

    each = [missing, missing, *(tuple(sorted(fitting(name))) for name in names.to_pylist())]
    place = {fit: i for i, fit in enumerate(dict.fromkeys(each))}
    return tuple(place), np.array([place[fit] for fit in each], dtype=np.int64)
