"""The intruder's knowledge, read by both routes: numbers and categories of rows, and of people in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.exposure.columns import facts_of
from ppdm_flow.mining.exposure.numbers import (
    Floats,
    Ints,
    NumberTexts,
    Types,
    UnnumberedError,
    UnpairedError,
    best,
    by_pseudonym,
    floats_of,
    number_of,
    other_names,
    other_rows,
    paired_numbers,
    persons,
    require_numbers,
    type_of,
)
from ppdm_flow.mining.exposure.paired import paired_counts, relation
from ppdm_flow.mining.populations.profiles import PeopleFile, coded
from ppdm_flow.requirements.numeric_linkage.nearest import (
    IntruderKnowledge,
    LinkageInput,
    LinkageNumbers,
    LinkagePeople,
    lookup,
)
from ppdm_flow.requirements.numeric_linkage.second_route import numbers_sql
from ppdm_flow.requirements.numeric_linkage.spaces import ELSEWHERE, HIDDEN, UNKNOWN, Truth
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SUPPRESSED_TEXT

Columns = Sequence[tuple[str, str]]
"""Released columns, each with the category that it is computed from."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of ``numbers``, those of categories (``labels``), and the files that are read."""

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
    known_columns = _classify_columns(wanted, columns, original, ctx)
    paired = paired_numbers(known_columns.names, known_columns.numbers, candidate, ctx)
    order = np.argsort(paired.rows, kind="stable")
    before = _stacked([paired.original[name][order] for name in known_columns.names], len(order))
    released = {column: numbers[order] for column, numbers in paired.released.items()}
    texts = read_categories(known_columns.labels, original, candidate, ctx, ctx.pairs)
    types = [paired.types[name] for name in known_columns.names]
    rows = LinkagePeople(
        _estimated(before, known_columns, released),
        texts.released if known_columns.labels else np.zeros((len(order), 0), int),
    )
    everybody = {"": LinkagePeople(before, texts.known(texts.texts) if known_columns.labels else rows.codes)}
    for key, file in known_columns.files.items():
        cells = texts_of(file, [a for _, a in known_columns.labels])
        numbers = numbers_of(file, known_columns.names, types)
        size = len(numbers) if known_columns.names else len(cells[0])
        codes = texts.known(cells) if known_columns.labels else np.zeros((size, 0), np.int64)
        everybody[key] = LinkagePeople(numbers if known_columns.names else np.zeros((size, 0)), codes)
    truth = Truth.by_number(len(order))
    if wanted.against is not None and wanted.key is not None:
        owners = people_file_owners(known_columns.files["against"], wanted.key, ctx.pairs, [c for c, _ in columns])
        truth = Truth.by_people(*owners)
    person = None if ctx.people is None else persons(ctx.people, ctx.pairs, [columns[0][0]])
    return lookup(wanted, _counted(everybody, rows, truth, person, candidate, ctx))


def read_sql(
    wanted: IntruderKnowledge, columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext
) -> LinkageNumbers:
    """Return what SQL reads."""
    if ctx.sql is None or ctx.pairs is None:
        raise UnnumberedError("Nothing to read.")
    known_columns, weight = _classify_columns(wanted, columns, original, ctx), candidate.schema.weight
    paired_numbers(
        known_columns.names, known_columns.numbers, candidate, ctx
    )  # what the first route cannot read, this one need not either
    read_categories(known_columns.labels, original, candidate, ctx, ctx.pairs)
    plain = [c for c, _ in known_columns.numbers]
    kinds, types = _types(known_columns, original, candidate, ctx)
    before, after = numbers_sql(ctx.sql, candidate, ctx.pairs, known_columns.names, plain, (kinds, types))
    released = {c: after[:, i] for i, c in enumerate(plain)}
    cells = {k: texts_of(f, [a for _, a in known_columns.labels]) for k, f in known_columns.files.items()}
    sizes = {key: size_of(file) for key, file in known_columns.files.items()}
    codes = [np.zeros((size, 0), np.int64) for size in (len(before), len(before), *sizes.values())]
    if known_columns.labels:
        paired = relation(ctx.pairs, [c for c, _ in known_columns.labels], [a for _, a in known_columns.labels], weight)
        others = [
            pa.table({"row": np.arange(sizes[key])} | {f"k{j}": texts for j, texts in enumerate(each)})
            for key, each in cells.items()
        ]
        codes = categories_read_sql(ctx.sql, known_columns.labels, paired, candidate, ctx, others)
    rows = LinkagePeople(_estimated(before, known_columns, released), codes[1])
    everybody = {"": LinkagePeople(before, codes[0])}
    for (key, file), mine in zip(known_columns.files.items(), codes[2:], strict=True):
        everybody[key] = LinkagePeople(people_file_numbers_sql(ctx.sql, file, known_columns.names, kinds), mine)
    truth = Truth.by_number(len(before))
    if wanted.against is not None and wanted.key is not None:
        keys = relation(ctx.pairs, [columns[0][0]], [wanted.key], weight)
        truth = Truth.by_people(*owners_sql(ctx.sql, known_columns.files["against"], wanted.key, keys))
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


