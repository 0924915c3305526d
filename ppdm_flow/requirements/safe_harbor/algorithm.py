"""Finds the 18 identifiers that are left in a released file, by two routes (45 CFR 164.514(b)(2)(i)).

A cell counts for each kind that it shows: by its form (an address of the form of an email address, a vehicle's number
whose check digit fits), by what its column is called (a `first_name` that was not dropped), or by what ages, years of
birth and ZIP codes say. A column counts as a code, in any form, where most of its cells belong to one person each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.exposure.faults import RandomizedError, UnmeasuredError
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.identifiers.cells import Mask, matching, normalized, seen
from ppdm_flow.mining.identifiers.patterns import (
    BORN,
    CARD,
    GROUPED,
    IDENTIFIERS,
    IMEI,
    LONG,
    NO_NAMES,
    PATTERNS,
    TOKENS,
    VIN,
    WORDS,
    Identifier,
)
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.requirements.safe_harbor.columns import ScannedColumn, looks
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor, areas
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SUPPRESSED_TEXT, union
from ppdm_flow.tables.sets import Baskets

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RemainingCells:
    """How many cells of a column show each kind; ``cleared`` are those of kinds that somebody looked at."""

    column: str
    cells: Mapping[Identifier, int]
    cleared: Mapping[Identifier, int]


class SafeHarborAudit:
    """Looks through every released column."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Count the cells of each kind."""
        del original
        parts = [_judged(requirement, candidate, ctx) for requirement in _own(ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL, in the released file."""
        del original
        figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx):
            if ctx.sql is None:
                continue
            try:
                left = [_figures_sql(look, requirement, candidate, ctx) for look in looks(requirement, candidate, ctx)]
            except UnmeasuredError:
                continue
            figures |= {name: figure.value for name, figure in _figures(requirement, left).items()}
        return figures


def _own(ctx: AuditContext) -> list[SafeHarbor]:
    return [r for r in ctx.requirements if isinstance(r, SafeHarbor)]


def _judged(requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    name = f"{requirement.id}.cells"
    try:
        left = [_left(look, requirement, candidate, ctx) for look in looks(requirement, candidate, ctx)]
    except UnmeasuredError as fault:
        figure = Figure(None, "cells", note=fault.text)
        unknown = Measured(requirement.id, name, figure, 0.0, at_most=True, sentence=fault.text, verifiable=False)
        return AuditOutcome(measured=(unknown,))
    figures = _figures(requirement, left)
    text = sentence(requirement, left, ctx)
    measured = Measured(requirement.id, name, figures[name], 0.0, at_most=True, sentence=text)
    return AuditOutcome(figures, (measured,), tuple(findings(requirement, left, ctx)))


def _figures(requirement: SafeHarbor, left: list[RemainingCells]) -> dict[str, Figure]:
    by_kind = {kind: sum(each.cells.get(kind, 0) for each in left) for kind in IDENTIFIERS}
    figures = {
        "cells": Figure(sum(by_kind.values()), "cells"),
        "columns": Figure(sum(bool(sum(each.cells.values())) for each in left), "columns"),
        "cleared": Figure(sum(sum(each.cleared.values()) for each in left), "cells"),
    }
    figures |= {kind: Figure(cells, "cells") for kind, cells in by_kind.items()}
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _left(look: ScannedColumn, requirement: SafeHarbor, candidate: DataView, ctx: AuditContext) -> RemainingCells:
    """Count by the first route."""
    cells = cells_of(look, candidate, ctx)
    shown = shown_cells(cells.texts)
    masks = dict(_masks(look, requirement, cells))
    cells_by_kind = {kind: int(cells.rows[mask & shown].sum()) for kind, mask in masks.items()}
    every, alone = int(cells.rows[shown].sum()), int(cells.rows[shown & cells.alone].sum())
    return _parted(look, requirement, cells_by_kind, every, alone)


def _masks(look: ScannedColumn, requirement: SafeHarbor, cells: NormalizedCells) -> Iterator[tuple[Identifier, Mask]]:
    """Yield each kind with which distinct cells show it."""
    masks = seen(cells.texts) if look.texts else {}
    if look.texts:
        masks = _more(masks, "ages", told_births(cells.texts, requirement.as_of))
    if look.zips:
        masks = _more(masks, "zip_codes", too_fine(cells.texts, areas(requirement.small_areas)))
    if look.ages:
        masks = _more(masks, "ages", too_old(cells.texts, coded=look.coded))
    if look.births:
        masks = _more(masks, "ages", born_too_early(cells.texts, requirement.as_of))
    for kind in look.named:
        masks = _more(masks, kind, np.ones(len(cells.texts), dtype=bool))
    yield from masks.items()


def _more(masks: Mapping[Identifier, Mask], kind: Identifier, mask: Mask) -> dict[Identifier, Mask]:
    return {**masks, kind: masks[kind] | mask if kind in masks else mask}


def _figures_sql(
    look: ScannedColumn, requirement: SafeHarbor, candidate: DataView, ctx: AuditContext
) -> RemainingCells:
    """Count by the second route."""
    text, kinds = counted_sql(look, areas(requirement.small_areas), requirement.as_of)
    if ctx.sql is None:
        raise ValueError("the second route has no database")
    row = ctx.sql.rows(text, (), {"cells": queried_cells(look, candidate, ctx, ctx.sql)})[0]
    cells_by_kind: dict[Identifier, int] = {kind: int(cells) for kind, cells in zip(kinds, row[:-2], strict=True)}
    return _parted(look, requirement, cells_by_kind, int(row[-2]), int(row[-1]))


def _parted(
    look: ScannedColumn, requirement: SafeHarbor, cells_by_kind: Mapping[Identifier, int], every: int, alone: int
) -> RemainingCells:
    """Return the remaining and the cleared cells; a column is a code if too many cells belong to one person each."""
    counts = dict(cells_by_kind)
    if alone > requirement.unique * every:
        counts["unique_codes"] = max(alone, counts.get("unique_codes", 0))
    some = {kind: cells for kind, cells in counts.items() if cells}
    cleared = {kind: cells for kind, cells in some.items() if kind in look.cleared}
    return RemainingCells(look.name, {k: n for k, n in some.items() if k not in cleared}, cleared)


# What is left of the identifiers, in sentences; no cell is ever quoted.


_MOST = 6


class IdentifierCounts(Protocol):
    """The identifiers that a column shows."""

    @property
    def column(self) -> str:
        """Its name."""
        ...

    @property
    def cells(self) -> Mapping[Identifier, int]:
        """The cells of each kind that count."""
        ...

    @property
    def cleared(self) -> Mapping[Identifier, int]:
        """The cells of each kind that was cleared."""
        ...


def sentence(requirement: SafeHarbor, left: Sequence[IdentifierCounts], ctx: AuditContext) -> str:
    """Return the sentence for the report."""
    columns = [each for each in left if each.cells]
    looked = (
        f" {counted(len(left), 'column')} looked through; ages count at the end of {requirement.as_of}, ZIP areas by"
        f" {listed(requirement.small_areas, _MOST)}."
    )
    cleared = sum(bool(each.cleared) for each in left)
    by_people = f" The policy cleared {counted(cleared, 'column')} of some kind." if cleared else ""
    unseen = " Names and places in free text, and what somebody knows besides, no tool finds."
    if not columns:
        return f"No cell shows one of the 18 identifiers in a form that can be found.{looked}{by_people}{unseen}"
    kinds = [k for k in IDENTIFIERS if any(k in each.cells for each in columns)]
    cells = sum(sum(each.cells.values()) for each in columns)
    words = listed([f"{WORDS[k][1]} ({WORDS[k][0]})" for k in kinds], _MOST)
    names = listed([f"`{each.column}`" for each in columns], _MOST)
    del ctx
    return f"{counted(cells, 'cell')} of {names} may show {words}.{looked}{by_people}"


def findings(requirement: SafeHarbor, left: Sequence[IdentifierCounts], ctx: AuditContext) -> Iterator[Finding]:
    """Yield a finding for each column with something left (PPF943), and for each that was cleared (PPF944)."""
    for each in left:
        subject = f"{ctx.release}.{each.column}"
        if each.cells:
            text = f"`{each.column}`: {_listed(each.cells)} by form, name or values"
            yield Finding("PPF943", Severity.WARNING, text, subject)
        if each.cleared:
            text = f"`{each.column}` counts for nothing by the policy's `cleared`, and shows {_listed(each.cleared)}"
            yield Finding("PPF944", Severity.WARNING, text, subject)
    released = {each.column for each in left}
    for name in sorted(set(requirement.cleared) - released):
        text = f"`cleared` names `{name}`, which the release does not have"
        yield Finding("PPF944", Severity.WARNING, text, f"{ctx.release}.{name}")


def _listed(cells: Mapping[Identifier, int]) -> str:
    return listed([f"{counted(n, 'cell')} of {WORDS[kind][1]} ({WORDS[kind][0]})" for kind, n in cells.items()], _MOST)


# The distinct cells of a released column with their rows, by two routes; which of them one person alone has.


@dataclass(frozen=True, slots=True, eq=False)
class NormalizedCells:
    """Normalized texts of distinct cells, their rows (int64), and whether one row, or one person, alone has each."""

    texts: pa.StringArray
    rows: npt.NDArray[np.int64]
    alone: npt.NDArray[np.bool_]


def cells_of(look: ScannedColumn, candidate: DataView, ctx: AuditContext) -> NormalizedCells:
    """Count the cells. Raises UnmeasuredError where sets are randomized, or nothing says whose the rows are."""
    if look.sets:
        return _items(look, candidate)
    counts = ReleasedRows(candidate, ctx).counts((look.name,), _subject(ctx))
    codes, texts = counts.codes[:, 0], counts.categories[0]
    known = codes >= 0
    rows = np.bincount(codes[known], counts.counts[known], minlength=len(texts)).astype(np.int64)
    people = np.bincount(codes[known], minlength=len(texts)) if _subject(ctx) else rows
    used = rows > 0
    return NormalizedCells(normalized(texts.filter(pa.array(used))), rows[used], people[used] == 1)


def queried_cells(look: ScannedColumn, candidate: DataView, ctx: AuditContext, sql: Sql) -> pa.Table:
    """Return the same in SQL, as a table of id, v, n and alone. Raises UnmeasuredError as above."""
    if look.sets:
        _items(look, candidate)
        each = f"SELECT UNNEST({quoted(look.name)}) AS v FROM candidate"  # noqa: S608  # an identifier, quoted
        each = f"SELECT v, COUNT(*) AS n, FALSE AS alone FROM ({each}) GROUP BY v"  # noqa: S608  # the same
        return _plain(sql.table(f"SELECT ROW_NUMBER() OVER () AS id, * FROM ({each})"))  # noqa: S608  # the same
    subject = _subject(ctx)
    relation = ReleasedRows(candidate, ctx).relation((look.name,), subject)
    if relation is None:
        raise ValueError("rows must be readable by SQL, but they have no database relation")
    people = "COUNT(DISTINCT c1)" if subject else "SUM(n)"
    grouped = f"SELECT c0 AS v, CAST(SUM(n) AS BIGINT) AS n, {people} = 1 AS alone FROM ({relation.text}) GROUP BY c0"  # noqa: S608  # our own query
    known = f"SELECT ROW_NUMBER() OVER () AS id, * FROM ({grouped}) WHERE v IS NOT NULL AND v <> '{SUPPRESSED_TEXT}'"  # noqa: S608  # the same
    return _plain(sql.table(known, (), relation.tables))


def _plain(cells: pa.Table) -> pa.Table:
    """Return the same cells with normalized texts."""
    texts = cells.column("v").combine_chunks().cast(pa.string())
    texts = pa.concat_arrays(texts.chunks) if isinstance(texts, pa.ChunkedArray) else texts
    return cells.set_column(cells.schema.get_field_index("v"), "v", normalized(texts))


def _subject(ctx: AuditContext) -> tuple[str, ...]:
    """Return the attribute that says whose a row is, where people are counted. Raises UnmeasuredError."""
    if ctx.people is None or ctx.generation is not None:
        return ()
    require_people(ctx.people, ctx)
    return (ctx.people.subject,)


def _items(look: ScannedColumn, candidate: DataView) -> NormalizedCells:
    """Count the items of sets; of one row alone are many that occur once, so that none is a code for that."""
    texts = pa.array([], pa.string())
    rows = np.zeros(0, dtype=np.int64)
    for part in candidate.partitions([look.name]):
        sets = part.sets[look.name]
        if not isinstance(sets, Baskets):
            text = f"The sets of `{look.name}` are randomized: what their items show cannot be told from noise."
            raise RandomizedError(text)
        both = union([texts, sets.categories])
        counts = np.zeros(len(both), dtype=np.int64)
        counts[_places(texts, both)] += rows
        np.add.at(counts, _places(sets.categories, both)[sets.items], 1)
        texts, rows = both, counts
    used = rows > 0
    return NormalizedCells(normalized(texts.filter(pa.array(used))), rows[used], np.zeros(int(used.sum()), dtype=bool))


def _places(texts: pa.StringArray, every: pa.StringArray) -> npt.NDArray[np.int64]:
    import pyarrow.compute as pc  # noqa: PLC0415  # only sets need it

    places: npt.NDArray[np.int64] = pc.index_in(texts, every).to_numpy(zero_copy_only=False).astype(np.int64)
    return places


# The first route: what the cells of a column of ages, years of birth or ZIP codes tell; Arrow reads their labels.


@dataclass(frozen=True, slots=True)
class Ranges:
    """The numbers that labels cover, ``low`` to ``high`` and both included; nan for what is no label.

    Open ends are infinite. ``exact``: the cell is the number itself.
    """

    low: Numbers
    high: Numbers
    exact: Mask


def shown_cells(texts: pa.StringArray) -> Mask:
    """Return which texts show anything at all: others are signs that cover what was there."""
    mask: Mask = ~matching(texts, COVERED)
    return mask


def ranges(texts: pa.StringArray) -> Ranges:
    """Return the numbers that each text covers: `42`, `>= 90`, `90+`, `[18, 65)`, `18-64`, `< 1935`."""
    stripped = pc.utf8_trim(texts, " ")
    low, high = np.full(len(texts), np.nan), np.full(len(texts), np.nan)
    exact = _number(stripped, EXACT, 1)
    low, high = _where(low, exact), _where(high, exact)
    since, until = _number(stripped, FROM, 2), _number(stripped, UP_TO, 2)
    low, high = _where(low, since), _where(high, until)
    low = _where(low, np.floor(_number(stripped, ABOVE, 1)) + 1)
    high = _where(high, np.ceil(_number(stripped, BELOW, 1)) - 1)
    high = np.where(np.isnan(high) & ~np.isnan(low), np.inf, high)
    low = np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low)
    ends = [_number(stripped, BETWEEN, 2, place) for place in (0, 1)]
    begins, stops = matching(stripped, r"^\("), matching(stripped, r"\)$")
    low = _where(low, np.where(begins, np.floor(ends[0]) + 1, ends[0]))
    high = _where(high, np.where(stops, np.ceil(ends[1]) - 1, ends[1]))
    return Ranges(low, high, ~np.isnan(exact))


def too_old(texts: pa.StringArray, *, coded: bool) -> Mask:
    """Return which cells of a column of ages tell an age above 89 more closely than `90 or older`.

    ``coded``: a step changed the ages, so that a plain 90 may mean all ages from there on. A cell with digits that is
    no label counts as well, since its meaning is unknown.
    """
    read = ranges(texts)
    old = read.low >= OLD
    category = (read.low == OLD) & (read.high >= OLDEST)
    if coded:
        category |= read.exact & (read.low == OLD)
    mask: Mask = (old & ~category) | _unread(texts, read)
    return mask


def born_too_early(texts: pa.StringArray, as_of: int) -> Mask:
    """Return which cells of a column of years of birth tell an age above 89 more closely than `90 or older`."""
    read, latest = ranges(texts), as_of - OLD
    category = (read.high == latest) & (read.low <= as_of - OLDEST)
    mask: Mask = ((read.high <= latest) & ~category) | _unread(texts, read)
    return mask


def told_births(texts: pa.StringArray, as_of: int) -> Mask:
    """Return which texts tell a year of birth beside a word for it, and by that an age above 89."""
    fields = pc.extract_regex(texts, BORN.replace("((?:18", "(?P<year>(?:18", 1))
    years = pc.cast(pc.if_else(pc.is_valid(fields), fields.field("year"), None), pa.int64())
    early: Mask = pc.less_equal(years, as_of - OLD).fill_null(False).to_numpy(zero_copy_only=False)
    return early


def too_fine(texts: pa.StringArray, areas: Iterable[str]) -> Mask:
    """Return which cells of a column of ZIP codes tell more than three digits, or those of a small area.

    Fewer than three bare digits are an area whose zeros in front were lost: 36 is 036.
    """
    fine = ~matching(texts, ZIP)
    digits = pc.extract_regex(texts, r"^(?P<d>[0-9]{1,3})").field("d").fill_null("")
    bare = matching(texts, r"^[0-9]+$")
    area = pc.if_else(pa.array(bare), pc.utf8_lpad(digits, 3, "0"), digits)
    small: Mask = pc.is_in(area, pa.array(sorted(areas), pa.string())).to_numpy(zero_copy_only=False)
    mask: Mask = (fine | small) & shown_cells(texts)
    return mask


def _unread(texts: pa.StringArray, read: Ranges) -> Mask:
    mask: Mask = np.isnan(read.low) & np.isnan(read.high) & matching(texts, "[0-9]")
    return mask


def _number(texts: pa.StringArray, pattern: str, groups: int, place: int | None = None) -> Numbers:
    """Return the number of a pattern's group ``place``, or of the only one of its groups that is filled; else nan."""
    names = [f"g{i}" for i in range(groups)]
    named = pattern
    for name in names:
        named = named.replace("([0-9]", f"(?P<{name}>[0-9]", 1)
    fields = pc.extract_regex(texts, named)
    chosen = names if place is None else [names[place]]
    numbers = np.full(len(texts), np.nan)
    for name in chosen:
        group = fields.field(name)
        filled = pc.if_else(pc.and_(pc.is_valid(fields), pc.not_equal(group, "")), group, None)
        numbers = _where(numbers, pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False))
    return numbers


def _where(first: Numbers, other: Numbers) -> Numbers:
    return np.where(np.isnan(first), other, first)


# Numbers and their labels, as released cells write them: ages, years of birth, ZIP codes.
#
# Expressions have to be found in a cell that has no blanks at its ends.


_N = r"([0-9]+(?:\.[0-9]+)?)"

EXACT = rf"^{_N}$"
"""A number."""
FROM = rf"^(?:>=|≥) ?{_N}$|^{_N} ?(?:\+|(?:years )?(?:and|or) (?:older|over|above|up|more|later))$"
"""A number and all above it."""
ABOVE = rf"^> ?{_N}$"
"""All above a number."""
UP_TO = rf"^(?:<=|≤) ?{_N}$|^{_N} (?:years )?(?:and|or) (?:younger|under|below|less|earlier|before)$"
"""A number and all below it."""
BELOW = rf"^< ?{_N}$"
"""All below a number."""
BETWEEN = rf"^[\[(]?{_N}(?: ?(?:,|-|–|\.\.) ?| to ){_N}[\])]?$"
"""From one number to another: the ends belong to it unless a round bracket says otherwise."""
COVERED = r"^[*xX#?_.-]*$"
"""A cell that shows nothing."""
ZIP = r"^(?:[0-9]{0,3}[*xX#]+|[0-9]{1,3}|00000)$"
"""What may be left of a ZIP code: three digits, with or without signs for the others, or less."""

OLD = 90
"""Ages from here on are one category (164.514(b)(2)(i)(C))."""
OLDEST = 120
"""Nobody is older, so that 90 to 120 is the same as 90 or older."""


# The second route: the cells of the released file, grouped and looked through in SQL, check digits included.


_TRIMMED = "trim(v)"
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_ALPHABET = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ"
"""A character's place in it ends in its value."""
_PARTS = ("accounts", "devices", "vehicles")


def counted_sql(look: ScannedColumn, areas: Iterable[str], as_of: int) -> tuple[str, tuple[Identifier, ...]]:
    """Return a SELECT of how many cells show each kind, over ``cells`` with id, v and n, and the kinds in order.

    The last two columns are the cells that show anything, and those that are alone: ``alone`` of ``cells`` says which.
    """
    conditions = dict(_conditions(look, areas, as_of))
    sums = [f"COALESCE(SUM(n) FILTER (WHERE {text}), 0)" for text in conditions.values()]
    shown = f"NOT {_matches_sql('v', COVERED)}"
    sums += [f"COALESCE(SUM(n) FILTER (WHERE {shown}), 0)", f"COALESCE(SUM(n) FILTER (WHERE {shown} AND alone), 0)"]
    source = f"cells LEFT JOIN ({_checked()}) AS parts USING (id)" if look.texts else "cells"
    return f"SELECT {', '.join(sums)} FROM {source}", tuple(conditions)  # noqa: S608  # our own texts and numbers


def _conditions(look: ScannedColumn, areas: Iterable[str], as_of: int) -> Iterator[tuple[Identifier, str]]:
    """Yield each kind with the condition that a cell shows it."""
    for kind, patterns in PATTERNS.items():
        some = [_matches_sql(_NO_NAMES if kind == "names" else "v", p) for p in patterns] if look.texts else []
        if look.texts and kind == "ages":
            some.append(f"COALESCE(TRY_CAST(regexp_extract(v, {_quoted(BORN)}, 1) AS INTEGER) <= {as_of - OLD}, FALSE)")
        if look.texts and kind in _PARTS:
            some.append(f"COALESCE({kind}, FALSE)")
        some += [text for wanted, text in _of_column(look, areas, as_of) if wanted == kind]
        if kind in look.named:
            some.append("TRUE")
        yield kind, f"(NOT {_matches_sql('v', COVERED)}) AND ({' OR '.join(some) or 'FALSE'})"


def _of_column(look: ScannedColumn, areas: Iterable[str], as_of: int) -> Iterator[tuple[Identifier, str]]:
    if look.zips:
        yield "zip_codes", _too_fine(areas)
    if look.ages:
        old, oldest = OLD, OLDEST
        plain = f" OR ({_is(EXACT)} AND {_low()} = {old})" if look.coded else ""
        category = f"({_low()} = {old} AND COALESCE({_high()}, {oldest}) >= {oldest}){plain}"
        yield "ages", f"COALESCE({_low()} >= {old} AND NOT ({category}), FALSE) OR {_unread_sql()}"
    if look.births:
        last, first = as_of - OLD, as_of - OLDEST
        category = f"({_high()} = {last} AND COALESCE({_low()}, {first}) <= {first})"
        yield "ages", f"COALESCE({_high()} <= {last} AND NOT {category}, FALSE) OR {_unread_sql()}"


def _too_fine(areas: Iterable[str]) -> str:
    digits = "regexp_extract(v, '^([0-9]{1,3})', 1)"
    area = f"CASE WHEN {_matches_sql('v', '^[0-9]+$')} THEN lpad({digits}, 3, '0') ELSE {digits} END"
    return f"(NOT {_matches_sql('v', ZIP)} OR {area} IN ({', '.join(map(_quoted, sorted(areas)))}))"


def _low() -> str:
    """Return the least number that a label covers, NULL where it has none."""
    end = _group(BETWEEN, 1)
    between = f"CASE WHEN {_TRIMMED}[1] = '(' THEN floor({end}) + 1 ELSE {end} END"
    since = f"COALESCE({_group(FROM, 1)}, {_group(FROM, 2)}, floor({_group(ABOVE, 1)}) + 1)"
    return f"COALESCE({_group(EXACT, 1)}, {since}, {between})"


def _high() -> str:
    """Return the greatest number that a label covers, NULL where it has none."""
    end = _group(BETWEEN, 2)
    between = f"CASE WHEN {_TRIMMED}[-1] = ')' THEN ceil({end}) - 1 ELSE {end} END"
    until = f"COALESCE({_group(UP_TO, 1)}, {_group(UP_TO, 2)}, ceil({_group(BELOW, 1)}) - 1)"
    return f"COALESCE({_group(EXACT, 1)}, {until}, {between})"


def _unread_sql() -> str:
    """Return the condition that a cell is no label and has digits."""
    every = (EXACT, FROM, ABOVE, UP_TO, BELOW, BETWEEN)
    return f"({_matches_sql('v', '[0-9]')} AND NOT ({' OR '.join(map(_is, every))}))"


def _is(pattern: str) -> str:
    return _matches_sql(_TRIMMED, pattern)


def _group(pattern: str, group: int) -> str:
    return f"TRY_CAST(NULLIF(regexp_extract({_TRIMMED}, {_quoted(pattern)}, {group}), '') AS DOUBLE)"


def _checked() -> str:
    """Return a SELECT of the cells with long parts, and whether one is a card, a mobile device or a vehicle."""
    joined = "v"
    for _ in range(2):
        joined = f"regexp_replace({joined}, {_quoted(GROUPED[0])}, {_quoted(GROUPED[1])}, 'g')"
    both = f"v || ' ' || {joined}"
    long = _matches_sql("v", LONG)
    parts = f"SELECT id, UNNEST(string_split_regex({both}, {_quoted(TOKENS)})) AS t FROM cells WHERE {long}"  # noqa: S608  # our own texts
    luhn = _luhn()
    conditions = {
        "accounts": f"{_matches_sql('t', CARD)} AND {luhn}",
        "devices": f"{_matches_sql('t', IMEI)} AND {luhn}",
        "vehicles": f"{_matches_sql('t', VIN)} AND {_vin()}",
    }
    each = ", ".join(f"BOOL_OR({text}) AS {kind}" for kind, text in conditions.items())
    return f"SELECT id, {each} FROM ({parts}) GROUP BY id"  # noqa: S608  # the same


def _luhn() -> str:
    """Return the condition that the last digit checks: the sum of all digits, every other one doubled, ends in 0."""
    digit = [f"TRY_CAST(substr(reverse(t), {i}, 1) AS INTEGER)" for i in range(1, 20)]
    plain = [f"COALESCE({d}, 0)" for d in digit[::2]]
    doubled = [f"COALESCE(({d} * 2) // 10 + ({d} * 2) % 10, 0)" for d in digit[1::2]]
    return f"({' + '.join((*plain, *doubled))}) % 10 = 0"


def _vin() -> str:
    """Return the condition that the ninth character checks: the weighted sum modulo 11, X for 10."""
    values = [f"((strpos('{_VIN_ALPHABET}', upper(substr(t, {i}, 1))) - 1) % 10)" for i in range(1, 18)]
    total = " + ".join(f"{w} * {v}" for w, v in zip(_VIN_WEIGHTS, values, strict=True))
    return f"substr('0123456789X', 1 + CAST(({total}) % 11 AS INTEGER), 1) = upper(substr(t, 9, 1))"


def _matches_sql(where: str, pattern: str) -> str:
    return f"regexp_matches({where}, {_quoted(pattern)})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_NO_NAMES = f"regexp_replace(v, {_quoted(NO_NAMES)}, ' ', 'g')"
"""A cell without what only looks like a title and a name."""
