"""What the intruder knows, read by both routes: numbers and categories of rows, and of people in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.mining.exposure.estimates import best
from ppdm_flow.mining.exposure.numbers import (
    Floats,
    Ints,
    UnnumberedError,
    UnpairedError,
    other_names,
    paired_numbers,
    type_of,
)
from ppdm_flow.mining.exposure.numbers_query import NumberTexts, Types
from ppdm_flow.mining.exposure.paired import relation
from ppdm_flow.mining.exposure.persons import by_pseudonym, persons
from ppdm_flow.mining.populations.file import PeopleFile
from ppdm_flow.requirements.numeric_linkage import categories, people_file
from ppdm_flow.requirements.numeric_linkage.lookup import (
    Columns,
    IntruderKnowledge,
    LinkageInput,
    LinkageNumbers,
    LinkagePeople,
    lookup,
)
from ppdm_flow.requirements.numeric_linkage.second_route import numbers_sql
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns tell of ``numbers``, which of categories (``labels``), and the files that are read."""

    numbers: Columns
    labels: Columns
    files: Mapping[str, PeopleFile]

    @property
    def names(self) -> list[str]:
        """The attributes with numbers."""
        return list(dict.fromkeys(attribute for _, attribute in self.numbers))


def read(
    wanted: IntruderKnowledge, columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext
) -> LinkageNumbers:
    """Return what is looked for, by row number. Raises UnmeasuredError, and DataError of a file."""
    if ctx.pairs is None:
        raise UnpairedError("Nothing tells which original record a released one comes from, so none can be looked for.")
    told = _told(wanted, columns, original, ctx)
    found = paired_numbers(told.names, told.numbers, candidate, ctx)
    order = np.argsort(found.rows, kind="stable")
    before = _stacked([found.original[name][order] for name in told.names], len(order))
    released = {column: numbers[order] for column, numbers in found.released.items()}
    texts = categories.read(told.labels, original, candidate, ctx, ctx.pairs)
    types = [found.types[name] for name in told.names]
    rows = LinkagePeople(
        _estimated(before, told, released), texts.released if told.labels else np.zeros((len(order), 0), int)
    )
    everybody = {"": LinkagePeople(before, texts.known(texts.texts) if told.labels else rows.codes)}
    for key, file in told.files.items():
        cells = people_file.texts_of(file, [a for _, a in told.labels])
        numbers = people_file.numbers_of(file, told.names, types)
        size = len(numbers) if told.names else len(cells[0])
        codes = texts.known(cells) if told.labels else np.zeros((size, 0), np.int64)
        everybody[key] = LinkagePeople(numbers if told.names else np.zeros((size, 0)), codes)
    truth = Truth.by_number(len(order))
    if wanted.against is not None and wanted.key is not None:
        owners = people_file.owners(told.files["against"], wanted.key, ctx.pairs, [c for c, _ in columns])
        truth = Truth.by_people(*owners)
    person = None if ctx.people is None else persons(ctx.people, ctx.pairs, [columns[0][0]])
    return lookup(wanted, _counted(everybody, rows, truth, person, candidate, ctx))