def _classify_columns(wanted: IntruderKnowledge, columns: Columns, original: DataView, ctx: AuditContext) -> _Columns:
    if wanted.against is not None and (wanted.key is None or wanted.key not in original.schema):
        raise UnnumberedError("Nothing tells which released row is whose of the people of the file.")
    numeric = {attribute for _, attribute in columns if type_of(attribute, None, ctx).is_numeric}
    paths = {"control": wanted.control, "against": wanted.against}
    files = {key: file_of(path, key, ctx) for key, path in paths.items() if path is not None}
    numbers, labels = ([c for c in columns if (c[1] in numeric) is wants] for wants in (True, False))
    return _Columns(numbers, labels, files)


def _types(known_columns: _Columns, original: DataView, candidate: DataView, ctx: AuditContext) -> tuple[Types, Types]:
    """Return the types of the attributes with numbers, and of their columns."""
    first = next(original.partitions(known_columns.names), None)
    part = next(candidate.partitions([c for c, _ in known_columns.numbers]), None)
    kinds = {name: type_of(name, None if first is None else first[name], ctx) for name in known_columns.names}
    types = [
        NumberTexts(kinds[a] if part is None else getattr(part[c], "kind", kinds[a]), other_names(c, a, ctx))
        for c, a in known_columns.numbers
    ]
    return [NumberTexts(kinds[name]) for name in known_columns.names], types


def _estimated(before: Floats, known_columns: _Columns, released: Mapping[str, Floats]) -> Floats:
    """Return the mean of the columns of each attribute, by how near each is on average, (rows, attributes)."""
    ones = np.ones(len(before), np.int64)
    each = [[released[c] for c, a in known_columns.numbers if a == name] for name in known_columns.names]
    return _stacked([best(before[:, j], parts, ones) for j, parts in enumerate(each)], len(before))


def _stacked(columns: Sequence[Floats], rows: int) -> Floats:
    return np.column_stack(columns) if columns else np.zeros((rows, 0))


# Categories of original and released rows as codes: the category behind each released cell.
#
# Where a column is a map of the one value (unchanged, renamed, generalized, suppressed), a known value agrees with the
# cell that this value is released as. Any other column (exchanged, drawn) has to show values of the attribute
# themselves.


@dataclass(frozen=True, slots=True, eq=False)
class LinkageCategories:
    """``released`` (rows, columns) codes, ``texts`` of the original rows by column, and what known values agree with.

    ``values`` of each column are the values that a released cell covers, and ``codes`` theirs.
    """

    released: Ints
    texts: tuple[pa.Array, ...]
    values: tuple[pa.Array, ...]
    codes: tuple[Ints, ...]

    def known(self, texts: Sequence[pa.Array]) -> Ints:
        """Return the codes of known values, (records, columns), from the texts of each column."""
        columns = [_known(*each) for each in zip(texts, self.values, self.codes, strict=True)]
        return np.column_stack(columns) if columns else np.zeros((len(self.released), 0), np.int64)


def read_categories(
    columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext, pairs: PairedView
) -> LinkageCategories:
    """Return the categories by row number.

    Raises UnnumberedError where the values of a cell are unknown, and RunError where rows are not those of the file.
    """
    before, after = _cells(columns, pairs)
    released, values, codes = [], [], []
    for (column, attribute), texts, cells in zip(columns, before, after, strict=True):
        require_numbers(column, ctx)
        paired_counts(candidate, pairs, [column], [])
        shown = cells.dictionary_encode()
        released.append(shown.indices.fill_null(HIDDEN).to_numpy(zero_copy_only=False).astype(np.int64))
        if facts_of(column, ctx).value_map:
            labels = _labels(texts, shown, column)
        elif (
            pc.all(pc.is_in(shown.dictionary, value_set=original.domain(attribute).cast(pa.string()))).as_py() is False
        ):
            raise _unread(column)
        else:
            labels = shown.dictionary, np.arange(len(shown.dictionary))
        values.append(labels[0])
        codes.append(labels[1])
    stacked = np.column_stack(released) if released else np.zeros((0, 0), np.int64)
    return LinkageCategories(stacked, tuple(before), tuple(values), tuple(codes))


