"""Figures of groups of candidates: sizes, shares, diversities and distances. The worst group counts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from typing import Any

import networkx as nx

from adversary.reader.files import MISSING, NotVerified, PreparedFiles, lineage_violations
from adversary.reader.showing import Inquiry
from adversary.reader.view import SOURCE, STEADY, CandidateGroup, Distribution, ReaderView, spread

ROUNDING = 0.001
"""Added to a size before it is rounded down."""
SLACK = 1e-9


def find_groups(
    prepared: PreparedFiles, grouping: Iterable[str], sensitive: str | None = None, *, apart: bool = False, **more: Any
) -> list[CandidateGroup]:
    """All groups of a requirement; ``more`` are ``known_rows`` and ``nulls``.

    Raises `NotVerified` where a column is no function of what it is said to carry.
    """
    violations = lineage_violations(prepared)
    if violations:
        raise NotVerified(f"lineage of {violations}")
    return ReaderView(Inquiry(prepared, grouping, sensitive, **more), apart=apart).groups()


def posterior_size(group: CandidateGroup) -> float:
    """1 over the largest posterior of a unit."""
    weights = group.unit_weights().values()
    return sum(weights) / max(weights)


def smallest_size(groups: Iterable[CandidateGroup]) -> int | None:
    """The k of k-anonymity; None if nobody is counted."""
    return min((math.floor(posterior_size(g) + ROUNDING) for g in groups if g.counts), default=None)


def smallest_posterior_size(groups: Iterable[CandidateGroup]) -> float | None:
    """The same, not rounded."""
    return min((posterior_size(g) for g in groups if g.counts), default=None)


def share_of(group: CandidateGroup, values: Collection[Any]) -> float:
    """The largest share of some values together: by rows, by units, and of those who know several rows."""
    wanted = frozenset(values)
    shares = [0.0]
    for reading, weighted in product(group.readings, (True, False)):
        weights = [c.weight if weighted else 1.0 for c in group.candidates]
        chances = [c.chance(reading, wanted) for c in group.candidates]
        shares.append(sum(w * p for w, p in zip(weights, chances, strict=True)) / sum(weights))
        units = group.unit_weights(weighted=weighted)
        by_unit = chances_of_units(group, reading, wanted)
        shares.append(sum(units[u] * p for u, p in by_unit.items()) / sum(units.values()))
        whole = sum(weight if weighted else 1.0 for weight, _ in group.together)
        if reading != STEADY and whole:
            escapes = (
                (weight if weighted else 1.0) * math.prod(1 - c.chance(reading, wanted) for c in chosen)
                for weight, chosen in group.together
            )
            shares.append(1 - sum(escapes) / whole)
    return max(shares)


def chances_of_units(group: CandidateGroup, reading: str, values: frozenset[Any]) -> Distribution:
    """The chance of each unit to have one of some values in a row here.

    It is the sum over its rows, at most 1; of people with steady cells in common the largest.
    """
    chances: Distribution = defaultdict(float)
    for c in group.candidates:
        p = c.chance(reading, values)
        once = reading == STEADY and c.sharing
        chances[c.unit] = max(chances[c.unit], p) if once else min(1.0, chances[c.unit] + p)
    return chances


def possible_values(group: CandidateGroup) -> set[Any]:
    """Every value that a candidate may have, by some reading."""
    return {v for n in group.readings for c in group.candidates for v, p in c.probabilities(n).items() if p > 0}


def largest_share(groups: Iterable[CandidateGroup], values: Collection[Any] | None = None) -> float | None:
    """The largest share of one of the values (all, unless given): alpha, or the confidence of templates."""
    shares = [
        max((share_of(g, {v}) for v in (possible_values(g) if values is None else values)), default=0.0)
        for g in groups
        if g.readings
    ]
    return max(shares, default=None)


def largest_share_of_others(groups: Iterable[CandidateGroup], values: Collection[Any]) -> float | None:
    """The confidence of negated templates: that somebody does not have a value."""
    shares = [share_of(g, possible_values(g) - {v}) for g in groups if g.readings for v in values]
    return max(shares, default=None)


def distinct_l(group: CandidateGroup) -> int:
    """The matching of units and possible values, at most 1 + the fewest units for which a value is not certain."""
    least = len(group.candidates)
    for reading in group.readings:
        graph = nx.Graph()
        units = {("unit", c.unit) for c in group.candidates}
        graph.add_nodes_from(units)
        for c in group.candidates:
            values = [v for v, p in c.probabilities(reading).items() if p > 0]
            graph.add_edges_from((("unit", c.unit), ("value", v)) for v in values)
        matched = len(nx.bipartite.maximum_matching(graph, top_nodes=units)) // 2
        for _, value in (n for n in graph if n[0] == "value"):
            certain = sum(p >= 1 - SLACK for p in chances_of_units(group, reading, frozenset({value})).values())
            matched = min(matched, 1 + len(units) - certain)
        least = min(least, matched)
    return least


def smallest_distinct_l(groups: Iterable[CandidateGroup]) -> int | None:
    """The l of distinct l-diversity; None if no file has a view of the attribute."""
    return min((distinct_l(g) for g in groups if g.readings), default=None)


def distributions(group: CandidateGroup) -> Iterator[tuple[Distribution, Distribution]]:
    """The sensitive attribute among the candidates, beside that in the released rows: each reading and weighting."""
    for reading, weighted in product(group.readings, (True, False)):
        rows = ((c.unit, c.weight if weighted else 1.0, c.probabilities(reading)) for c in group.candidates)
        base = group.released.get(reading, group.released.get(SOURCE, {}))
        yield spread(rows, group.unit_weights(weighted=weighted)), base


def worst_distribution(
    groups: Iterable[CandidateGroup],
    figure: Callable[[Distribution, Distribution], float],
    worst: Callable[..., float] = max,
) -> float | None:
    """The worst figure of all distributions; None if no file has a view of the attribute."""
    return worst((figure(p, q) for g in groups for p, q in distributions(g)), default=None)


def entropy_l(shares: Distribution, base: Distribution | None = None) -> float:
    """e to the power of the entropy. The worst is the least."""
    return math.exp(-sum(p * math.log(p) for p in shares.values() if p > 0))


def recursive_l(c: float) -> Callable[[Distribution, Distribution], int]:
    """The largest l with r_1 < c (r_l + ... + r_m), or 0. The worst is the least."""

    def measure(shares: Distribution, base: Distribution | None = None) -> int:
        falling = sorted((p for p in shares.values() if p > 0), reverse=True)
        holding = [i + 1 for i in range(len(falling)) if falling[0] < c * sum(falling[i:]) * (1 - SLACK)]
        return max(holding, default=0)

    return measure


def equal_distance(shares: Distribution, base: Distribution) -> float:
    """The t of t-closeness where all values are equally far apart."""
    return sum(abs(shares.get(v, 0.0) - base.get(v, 0.0)) for v in {*shares, *base}) / 2


def ordered_distance(order: Sequence[Any] | None = None) -> Callable[[Distribution, Distribution], float]:
    """The t of t-closeness by ranks: those of the values of the released rows, low to high unless ordered otherwise.

    Missing values have no rank and are at a distance of 1 from all others: what differs there is moved first, the rest
    in proportion.
    """

    def measure(shares: Distribution, base: Distribution) -> float:
        ranked = sorted({*base, *shares} - {MISSING}, key=order.index if order else None)
        apart = shares.get(MISSING, 0.0) - base.get(MISSING, 0.0)
        here, there = (sum(d.get(v, 0.0) for v in ranked) for d in (shares, base))
        if len(ranked) < 2 or here <= 0 or there <= 0:
            return abs(apart)
        moved, ahead = 0.0, 0.0
        for value in ranked[:-1]:
            ahead += shares.get(value, 0.0) / here - base.get(value, 0.0) / there
            moved += abs(ahead)
        return abs(apart) + min(here, there) * moved / (len(ranked) - 1)

    return measure


def relative_gain(shares: Distribution, base: Distribution) -> float:
    """The beta of beta-likeness: the largest (p - q) / q."""
    gains = (p / base[v] - 1 if base.get(v) else math.inf for v, p in shares.items() if p > 0)
    return max(gains, default=0.0)


def log_ratio(shares: Distribution, base: Distribution) -> float:
    """The delta of delta-disclosure: the largest |ln(p / q)|, infinite where one of both is 0."""
    pairs = [(shares.get(v, 0.0), base.get(v, 0.0)) for v in {*shares, *base}]
    return max((abs(math.log(p / q)) if p > 0 and q > 0 else math.inf for p, q in pairs if p or q), default=0.0)


def lkc_figures(
    prepared: PreparedFiles, attributes: Sequence[str], most: int, sensitive: str, values: Collection[Any], **more: Any
) -> tuple[int | None, float | None]:
    """The k and the confidence of LKC-privacy: over all sets of at most ``most`` attributes that may be known."""
    sets = chain.from_iterable(combinations(attributes, n) for n in range(min(most, len(attributes)) + 1))
    groups = [g for known in sets for g in find_groups(prepared, known, sensitive, **more)]
    confidence = max((share_of(g, values) for g in groups if g.readings), default=None)
    return smallest_size(groups), confidence


def unique_share(prepared: PreparedFiles, attributes: Sequence[str], most: int, **more: Any) -> float:
    """The share of special uniques: people of a file whom at most ``most`` attributes single out there.

    Somebody is singled out if a group for one of their rows has size 1.
    """
    sets = chain.from_iterable(combinations(attributes, n) for n in range(1, min(most, len(attributes)) + 1))
    single: dict[tuple[tuple[str, ...], str], set[Any]] = defaultdict(set)
    people: dict[tuple[tuple[str, ...], str], set[Any]] = defaultdict(set)
    for group in (g for known in sets for g in find_groups(prepared, known, **more) if g.counts):
        file, person = (group.files, group.file), prepared.people[group.sought]
        people[file].add(person)
        if posterior_size(group) + ROUNDING < 2:
            single[file].add(person)
    return max((len(single[file]) / len(own) for file, own in people.items()), default=0.0)