def read_sql(
    wanted: IntruderKnowledge, columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext
) -> LinkageNumbers:
    """Return what SQL reads."""
    if ctx.sql is None or ctx.pairs is None:
        raise UnnumberedError("Nothing to read.")
    told, weight = _told(wanted, columns, original, ctx), candidate.schema.weight
    paired_numbers(
        told.names, told.numbers, candidate, ctx
    )  # what the first route cannot read, this one need not either
    categories.read(told.labels, original, candidate, ctx, ctx.pairs)
    plain = [c for c, _ in told.numbers]
    kinds, types = _types(told, original, candidate, ctx)
    before, after = numbers_sql(ctx.sql, candidate, ctx.pairs, told.names, plain, (kinds, types))
    released = {c: after[:, i] for i, c in enumerate(plain)}
    cells = {k: people_file.texts_of(f, [a for _, a in told.labels]) for k, f in told.files.items()}
    sizes = {key: people_file.size_of(file) for key, file in told.files.items()}
    codes = [np.zeros((size, 0), np.int64) for size in (len(before), len(before), *sizes.values())]
    if told.labels:
        paired = relation(ctx.pairs, [c for c, _ in told.labels], [a for _, a in told.labels], weight)
        others = [
            pa.table({"row": np.arange(sizes[key])} | {f"k{j}": texts for j, texts in enumerate(each)})
            for key, each in cells.items()
        ]
        codes = categories.read_sql(ctx.sql, told.labels, paired, candidate, ctx, others)
    rows = LinkagePeople(_estimated(before, told, released), codes[1])
    everybody = {"": LinkagePeople(before, codes[0])}
    for (key, file), mine in zip(told.files.items(), codes[2:], strict=True):
        everybody[key] = LinkagePeople(people_file.numbers_sql(ctx.sql, file, told.names, kinds), mine)
    truth = Truth.by_number(len(before))
    if wanted.against is not None and wanted.key is not None:
        keys = relation(ctx.pairs, [columns[0][0]], [wanted.key], weight)
        truth = Truth.by_people(*people_file.owners_sql(ctx.sql, told.files["against"], wanted.key, keys))
    person = None
    if ctx.people is not None:
        paired = relation(ctx.pairs, [columns[0][0]], [ctx.people.subject], weight)
        text = "SELECT MIN(row) OVER (PARTITION BY o0) AS person FROM paired ORDER BY row"
        person = ctx.sql.table(text, (), {"paired": paired})["person"].to_numpy().astype(np.int64)
    return lookup(wanted, _counted(everybody, rows, truth, person, candidate, ctx))


def _counted(
    everybody: Mapping[str, LinkagePeople],
    rows: LinkagePeople,
    truth: Truth,
    person: Ints | None,
    candidate: DataView,
    ctx: AuditContext,
) -> LinkageInput:
    """Return what was read; ``person`` (rows,) says whose the rows are where people are counted."""
    known = everybody.get("against", everybody[""])
    whose = truth if person is None else truth.of_people(person)
    return LinkageInput(known, rows, whose, everybody.get("control"), person is not None, by_pseudonym(candidate, ctx))


def _told(wanted: IntruderKnowledge, columns: Columns, original: DataView, ctx: AuditContext) -> _Columns:
    if wanted.against is not None and (wanted.key is None or wanted.key not in original.schema):
        raise UnnumberedError("Nothing tells which released row is whose of the people of the file.")
    numeric = {attribute for _, attribute in columns if type_of(attribute, None, ctx).is_numeric}
    paths = {"control": wanted.control, "against": wanted.against}
    files = {key: people_file.file_of(path, key, ctx) for key, path in paths.items() if path is not None}
    numbers, labels = ([c for c in columns if (c[1] in numeric) is wants] for wants in (True, False))
    return _Columns(numbers, labels, files)


def _types(told: _Columns, original: DataView, candidate: DataView, ctx: AuditContext) -> tuple[Types, Types]:
    """Return the types of the attributes with numbers, and of their columns."""
    first = next(original.partitions(told.names), None)
    part = next(candidate.partitions([c for c, _ in told.numbers]), None)
    kinds = {name: type_of(name, None if first is None else first[name], ctx) for name in told.names}
    types = [
        NumberTexts(kinds[a] if part is None else getattr(part[c], "kind", kinds[a]), other_names(c, a, ctx))
        for c, a in told.numbers
    ]
    return [NumberTexts(kinds[name]) for name in told.names], types


def _estimated(before: Floats, told: _Columns, released: Mapping[str, Floats]) -> Floats:
    """Return the mean of the columns of each attribute, by how near each is on average, (rows, attributes)."""
    ones = np.ones(len(before), np.int64)
    each = [[released[c] for c, a in told.numbers if a == name] for name in told.names]
    return _stacked([best(before[:, j], parts, ones) for j, parts in enumerate(each)], len(before))


def _stacked(columns: Sequence[Floats], rows: int) -> Floats:
    return np.column_stack(columns) if columns else np.zeros((rows, 0))