def _cells(columns: Columns, pairs: PairedView) -> tuple[list[pa.Array], list[pa.Array]]:
    """Return the texts of attributes and of columns, by row number, null where there is none."""
    before: list[list[pa.Array]] = [[] for _ in columns]
    after: list[list[pa.Array]] = [[] for _ in columns]
    rows = [np.zeros(0, np.int64)]
    attributes, names = ([each[i] for each in columns] for i in (1, 0))
    for left, right in pairs.pairs(list(dict.fromkeys(attributes)), list(dict.fromkeys(names))):
        for i, (column, attribute) in enumerate(columns):
            before[i].append(cells_of(left[attribute]))
            after[i].append(cells_of(right[column]))
        rows.append(np.asarray(right.rows, dtype=np.int64))
    order = pa.array(np.argsort(np.concatenate(rows), kind="stable"))
    return [_concatenate_parts(parts, order) for parts in before], [_concatenate_parts(parts, order) for parts in after]


def _concatenate_parts(parts: list[pa.Array], order: pa.Array) -> pa.Array:
    texts = pa.concat_arrays([pa.array([], pa.string()), *(part.cast(pa.string()) for part in parts)]).take(order)
    return pc.if_else(pc.equal(texts, SUPPRESSED_TEXT), pa.scalar(None, pa.string()), texts)


def _labels(texts: pa.Array, shown: pa.DictionaryArray, column: str) -> tuple[pa.Array, Ints]:
    """Return the original values and what each is released as. Raises UnnumberedError where that is several things."""
    values = texts.dictionary_encode()
    of_row, label = (
        each.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for each in (values, shown)
    )
    both = (of_row >= 0) & (label >= 0)
    width = max(1, len(shown.dictionary))
    different = np.unique(of_row[both] * width + label[both])
    value, code = different // width, different % width
    if len(np.unique(value)) < len(value):
        raise _unread(column)
    codes = np.full(len(values.dictionary), ELSEWHERE, np.int64)
    codes[value] = code
    return values.dictionary, codes


