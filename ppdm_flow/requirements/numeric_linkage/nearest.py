"""Where a record's own released row is among the nearest ones, by trees; ties share a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError
from ppdm_flow.requirements.numeric_linkage.spaces import UNKNOWN, Codes, Space, Truth, least_and_ties

Bools = npt.NDArray[np.bool_]
SLACK = 1e-9
"""Relative: squared distances that are nearer to each other are ties."""
FLOOR = 1e-12
"""Absolute: squared distances this near to each other are ties, however small both are."""
_DISTANCES = 1 << 22
"""So many are asked for together."""
Columns = Sequence[tuple[str, str]]
"""Released columns, each with the attribute that it is computed from."""


@dataclass(frozen=True, slots=True, eq=False)
class NearerCounts:
    """How many released rows are nearer to each record than its own one, and how many up to as near, the own included.

    ``nearer``, ``upto`` and ``own`` are (records,): of those at the least distance ``own`` are of the record's person.
    All are exact where fewer rows are nearer than were asked for.
    """

    nearer: Floats
    upto: Floats
    own: Floats

    def chances(self, candidates: int) -> Floats:
        """Return the chance that an own row is among so many candidates; those at one distance share the places."""
        return shared(self.nearer, self.upto, self.own, candidates)

    def hits(self, candidates: int) -> Floats:
        """Return the sum of these chances for 1, 2, … ``candidates``."""
        one = self.own <= 1
        nearer, upto = (np.minimum(end[one], candidates).astype(np.int64) for end in (self.nearer, self.upto))
        share = 1.0 / np.maximum(self.upto - self.nearer, 1.0)[one]  # from one end to the other each is a line
        begins, stops = (np.bincount(end, share, candidates + 1)[:candidates] for end in (nearer, upto))
        sums = np.cumsum(np.cumsum(begins - stops, dtype=np.float64))
        if not one.all():
            several = NearerCounts(self.nearer[~one], self.upto[~one], self.own[~one])
            sums += [several.chances(c).sum() for c in range(1, candidates + 1)]
        return np.asarray(sums)


def places(space: Space, sample: Ints, candidates: int) -> NearerCounts:
    """Return the place of the own row of each record of ``sample``, as far as so many candidates need it."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  # slow to import, and for this alone

    own, ties = own_squares(space, sample)
    low, high = own * (1 - SLACK) - FLOOR, own * (1 + SLACK) + FLOOR
    if space.codes.width:
        return NearerCounts(*_counted(space, sample, low, high), ties)
    nearer, upto = np.zeros(len(sample)), np.zeros(len(sample))
    groups = []
    for shown, members in patterns(space):
        metric = np.linalg.cholesky(space.precision(shown))
        metric = metric if shown.any() else np.zeros((0, 1))  # where all is hidden, all rows are one point
        points = space.known[np.ix_(sample, shown)] @ metric
        groups.append((cKDTree(space.released[np.ix_(members, shown)] @ metric), points, space.penalty(shown)))
    size = max(1, _DISTANCES // candidates)
    for tree, points, penalty in groups:  # more than the candidates need not be counted
        for start in range(0, len(sample), size):
            block = slice(start, start + size)
            nearest = tree.query(points[block], k=np.arange(1, min(tree.n, candidates) + 1))[0]
            nearer[block] += (nearest**2 + penalty < low[block, np.newaxis]).sum(axis=1)
    open_ = np.flatnonzero(nearer < candidates)
    for tree, points, penalty in groups:
        left = high[open_] - penalty
        some = open_[left >= 0]
        if len(some):
            upto[some] += tree.query_ball_point(points[some], np.sqrt(high[some] - penalty), return_length=True)
    return NearerCounts(nearer, np.maximum(upto, nearer + ties), ties)


def _counted(space: Space, sample: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return how many rows are nearer than ``low``, and up to ``high``, by every distance."""
    nearer, upto = np.zeros(len(sample)), np.zeros(len(sample))
    for block, _, squares in every_distance(space, space.known[sample], space.codes.known[sample]):
        nearer[block] += (squares < low[block, np.newaxis]).sum(axis=1)
        upto[block] += (squares <= high[block, np.newaxis]).sum(axis=1)
    return nearer, upto


def every_distance(space: Space, points: Floats, codes: Ints) -> Iterator[tuple[slice, Ints, Floats]]:
    """Yield some of the points, some released rows, and their squared distances, (points, rows)."""
    for shown, members in patterns(space):
        transform = metric_of(space, np.flatnonzero(shown))
        rows, seen = space.released[np.ix_(members, shown)] @ transform, points[:, shown] @ transform
        size = max(1, _DISTANCES // len(members))
        for start in range(0, len(points), size):
            block = slice(start, start + size)
            differ = space.codes.apart(codes[block, np.newaxis], space.codes.released[members])
            yield block, members, _squares(seen[block], rows) + space.penalty(shown) + differ


def _squares(points: Floats, rows: Floats) -> Floats:
    from scipy.spatial.distance import cdist  # noqa: PLC0415  # slow to import, and for this alone

    return np.asarray(cdist(points, rows, "sqeuclidean")) if rows.shape[1] else np.zeros((len(points), len(rows)))


def shared(nearer: Floats, upto: Floats, own: Floats, candidates: int) -> Floats:
    """Return the chance that a row of ``own`` ones is a candidate, which are at one distance with upto - nearer rows.

    >>> shared(np.array([0.0, 0.0, 1.0, 0.0]), np.array([1.0, 4.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0, 3.0]), 1)
    array([1.  , 0.25, 0.  , 0.75])
    """
    from scipy.special import gammaln  # noqa: PLC0415  # slow to import

    ties = np.maximum(upto - nearer, 1.0)
    left = np.clip(candidates - nearer, 0.0, ties)
    chances = left / ties
    several = own > 1
    if several.any():
        ties, left, others = ties[several], left[several], (ties - own)[several]
        none = gammaln(others + 1) - gammaln(ties + 1) + gammaln(ties - left + 1)
        none -= gammaln(np.maximum(others - left, 0.0) + 1)
        chances[several] = np.where(left > others, 1.0, -np.expm1(np.minimum(none, 0.0)))
    return chances


def metric_of(space: Space, places: Ints) -> Floats:
    """Return what makes distances in these attributes plain, (attributes, attributes)."""
    shown = np.isin(np.arange(space.known.shape[1]), places)
    return np.asarray(np.linalg.cholesky(space.precision(shown)), dtype=np.float64)


def nearest_squares(points: Floats, rows: Floats, owner: Ints, but: Ints, codes: Codes, code_of: Ints) -> Floats:
    """Return the squared distance of each point to the nearest of ``rows`` whose ``owner`` is not ``but`` (points,)."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  # slow to import, and for this alone

    if codes.width or not rows.shape[1]:
        return _least(points, rows, owner, but, codes, code_of)
    tree, owners, squares = cKDTree(rows), np.append(owner, -2), np.full(len(points), np.inf)
    left, size = np.arange(len(points)), 2
    while len(left):
        apart, which = (np.asarray(each) for each in tree.query(points[left], k=np.arange(1, min(size, len(rows)) + 1)))
        others = owners[which] != but[left, np.newaxis]
        done = others.any(axis=1)
        squares[left[done]] = apart[done, np.argmax(others[done], axis=1)] ** 2
        left = left[~done] if size < len(rows) else left[:0]
        size *= 4
    return squares


def _least(points: Floats, rows: Floats, owner: Ints, but: Ints, codes: Codes, code_of: Ints) -> Floats:
    least = np.empty(len(points))
    size = max(1, _DISTANCES // max(1, len(rows)))
    for start in range(0, len(points), size):
        block = slice(start, min(start + size, len(points)))
        squares = _squares(points[block], rows) + codes.apart(code_of[block, np.newaxis], codes.released)
        squares[owner == but[block, np.newaxis]] = np.inf
        least[block] = squares.min(axis=1, initial=np.inf)
    return least


def own_squares(space: Space, records: Ints) -> tuple[Floats, Floats]:
    """Return how far each record is from the nearest row of its person, and how many of these rows are as near."""
    least, ties = np.zeros(len(records)), np.zeros(len(records))
    for some, firsts, rows in space.truth.own_rows(records):
        of_rows = np.repeat(records[some], np.diff(firsts, append=len(rows)))
        squares = squared_distances(space, of_rows, rows)
        least[some], ties[some] = least_and_ties(squares, firsts, 1 + SLACK, FLOOR)
    return least, ties


def squared_distances(space: Space, records: Ints, rows: Ints) -> Floats:
    """Return how far each of these records is from the row beside it."""
    squares = np.zeros(len(rows))
    for shown, members in patterns(space):
        here = np.isin(rows, members)
        if shown.any():
            apart = (space.released[rows[here]] - space.known[records[here]])[:, shown]
            squares[here] = ((apart @ np.linalg.cholesky(space.precision(shown))) ** 2).sum(axis=1)
        squares[here] += space.penalty(shown)
    return squares + space.codes.apart(space.codes.known[records], space.codes.released[rows])


def patterns(space: Space) -> list[tuple[Bools, Ints]]:
    """Return the released rows by which attributes they show."""
    different, places = np.unique(~np.isnan(space.released), axis=0, return_inverse=True)
    places = places.reshape(-1)
    return [(pattern, np.flatnonzero(places == i)) for i, pattern in enumerate(different)]


# What the intruder knows and looks for: records, released rows, and people who are not in the source.


PAIRS = 1_000_000_000
"""At most so many pairs of records and released rows are compared in each way,"""
LEAST = 1000
"""or those of so many records, where the rows are more."""
_TOO_MANY = 5
"""Times as many are refused: somebody in the sample has far more than others."""


@dataclass(frozen=True, slots=True)
class IntruderKnowledge:
    """What the intruder knows: ``attributes``, of at most ``sample`` records, and others: the file ``control``.

    Known are the original records, or the people of the file ``against``, whose rows have the same ``key``.
    """

    attributes: tuple[str, ...]
    sample: int
    control: str | None = None
    against: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LinkagePeople:
    """``numbers`` (people, attributes), NaN where there is none, and the ``codes`` (people, columns) of categories."""

    numbers: Floats
    codes: Ints

    def fully_known(self) -> npt.NDArray[np.bool_]:
        """Return which people are known completely, (people,)."""
        return np.asarray(~(np.isnan(self.numbers).any(axis=1) | (self.codes == UNKNOWN).any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class LinkageNumbers:
    """``known`` (records, attributes) and ``released`` (rows, attributes) numbers, NaN where there is none.

    ``codes`` are those of categories, ``truth`` says whose records and rows are. ``units`` are looked for: records, or
    people where these are counted; then ``rows`` are records too, each for itself, unless that is the same. ``linked``:
    it is seen which released rows are one person's. ``complete`` are the records of which all is known; ``others``
    (others, attributes) are the control group, None where there is none.
    """

    known: Floats
    released: Floats
    codes: Codes
    truth: Truth
    units: Units
    rows: Units | None
    linked: bool
    complete: Ints
    others: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class LinkageInput:
    """The input of linkage: ``known`` and ``released`` people, whose they are, the ``control`` group, and weights.

    ``people``: people are counted, and not records; ``linked``: it is seen which released rows are one person's.
    """

    known: LinkagePeople
    released: LinkagePeople
    truth: Truth
    control: LinkagePeople | None
    people: bool
    linked: bool


def lookup(wanted: IntruderKnowledge, inputs: LinkageInput) -> LinkageNumbers:
    """Choose who is looked for. Raises UnnumberedError where there is nobody."""
    known, truth, rows = inputs.known, inputs.truth, len(inputs.released.numbers)
    some = known.fully_known() & (truth.row >= 0)
    units = chosen_units(some, wanted.sample, rows, truth, people=inputs.people)
    same = not inputs.people or (units.alone and units.eligible_units == int(some.sum()))
    of_rows = None if same else chosen_units(some, wanted.sample, rows, truth, people=False)
    others = None
    if inputs.control is not None:
        try:
            outside = sampled(np.flatnonzero(inputs.control.fully_known()), wanted.sample, rows)
        except UnnumberedError:
            text = "Nobody in the control group has all the numbers that records are to be found by."
            raise UnnumberedError(text) from None
        others = LinkagePeople(inputs.control.numbers[outside], inputs.control.codes[outside])
    none = np.zeros((0, known.codes.shape[1]), np.int64)
    codes = Codes.of(known.codes, inputs.released.codes, none if others is None else others.codes, truth)
    return LinkageNumbers(
        known.numbers,
        inputs.released.numbers,
        codes,
        truth,
        units,
        of_rows,
        inputs.linked,
        np.flatnonzero(known.fully_known()),
        None if others is None else others.numbers,
    )


def chosen_units(some: npt.NDArray[np.bool_], sample: int, rows: int, truth: Truth, *, people: bool) -> Units:
    """Return a sample of units; ``some`` (records,) may be looked for.

    Raises UnnumberedError of none, and where somebody in the sample has far more records than others.
    """
    records = np.flatnonzero(some)
    if people:
        _, firsts, unit = np.unique(truth.whose[records], return_index=True, return_inverse=True)
        starts = np.sort(firsts)
        unit = np.searchsorted(starts, firsts[unit.reshape(-1)])  # people in the order of their first records
    else:
        starts = unit = np.arange(len(records))
    chosen = sampled(np.arange(len(starts)), sample, rows, len(records) / max(1, len(starts)))
    place = np.full(len(starts), -1)
    place[chosen] = np.arange(len(chosen))
    mine = np.flatnonzero(place[unit] >= 0)
    mine = mine[np.argsort(place[unit[mine]], kind="stable")]
    if len(mine) > _TOO_MANY * most_records(rows):
        raise UnnumberedError(
            "Somebody has too many rows to be looked for by each of them: keep fewer by `limit_rows`."
        )
    begins = np.searchsorted(place[unit[mine]], np.arange(len(chosen)))
    owned, sizes = np.unique(truth.owner, return_counts=True)
    own = sizes[np.searchsorted(owned, truth.whose[records[mine]])]
    return Units(records[mine], begins, len(starts), own)


def most_records(rows: int) -> int:
    """Return how many records may be looked for among so many rows."""
    return max(LEAST, PAIRS // max(1, rows))


def sampled(places: Ints, most: int, rows: int, records: float = 1.0) -> Ints:
    """Return those of ``places`` that are looked for among ``rows`` rows; each represents so many ``records``.

    The sample is the same every time, and no larger than PAIRS and LEAST say. Raises UnnumberedError of none.
    """
    if not len(places):
        raise UnnumberedError("No released row is of a record with all the numbers that records are to be found by.")
    most = min(most, max(1, int(most_records(rows) / records)))
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))


# Who is found: each record for itself, or a person by any of its rows; and what naming rows at random would find.


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """``records`` that are looked for, those of a person one after the other; ``firsts`` (units,) are their places.

    They are a sample of ``eligible_units``. ``own`` (records,) is how many released rows their person has.
    """

    records: Ints
    firsts: Ints
    eligible_units: int
    own: Ints

    @property
    def alone(self) -> bool:
        """Whether each record is a unit."""
        return len(self.firsts) == len(self.records)

    def guesses(self, candidates: int, rows: int) -> Floats:
        """Return the share of units that naming 1, 2, … ``candidates`` of the ``rows`` at random finds."""
        named = np.arange(1.0, candidates + 1)
        sizes = np.diff(self.firsts, append=len(self.records))
        kinds, many = np.unique(np.column_stack((self.own[self.firsts], sizes)), axis=0, return_counts=True)
        shares = np.zeros(candidates)
        for (own, records), units in zip(kinds.tolist(), many.tolist(), strict=True):
            each = np.array([_drawn(float(c), own, rows) for c in named]) if own > 1 else np.minimum(1.0, named / rows)
            shares += units * (each if records == 1 else 1.0 - (1.0 - each) ** records)
        return shares / len(self.firsts)

    def blocks(self, size: int) -> Iterator[tuple[slice, slice]]:
        """Yield units, some at a time, and the places of their records: about so many, or one unit's."""
        ends = np.append(self.firsts[1:], len(self.records))
        start = 0
        while start < len(self.firsts):
            stop = max(start + 1, int(np.searchsorted(ends, self.firsts[start] + size, side="right")))
            yield slice(start, stop), slice(int(self.firsts[start]), int(ends[stop - 1]))
            start = stop


def _drawn(candidates: float, own: int, rows: int) -> float:
    """Return the chance that one of ``own`` rows is among so many that are drawn of ``rows``."""
    nearer, upto, mine = (np.array([float(each)]) for each in (0, rows, own))
    return float(shared(nearer, upto, mine, int(candidates))[0])


@dataclass(frozen=True, slots=True, eq=False)
class LinkageMethod:
    """The result of one method: the chance of each unit (units,), and the sum of these for 1, 2, … candidates.

    ``guesses`` (candidates,) is what naming as many at random finds. The units are a sample of ``eligible_units``.
    """

    name: str
    chances: Floats
    hits: Floats
    guesses: Floats
    eligible_units: int

    @staticmethod
    def of(name: str, places: NearerCounts, units: Units, candidates: int, rows: int) -> LinkageMethod:
        """Return what places say of units: a person is found by any of its records, each tried for itself."""
        guesses = units.guesses(candidates, rows)
        if units.alone:
            return LinkageMethod(
                name, places.chances(candidates), places.hits(candidates), guesses, units.eligible_units
            )

        def of_people(named: int) -> Floats:
            return 1.0 - np.multiply.reduceat(1.0 - places.chances(named), units.firsts)

        hits = np.array([of_people(named).sum() for named in range(1, candidates + 1)])
        return LinkageMethod(name, of_people(candidates), hits, guesses, units.eligible_units)
