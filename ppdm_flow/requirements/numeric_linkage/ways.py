"""The ways in which records are looked for, and the control group, by both routes."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.requirements.numeric_linkage.control import Metric, Near, Nearest, near
from ppdm_flow.requirements.numeric_linkage.lookup import Lookup
from ppdm_flow.requirements.numeric_linkage.nearest import Places, metric_of, nearest_squares, places
from ppdm_flow.requirements.numeric_linkage.probabilistic import PROBABILISTIC, places_by_weight
from ppdm_flow.requirements.numeric_linkage.probabilistic_query import places_by_weight_again
from ppdm_flow.requirements.numeric_linkage.second_route import nearest_squares_again, places_again, whitening
from ppdm_flow.requirements.numeric_linkage.spaces import Space, spaces
from ppdm_flow.sdk.audit import Sql

Found = tuple[Mapping[str, Places], Mapping[str, Near]]
"""By way the places of the records, and by space who is taken for found; nobody where there is no control group."""


def find(known: Lookup, candidates: int) -> Found:
    """Look for the records by trees and in memory."""
    by_space = _spaces(known)
    by_way = {name: places(space, known.chosen, candidates) for name, space in by_space.items()}
    numbers = known.known, known.released
    by_way[PROBABILISTIC] = places_by_weight(*numbers, known.truth, known.chosen, known.codes)
    return by_way, _near(known, by_space, metric_of, nearest_squares)


def find_again(sql: Sql, known: Lookup, candidates: int) -> Found:
    """Look for them along sorted attributes and in SQL."""
    by_space = _spaces(known)
    by_way = {name: places_again(space, known.chosen, candidates) for name, space in by_space.items()}
    by_way[PROBABILISTIC] = places_by_weight_again(
        sql, known.known, known.released, known.truth, known.chosen, known.codes
    )
    return by_way, _near(known, by_space, whitening, nearest_squares_again)


def _spaces(known: Lookup) -> Mapping[str, Space]:
    return spaces(known.known, known.released, known.truth, known.others, known.codes)


def _near(known: Lookup, by_space: Mapping[str, Space], metric: Metric, nearest: Nearest) -> Mapping[str, Near]:
    if known.others is None:
        return {}
    return {name: near(space, known.chosen, metric, nearest) for name, space in by_space.items()}