def _known(texts: pa.Array, values: pa.Array, codes: Ints) -> Ints:
    place = pc.index_in(texts, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    value_codes = np.append(codes, ELSEWHERE)[place]
    return np.where(pc.is_null(texts).to_numpy(zero_copy_only=False), UNKNOWN, value_codes)


def _unread(column: str) -> UnnumberedError:
    return UnnumberedError(
        f"Some cells of `{column}` are labels that cover different values in different rows: nothing says with"
        " which known ones they agree."
    )


def categories_read_sql(
    sql: Sql, columns: Columns, paired: pa.Table, candidate: DataView, ctx: AuditContext, others: Sequence[pa.Table]
) -> list[Ints]:
    """Return the codes of original rows, of released rows and of each of the ``others``, (each, columns), in SQL.

    ``paired`` has the cells r0, … of the columns and o0, … of their attributes, ``n`` and ``row``; ``others`` have
    k0, … of the columns, and a ``row``.
    """
    tables: dict[str, pa.Table] = {"paired": paired} | {f"other{i}": table for i, table in enumerate(others)}
    _hold(sql, columns, candidate.schema.weight, tables)
    codes_by_table: list[list[Ints]] = [[] for _ in range(2 + len(others))]
    for j, (column, _) in enumerate(columns):
        shown = f"(SELECT DISTINCT r{j} AS cell FROM paired WHERE r{j} <> '{SUPPRESSED_TEXT}')"  # noqa: S608  # our own names
        codes = f"codes AS (SELECT cell, ROW_NUMBER() OVER (ORDER BY cell) AS code FROM {shown})"  # noqa: S608  # the same
        stands, joined = "SELECT cell AS value, code FROM codes", f"paired LEFT JOIN codes ON r{j} = cell"
        if facts_of(column, ctx).value_map:
            stands = f"SELECT o{j} AS value, MAX(code) AS code FROM {joined} GROUP BY o{j}"  # noqa: S608  # the same
        sides = [("paired", f"o{j}"), *((f"other{i}", f"k{j}") for i in range(len(others)))]
        known = (
            f"SELECT CASE WHEN {cell} IS NULL THEN {UNKNOWN} ELSE COALESCE(code, {ELSEWHERE}) END AS code"  # noqa: S608  # the same
            f" FROM {table} LEFT JOIN stands ON {cell} = value ORDER BY {table}.row"
            for table, cell in sides
        )
        cells = f"SELECT COALESCE(code, {HIDDEN}) AS code FROM {joined} ORDER BY paired.row"  # noqa: S608  # the same
        first, *rest = known
        for place, query in enumerate((first, cells, *rest)):
            read = sql.table(f"WITH {codes}, stands AS ({stands}) {query}", (), tables)  # the same
            codes_by_table[place].append(read["code"].to_numpy().astype(np.int64))
    return [np.column_stack(each) for each in codes_by_table]


def _hold(sql: Sql, columns: Columns, weight: str | None, tables: dict[str, pa.Table]) -> None:
    """Hold the paired cells against those of the file. Raises RunError where they differ."""
    rows = "1" if weight is None else f"CAST({quoted(weight)} AS BIGINT)"
    for j, (column, _) in enumerate(columns):
        both = [f"SELECT r{j} AS c, n FROM paired", f"SELECT {quoted(column)} AS c, {rows} AS n FROM candidate"]  # noqa: S608  # quoted
        one, other = (f"(SELECT c, SUM(n) AS n FROM ({each}) GROUP BY c HAVING SUM(n) > 0)" for each in both)  # noqa: S608  # the same
        text = f"SELECT COUNT(*) FROM (({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}))"  # noqa: S608  # the same
        if sql.rows(text, (), tables)[0][0]:
            raise other_rows()


# The numbers of people in a file that lies beside the policy, read by both routes.


_LACKING = "is no CSV file with a column for each attribute that records are found by, and for a key, named as there"


def file_of(path: str, key: str, ctx: AuditContext) -> PeopleFile:
    """Return the file that the ``key`` of a clause or an audit names."""
    return PeopleFile(ctx.home / path, ",", f"file `{key}` of `numeric_linkage`", _LACKING)


def numbers_of(file: PeopleFile, attributes: Sequence[str], types: Sequence[AttributeType]) -> Floats:
    """Return the numbers of the people, (people, attributes), NaN where a cell is empty.

    Raises DataError where the file cannot be read, or a cell is no number of the attribute's type.
    """
    table = _people_file_cells(file, attributes)
    try:
        columns = [floats_of(coded(table[name]), kind, name) for name, kind in zip(attributes, types, strict=True)]
    except UnnumberedError:
        raise file.unusable("has cells that are no numbers of the attribute's type") from None
    return np.column_stack(columns) if columns else np.zeros((size_of(file), 0))


def texts_of(file: PeopleFile, attributes: Sequence[str]) -> list[pa.Array]:
    """Return the texts of the people by attribute, null where a cell is empty."""
    table = _people_file_cells(file, attributes) if attributes else None
    return (
        []
        if table is None
        else [pa.concat_arrays(table[name].chunks or [pa.array([], pa.string())]) for name in attributes]
    )


def size_of(file: PeopleFile) -> int:
    """Return how many people it has."""
    return int(_people_file_cells(file, file.header()[:1]).num_rows)


def people_file_numbers_sql(sql: Sql, file: PeopleFile, attributes: Sequence[str], types: Types) -> Floats:
    """Return the numbers that SQL reads of the same texts."""
    if not attributes:
        return np.zeros((size_of(file), 0))
    table = _people_file_cells(file, attributes)
    tables = {"people": pa.table({f"c{i}": table[name] for i, name in enumerate(attributes)})}
    named = ", ".join(f"{number_of(f'c{i}', kind)} AS n{i}" for i, kind in enumerate(types))
    read = sql.table(f"SELECT {named} FROM people", (), tables)  # noqa: S608  # our own names
    return np.column_stack([column.to_numpy().astype(np.float64) for column in read.columns])


def people_file_owners(file: PeopleFile, key: str, pairs: PairedView, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the number of the person of each released row (rows,), by row number, and of each in the file (people,).

    They are the same person where ``key`` has the same text; -1 marks rows that nobody in the file has, and people
    without a key.
    """
    column = coded(_people_file_cells(file, [key])[key])
    parts, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for left, right in pairs.pairs([key], list(columns)):
        texts = cells_of(left[key]).dictionary_encode()
        place = pc.index_in(texts.dictionary, value_set=column.categories.cast(pa.string())).fill_null(-1)
        number = np.append(place.to_numpy(zero_copy_only=False).astype(np.int64), -1)
        parts.append(number[texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
        rows.append(np.asarray(right.rows, dtype=np.int64))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(parts)[order], np.maximum(column.codes, -1).astype(np.int64)


def owners_sql(sql: Sql, file: PeopleFile, key: str, paired: pa.Table) -> tuple[Ints, Ints]:
    """Return what SQL joins: ``paired`` has the ``row`` number of each released row, and the key of its original."""
    cells = _people_file_cells(file, [key])[key]
    tables = {"paired": paired, "people": pa.table({"line": np.arange(len(cells)), "key": cells})}
    first = "(SELECT key, MIN(line) AS person FROM people WHERE key IS NOT NULL GROUP BY key) AS firsts"
    owners = []
    for which, key_of, order in (("paired", "o0", "row"), ("people", "key", "line")):
        text = (
            f"SELECT COALESCE(person, -1) AS person FROM {which} LEFT JOIN {first} ON {which}.{key_of} = firsts.key"  # noqa: S608  # our own names
            f" ORDER BY {order}"
        )
        owners.append(sql.table(text, (), tables)["person"].to_numpy().astype(np.int64))
    return owners[0], owners[1]


def _people_file_cells(file: PeopleFile, attributes: Sequence[str]) -> pa.Table:
    file.header()
    return file.cells(attributes)
