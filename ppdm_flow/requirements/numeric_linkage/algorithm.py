"""The share of original records that an intruder finds again by taking the nearest released rows.

The intruder knows the original numbers of a record in some attributes, and names the released rows nearest to them in
one of three spaces, or those of the largest weights by which attributes agree. The method that finds most counts. Of
several released columns of one attribute the intruder takes the mean, weighted by how near each is on average. Rows are
paired by their number in the source, so the order of rows protects nothing here. The figure is reported beside the
share that naming rows at random finds (Domingo-Ferrer, Torra, 2001; the covariance of errors: Torra, Abowd,
Domingo-Ferrer, PSD 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding, Measured
from ppdm_flow.mining.classes.wording import unmeasured
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.numeric_linkage.control import (
    ERROR,
    MatchChances,
    Metric,
    Nearest,
    clopper_pearson,
    control_figures,
    excess,
    near,
    upper_ends,
    wilson,
)
from ppdm_flow.requirements.numeric_linkage.nearest import (
    FLOOR,
    SLACK,
    IntruderKnowledge,
    LinkageMethod,
    LinkageNumbers,
    NearerCounts,
    Units,
    every_distance,
    metric_of,
    nearest_squares,
    patterns,
    places,
)
from ppdm_flow.requirements.numeric_linkage.reading import read, read_sql
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage, NumericLinkageParams
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_sql, places_sql, unlike, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import MAHALANOBIS, Codes, Space, Truth, spaces
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView

Patterns = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _LinkageMeasure:
    """The ``prefix`` of the figures, what the intruder knows, how many rows it names, and who asks for it."""

    prefix: str
    known: IntruderKnowledge
    candidates: int
    requirement: NumericLinkage | None

    @property
    def bounded(self) -> dict[str, float]:
        """The figures that have a bound, which is 1 where nobody asks for one."""
        requirement = self.requirement
        if requirement is None or requirement.max_excess is None:
            return {"share_bound": 1.0 if requirement is None else requirement.max}
        beyond = {"excess_bound": requirement.max_excess}
        outside = {} if requirement.control is None else {"control_excess_bound": requirement.max_excess}
        return {"share_bound": requirement.max} | beyond | outside

    def columns(self, candidate: DataView, ctx: AuditContext) -> list[tuple[str, str]]:
        """Return the released columns, each with the attribute that it is computed from."""
        return [(c, a) for a in self.known.attributes for c in carriers(a, candidate, ctx)]


class NumericLinkageAudit:
    """Looks for a sample of original records among the released rows."""

    def __init__(self, params: NumericLinkageParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of records that are found, by space, with intervals where they are a sample."""
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        for wanted in self._wanted(ctx):
            columns = wanted.columns(candidate, ctx)
            if not columns:
                figures[f"{wanted.prefix}columns"] = Figure(0, "columns")
                measured.extend(nothing(r) for r in (wanted.requirement,) if r is not None)
                continue
            try:
                lookup = read(wanted.known, columns, original, candidate, ctx)
            except UnmeasuredError as fault:
                lacking = {name: Figure(None, "share", note=fault.text) for name in wanted.bounded}
                figures |= {f"{wanted.prefix}{name}": figure for name, figure in lacking.items()}
                measured.extend(_judged(wanted, lacking, fault.text, verifiable=False))
                findings.append(unmeasured(wanted.prefix.removesuffix(".") or "numeric_linkage", fault))
                continue
            own = _figures(wanted, lookup, find(lookup, wanted.candidates), len(columns))
            figures |= {f"{wanted.prefix}{name}": figure for name, figure in own.items()}
            text = sentence(wanted.known, wanted.candidates, own, people=ctx.people is not None)
            measured.extend(_judged(wanted, own, text))
        return AuditOutcome(figures, tuple(measured), tuple(findings))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Read the numbers again in SQL, and compare every record of the sample with every row."""
        figures: dict[str, float | int | None] = {}
        for wanted in self._wanted(ctx):
            columns = wanted.columns(candidate, ctx)
            if not columns:
                figures[f"{wanted.prefix}columns"] = 0
                continue
            if ctx.sql is None:
                continue
            try:
                lookup = read_sql(wanted.known, columns, original, candidate, ctx)
            except UnmeasuredError:
                continue
            own = _figures(wanted, lookup, find_sql(ctx.sql, lookup, wanted.candidates), len(columns))
            figures |= {f"{wanted.prefix}{name}": figure.value for name, figure in own.items()}
        return figures

    def _wanted(self, ctx: AuditContext) -> Iterator[_LinkageMeasure]:
        own = [r for r in ctx.requirements if isinstance(r, NumericLinkage)]
        for each in own:
            yield _LinkageMeasure(f"{each.id}.", _known_by(each, each.attributes), each.candidates, each)
        if not own and self.params.attributes is not None:
            known = _known_by(self.params, self.params.attributes)
            yield _LinkageMeasure("", known, self.params.candidates, None)


def _known_by(settings: NumericLinkage | NumericLinkageParams, attributes: tuple[str, ...]) -> IntruderKnowledge:
    return IntruderKnowledge(attributes, settings.sample, settings.control, settings.against, settings.key)


def _figures(wanted: _LinkageMeasure, lookup: LinkageNumbers, result: LinkageResult, columns: int) -> dict[str, Figure]:
    own = figures_of(result.ways, result.of_rows, len(lookup.released), columns)
    if wanted.known.against is not None:
        own["people_known"] = Figure(len(lookup.known), "rows")
    return own | (control_figures(result.near) if result.near else {})


def _judged(
    wanted: _LinkageMeasure, figures: Mapping[str, Figure], text: str, *, verifiable: bool = True
) -> Iterator[Measured]:
    if wanted.requirement is None:
        return
    for name, bound in wanted.bounded.items():
        said = text if not verifiable else f"{text} At most {bound:.1%} is allowed."
        if verifiable and name == "excess_bound":
            said = excess_sentence(wanted.candidates, figures[name], bound)
        if verifiable and name == "control_excess_bound":
            said = control_sentence(figures, bound)
        metric = f"{wanted.prefix}{name}"
        yield Measured(wanted.requirement.id, metric, figures[name], bound, True, said, verifiable=verifiable)


# What numeric linkage means, in a sentence.


def nothing(requirement: NumericLinkage) -> Measured:
    """Return that it holds: nothing is released that is computed from what the intruder knows."""
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.columns",
        figure=Figure(0, "columns"),
        bound=0.0,
        at_most=True,
        sentence=f"Nothing is released that is computed from {listed(requirement.attributes)}, so nobody is found by"
        " it.",
    )


def sentence(known: IntruderKnowledge, candidates: int, figures: Mapping[str, Figure], *, people: bool = False) -> str:
    """Return the sentence for the report."""
    share, bound = float(figures["share"].value or 0.0), float(figures["share_bound"].value or 0.0)
    records, records_known = int(figures["records"].value or 0), int(figures["records_known"].value or 0)
    chance = float(figures["chance_share"].value or 0.0)
    knows = "knows a record's original" if known.against is None else "has a file with somebody's"
    named = "the nearest released row" if candidates == 1 else f"the {candidates:,} nearest released rows"
    finds, units = "finds its own", counted(records, "record")
    if people:
        finds, units = "finds one of the same person by any of its records", f"{records:,} people"
    text = (
        f"An intruder who {knows} {listed(known.attributes)} and names {named} {finds} in {share:.1%} of {units}; at"
        f" random it would be {chance:.2g} of them."
    )
    if known.against is not None:
        lines = int(figures["people_known"].value or 0)
        text += f" Of the {lines:,} in the file {records_known:,} have all numbers and a released row."
    if records < records_known:
        text += f" They are a sample of {records_known:,}: in all it is at most {bound:.1%}, with 95 % confidence."
    if records < min(records_known, known.sample):
        text += f" No more of the {known.sample:,} allowed are looked for: the pairs with rows would be too many."
    return text


def excess_sentence(candidates: int, figure: Figure, bound: float) -> str:
    """Return the sentence on how far that exceeds naming rows at random."""
    if figure.value is None:
        return "An intruder who names that many rows names all of them, so nothing can be found beyond chance."
    named = "one row" if candidates == 1 else f"1 to {candidates:,} rows"
    return (
        f"An intruder who names {named} finds at most {figure.value:.1%} of the records that naming rows at random"
        f" misses. At most {bound:.1%} is allowed."
    )


def control_sentence(figures: Mapping[str, Figure], bound: float) -> str:
    """Return the sentence on how far people of the source are nearer to the release than others."""
    bounds = {name: f for name, f in figures.items() if name.endswith("_control_excess") and f.interval is not None}
    way = max(bounds, key=lambda name: (bounds[name].interval or (0.0, 0.0))[1]).removesuffix("_control_excess")
    inside, outside = (float(figures[f"{way}_{name}"].value or 0.0) for name in ("near_share", "control_share"))
    others = int(figures["control_records"].value or 0)
    return (
        f"Some released row is near to {inside:.1%} of the source's records, and to {outside:.1%} of"
        f" {counted(others, 'record')} of a control group that is not in it: that is at most"
        f" {float(figures['control_excess_bound'].value or 0.0):.1%} beyond, with 95 % confidence. At most {bound:.1%}"
        " is allowed."
    )


# The ways in which records and people are looked for, and the control group, by both routes.


TOGETHER = "together"
"""The way that goes by all rows of a person."""


@dataclass(frozen=True, slots=True)
class LinkageResult:
    """``ways`` of the people, or of the records where these are counted; ``of_rows`` those of records beside people.

    ``near`` is who is taken for found, by space; nobody where there is no control group.
    """

    ways: tuple[LinkageMethod, ...]
    of_rows: tuple[LinkageMethod, ...]
    near: Mapping[str, MatchChances]


@dataclass(frozen=True, slots=True)
class _Route:
    places: Callable[[Space, Ints, int], NearerCounts]
    by_weight: Callable[[Floats, Floats, Truth, Ints, Codes], NearerCounts]
    of_people: Callable[[Space, Units], NearerCounts]
    metric: Metric
    nearest: Nearest


# Probabilistic linkage: the released rows are ranked by how much likelier their agreements are in one person's row.
#
# A released number agrees with a known one where they are as near as half of the errors are; a hidden one agrees with
# none. The weight of a row is the sum over attributes of log(m/u) where it agrees and log((1 - m)/(1 - u)) where it
# does not: u is how often rows of two people agree, m how often those of one person do, by EM from all pairs (Fellegi,
# Sunter, JASA 64, 1969; Jaro, JASA 84, 1989).


def places_by_weight(known: Floats, released: Floats, truth: Truth, sample: Ints, codes: Codes) -> NearerCounts:
    """Return the place of the own row of each record of ``sample`` among the rows, by weight.

    ``known`` (records, attributes), ``released`` (rows, attributes); categories come after the numbers.
    """
    wide = widths(known, released, truth)
    categories = compared(wide, codes)
    size = 1 << (len(wide) + categories)
    counts = np.zeros((len(sample), size), np.int64)
    for block, agreements in _patterns(known, released, sample, wide, codes):
        for place, row in enumerate(agreements, block.start):
            counts[place] = np.bincount(row, minlength=size)
    mine = np.zeros_like(counts)
    for some, firsts, rows in truth.own_rows(sample):
        of_rows = np.repeat(np.arange(some.start, some.stop), np.diff(firsts, append=len(rows)))
        records = sample[of_rows]
        agree = np.abs(released[rows, : len(wide)] - known[records, : len(wide)]) <= wide
        same = codes.released[rows, :categories] == codes.known[records, :categories]
        np.add.at(mine, (of_rows, np.hstack((agree, same)) @ (1 << np.arange(len(wide) + categories))), 1)
    return among(weights_of(counts.sum(axis=0), len(released)), counts, mine)


# Linking people by all of their rows, where a pseudonym shows which released rows are one person's.
#
# The intruder takes for each of the records that it knows the nearest row of a pseudonym, adds these squared distances
# up, and names the pseudonyms with the least sums.


def places_of_people(space: Space, units: Units) -> NearerCounts:
    """Return the place of each person's own rows among the people of the release, by every distance."""
    owner = space.truth.owner
    order = np.argsort(owner, kind="stable")
    people, firsts = np.unique(owner[order], return_index=True)
    person_places = [np.zeros((3, 0))]
    for some, records in units.blocks(max(1, _TOGETHER_CELLS // max(1, len(owner)))):
        mine = units.records[records]
        squares = np.empty((len(mine), len(owner)))
        for block, members, distances in every_distance(space, space.known[mine], space.codes.known[mine]):
            squares[block, members] = distances
        least = np.minimum.reduceat(squares[:, order], firsts, axis=1)
        sums = np.add.reduceat(least, units.firsts[some] - records.start, axis=0)
        person_places.append(
            _placed(sums, np.searchsorted(people, space.truth.whose[units.records[units.firsts[some]]]))
        )
    return NearerCounts(*np.hstack(person_places))


_FIRST = _Route(places, places_by_weight, places_of_people, metric_of, nearest_squares)


def find(known: LinkageNumbers, candidates: int) -> LinkageResult:
    """Look for the records by trees and in memory."""
    return _find(known, candidates, _FIRST)


def find_sql(sql: Sql, known: LinkageNumbers, candidates: int) -> LinkageResult:
    """Look for them along sorted attributes and in SQL."""
    by_weight = partial(places_by_weight_sql, sql)
    return _find(known, candidates, _Route(places_sql, by_weight, places_of_people_sql, whitening, nearest_squares_sql))


def _find(known: LinkageNumbers, candidates: int, route: _Route) -> LinkageResult:
    by_space = spaces(known.known, known.released, known.truth, known.others, known.codes)
    ways = _ways(known, by_space, known.units, candidates, route)
    of_rows = [] if known.rows is None else _ways(known, by_space, known.rows, candidates, route)
    people = len(np.unique(known.truth.owner))
    if known.linked and (people < len(known.released) or not known.units.alone):
        numbers_alone = MAHALANOBIS in by_space and not known.codes.width
        together = route.of_people(by_space[MAHALANOBIS if numbers_alone else "euclidean"], known.units)
        guesses = np.minimum(1.0, np.arange(1.0, candidates + 1) / people)
        chances_and_hits = together.chances(candidates), together.hits(candidates)
        ways.append(LinkageMethod(TOGETHER, *chances_and_hits, guesses, known.units.eligible_units))
    return LinkageResult(tuple(ways), tuple(of_rows), _near(known, by_space, route))


def _ways(
    known: LinkageNumbers, by_space: Mapping[str, Space], units: Units, candidates: int, route: _Route
) -> list[LinkageMethod]:
    places_by_method = {name: route.places(space, units.records, candidates) for name, space in by_space.items()}
    numbers = known.known, known.released
    places_by_method[PROBABILISTIC] = route.by_weight(*numbers, known.truth, units.records, known.codes)
    return [
        LinkageMethod.of(name, each, units, candidates, len(known.released)) for name, each in places_by_method.items()
    ]


def _near(known: LinkageNumbers, by_space: Mapping[str, Space], route: _Route) -> Mapping[str, MatchChances]:
    """Return who counts as found: the first record of each person, compared with those of other people."""
    if known.others is None:
        return {}
    mine = known.units.records[known.units.firsts]
    return {n: near(space, mine, known.complete, route.metric, route.nearest) for n, space in by_space.items()}


PROBABILISTIC = "probabilistic"
ATTRIBUTES = 8
"""So many attributes are compared, the first ones, numbers before categories: they have 2^8 patterns of agreement."""
_CELLS = 1 << 17
"""So many pairs are compared together: they fit a cache."""

_ROUNDS = 100
_LEAST = 1e-6
"""Probabilities are between that and 1 less that."""


def widths(known: Floats, released: Floats, truth: Truth) -> Floats:
    """Return how far apart numbers may be that agree, (attributes,): the median of the absolute errors."""
    errors = np.abs(truth.errors(known, released))[:, :ATTRIBUTES]
    sizes = [np.median(e[~np.isnan(e)]) if (~np.isnan(e)).any() else 0.0 for e in errors.T]
    return np.asarray(sizes + SLACK * (sizes + np.nanmax(np.abs(known[:, :ATTRIBUTES]), axis=0)))


def compared(wide: Floats, codes: Codes) -> int:
    """Return how many columns of categories are compared beside the numbers."""
    return min(codes.width, ATTRIBUTES - len(wide))


def weights_of(pairs: Ints, rows: int) -> Floats:
    """Return the weight of each pattern from how many pairs have it: bit a is set where attribute a agrees.

    One of ``rows`` pairs is taken to be one person's. Weights are rounded, so that patterns that say the same tie.
    """
    agrees = (np.arange(len(pairs))[:, np.newaxis] >> np.arange(len(pairs).bit_length() - 1)) & 1 == 1
    u = _share(pairs.astype(np.float64), agrees)
    m = np.full(len(u), 0.9)
    for _ in range(_ROUNDS):
        odds = np.exp(_weights(agrees, m, u)) / max(1, rows - 1)
        expected = pairs * odds / (1 + odds)
        m, u = _share(expected, agrees), _share(pairs - expected, agrees)
    return np.round(_weights(agrees, m, u), 6)


def among(weights: Floats, counts: Ints, own: Ints) -> NearerCounts:
    """Return the places. ``counts`` and ``own``, (records, patterns): the rows of each, and the own rows."""
    order = np.argsort(-weights, kind="stable")
    ranked, below = -weights[order], np.cumsum(counts[:, order], axis=1)
    below = np.concatenate((np.zeros((len(counts), 1), below.dtype), below), axis=1)
    each = np.arange(len(own))
    best = ranked[np.argmax(own[:, order] > 0, axis=1)]
    sides = [below[each, np.searchsorted(ranked, best, side=s)] for s in ("left", "right")]
    ties = np.where(-weights == best[:, np.newaxis], own, 0).sum(axis=1)
    return NearerCounts(*(each.astype(np.float64) for each in (*sides, ties)))


def _share(pairs: Floats, agrees: npt.NDArray[np.bool_]) -> Floats:
    return np.clip(pairs @ agrees / max(float(pairs.sum()), _LEAST), _LEAST, 1 - _LEAST)


def _weights(agrees: npt.NDArray[np.bool_], m: Floats, u: Floats) -> Floats:
    return np.asarray(np.where(agrees, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=1))


def _patterns(
    known: Floats, released: Floats, sample: Ints, wide: Floats, codes: Codes
) -> Iterator[tuple[slice, Patterns]]:
    """Yield places in the sample, some at a time, with their patterns with every row, (records, rows)."""
    size = max(1, _CELLS // max(1, len(released)))
    columns = [np.ascontiguousarray(released[:, j]) for j in range(len(wide))]
    categories = [np.ascontiguousarray(codes.released[:, j]) for j in range(compared(wide, codes))]
    for start in range(0, len(sample), size):
        block = slice(start, min(start + size, len(sample)))
        agreements = np.zeros((block.stop - start, len(released)), np.uint8)
        for j, column in enumerate(columns):
            agree = np.abs(column - known[sample[block], j][:, np.newaxis]) <= wide[j]
            agreements |= agree.view(np.uint8) << np.uint8(j)
        for j, category in enumerate(categories):
            same = category == codes.known[sample[block], j][:, np.newaxis]
            agreements |= same.view(np.uint8) << np.uint8(len(wide) + j)
        yield block, agreements


_TOGETHER_CELLS = 1 << 22
"""So many distances are held together."""


def places_of_people_sql(space: Space, units: Units) -> NearerCounts:
    """Return the same record by record, among the rows of each pattern of hidden attributes."""
    people, owner = np.unique(space.truth.owner, return_inverse=True)
    codes, owner = space.codes, owner.reshape(-1)
    person_places = [np.zeros((3, 0))]
    for some, records in units.blocks(max(1, _TOGETHER_CELLS // max(1, len(people)))):
        mine = units.records[records]
        least = np.full((len(mine), len(people)), np.inf)
        for shown, members in patterns(space):
            transform = whitening(space, np.flatnonzero(shown))
            rows = space.released[np.ix_(members, shown)] @ transform
            for i, point in enumerate(space.known[np.ix_(mine, shown)] @ transform):
                squares = ((rows - point) ** 2).sum(axis=1) + space.penalty(shown)
                squares += unlike(codes.released[members], codes.known[mine[i]], codes)
                np.minimum.at(least[i], owner[members], squares)
        place = np.repeat(np.arange(some.stop - some.start), _sizes(units, some))
        sums = np.zeros((some.stop - some.start, len(people)))
        np.add.at(sums, place, least)
        person_places.append(
            _placed(sums, np.searchsorted(people, space.truth.whose[units.records[units.firsts[some]]]))
        )
    return NearerCounts(*np.hstack(person_places))


def _sizes(units: Units, some: slice) -> Ints:
    return np.diff(units.firsts, append=len(units.records))[some]


def _placed(sums: Floats, own: Ints) -> Floats:
    """Return how many people are nearer, how many up to as near, and 1, each (units,)."""
    mine = sums[np.arange(len(own)), own][:, np.newaxis]
    nearer, upto = sums < mine * (1 - SLACK) - FLOOR, sums <= mine * (1 + SLACK) + FLOOR
    return np.stack((nearer.sum(axis=1), upto.sum(axis=1), np.ones(len(own)))).astype(np.float64)


_BLOCK = 4096
"""So many records are compared with every row by one query."""


def places_by_weight_sql(
    sql: Sql, known: Floats, released: Floats, truth: Truth, sample: Ints, codes: Codes
) -> NearerCounts:
    """Return the places that the first route computes."""
    wide = widths(known, released, truth)
    categories = compared(wide, codes)
    rows = {"owner": truth.owner} | {f"r{j}": pa.array(released[:, j], from_pandas=True) for j in range(len(wide))}
    rows |= {f"s{j}": codes.released[:, j] for j in range(categories)}
    shown = pa.table(rows)
    counted_blocks = []
    for start in range(0, len(sample), _BLOCK):
        block = sample[start : start + _BLOCK]
        records = {"i": np.arange(len(block)), "whose": truth.whose[block]}
        records |= {f"o{j}": known[block, j] for j in range(len(wide))}
        records |= {f"k{j}": codes.known[block, j] for j in range(categories)}
        counted_blocks.append(_counted(sql, pa.table(records), shown, wide, categories))
    counts, mine = (np.concatenate(each) for each in zip(*counted_blocks, strict=True))
    return among(weights_of(counts.sum(axis=0), len(released)), counts, mine)


def _counted(sql: Sql, known: pa.Table, shown: pa.Table, wide: Floats, categories: int) -> tuple[Ints, Ints]:
    """Return how many rows have each pattern with each record, and how many of its own rows."""
    agree = [
        f"CASE WHEN r{j} BETWEEN o{j} - {size!r}::DOUBLE AND o{j} + {size!r}::DOUBLE THEN {1 << j} ELSE 0 END"
        for j, size in enumerate(wide.tolist())
    ]
    agree += [f"CASE WHEN s{j} = k{j} THEN {1 << (len(wide) + j)} ELSE 0 END" for j in range(categories)]
    mine = "SUM(CAST(owner = whose AS INTEGER))"
    text = f"SELECT i, {' + '.join(agree)} AS code, COUNT(*), {mine} FROM known, shown GROUP BY i, code"  # noqa: S608  # numbers and our own names
    read = np.array(sql.rows(text, (), {"shown": shown, "known": known}), dtype=np.int64).reshape(-1, 4)
    counts = np.zeros((2, len(known), 1 << len(agree)), np.int64)
    counts[:, read[:, 0], read[:, 1]] = read[:, 2:].T
    return counts[0], counts[1]


# The figures of numeric linkage: the share that each way finds, and how far it exceeds that of guessing.


_NO_EXCESS = "so many named rows are all rows"

_NO_NUMBERS = "these distances are of numbers, and none is released"


def figures_of(
    ways: Sequence[LinkageMethod], of_rows: Sequence[LinkageMethod], rows: int, columns: int
) -> dict[str, Figure]:
    """Return the figures by name, without a prefix.

    ``ways`` look for records, or for people, among ``rows`` released rows; ``of_rows`` for records beside people.
    """
    every = (*ways, *of_rows)
    looked_for, eligible_units = len(ways[0].chances), ways[0].eligible_units
    shares, excesses = {}, {}
    bounds, excess_bounds, all_excesses = [], [], []
    for way in every:
        size = len(way.chances)
        error = ERROR / len(every) if size < way.eligible_units else None
        expected_hits, guessing = float(way.chances.sum()), float(way.guesses[-1])
        share = float(way.chances.mean())
        interval = None if error is None else clopper_pearson(expected_hits, size, error)
        bounds.append(share if interval is None else interval[1])
        upper = way.hits / size if error is None else upper_ends(way.hits, size, error)
        excess_bounds.append(_largest_excess(upper, way.guesses))
        all_excesses.append(_largest_excess(way.hits / size, way.guesses))
        if way in ways:
            shares[f"{way.name}_share"] = Figure(share, "share", interval, size)
            ends = None if error is None else wilson(share, size, error)
            excesses[f"{way.name}_excess"] = _excess(share, guessing, size, ends)
    if MAHALANOBIS not in {way.name for way in ways}:
        none = Figure(None, "share", sample=looked_for, note=_NO_NUMBERS)
        shares[f"{MAHALANOBIS}_share"] = excesses[f"{MAHALANOBIS}_excess"] = none
    if of_rows:
        shares["rows_share"] = Figure(
            max(float(w.chances.mean()) for w in of_rows), "share", sample=len(of_rows[0].chances)
        )
    return {
        "share_bound": Figure(max(bounds), "share", sample=looked_for),
        "share": Figure(max(float(way.chances.mean()) for way in every), "share", sample=looked_for),
        **shares,
        "chance_share": Figure(float(ways[0].guesses[-1]), "share"),
        "excess_bound": _of_all(excess_bounds, looked_for),
        "excess": _of_all(all_excesses, looked_for),
        **excesses,
        "records": Figure(looked_for, "rows"),
        "records_known": Figure(eligible_units, "rows"),
        "rows": Figure(rows, "rows"),
        "columns": Figure(columns, "columns"),
    }


def _largest_excess(shares: Floats, guesses: Floats) -> float | None:
    """Return the largest excess of ``shares`` that naming 1, 2, … rows finds, but for where guessing finds all."""
    pairs = zip(shares.tolist(), guesses.tolist(), strict=True)
    return max((excess(share, guessing) for share, guessing in pairs if guessing < 1.0), default=None)


def _of_all(excesses: Sequence[float | None], records: int) -> Figure:
    known = [each for each in excesses if each is not None]
    return Figure(max(known), "share", sample=records) if known else _none(records)


def _excess(share: float, guessing: float, records: int, ends: tuple[float, float] | None = None) -> Figure:
    if guessing >= 1.0:
        return _none(records)
    interval = None if ends is None else (excess(ends[0], guessing), excess(ends[1], guessing))
    return Figure(excess(share, guessing), "share", interval, records)


def _none(records: int) -> Figure:
    return Figure(None, "share", sample=records, note=_NO_EXCESS)
