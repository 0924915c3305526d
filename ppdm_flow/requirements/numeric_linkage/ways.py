"""The ways in which records and people are looked for, and the control group, by both routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ppdm_flow.mining.exposure.numbers import Floats, Ints
from ppdm_flow.requirements.numeric_linkage.codes import Codes
from ppdm_flow.requirements.numeric_linkage.control import MatchChances, Metric, Nearest, near
from ppdm_flow.requirements.numeric_linkage.lookup import LinkageNumbers
from ppdm_flow.requirements.numeric_linkage.nearest import NearerCounts, metric_of, nearest_squares, places
from ppdm_flow.requirements.numeric_linkage.probabilistic import PROBABILISTIC, places_by_weight
from ppdm_flow.requirements.numeric_linkage.probabilistic_query import places_by_weight_sql
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_sql, places_sql, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import MAHALANOBIS, Space, spaces
from ppdm_flow.requirements.numeric_linkage.together import places_of_people, places_of_people_sql
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.requirements.numeric_linkage.units import LinkageMethod, Units
from ppdm_flow.sdk.audit import Sql

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
        found = together.chances(candidates), together.hits(candidates)
        ways.append(LinkageMethod(TOGETHER, *found, guesses, known.units.whole))
    return LinkageResult(tuple(ways), tuple(of_rows), _near(known, by_space, route))


def _ways(
    known: LinkageNumbers, by_space: Mapping[str, Space], units: Units, candidates: int, route: _Route
) -> list[LinkageMethod]:
    found = {name: route.places(space, units.records, candidates) for name, space in by_space.items()}
    numbers = known.known, known.released
    found[PROBABILISTIC] = route.by_weight(*numbers, known.truth, units.records, known.codes)
    return [LinkageMethod.of(name, each, units, candidates, len(known.released)) for name, each in found.items()]


def _near(known: LinkageNumbers, by_space: Mapping[str, Space], route: _Route) -> Mapping[str, MatchChances]:
    """Return who is taken for found: of a person the first record, held against those of other people."""
    if known.others is None:
        return {}
    mine = known.units.records[known.units.firsts]
    return {n: near(space, mine, known.complete, route.metric, route.nearest) for n, space in by_space.items()}
