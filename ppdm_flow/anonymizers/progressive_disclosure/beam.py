"""A beam search that is never worse than the greedy one."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.anonymizers.progressive_disclosure.score import NEGLIGIBLE
from ppdm_flow.anonymizers.progressive_disclosure.search import Disclosure, Search


@dataclass(frozen=True, slots=True)
class Found:
    """The disclosures to be made; information in bits, as ``Information.kept`` has it, beside the greedy search's."""

    disclosures: list[Disclosure]
    kept: float
    greedy: float


def run(search: Search, width: int = 1) -> Found:
    """Search. Greedy with a width of 1; else ``width`` sequences are followed at a time.

    At each depth every sequence goes on by its ``width`` best candidates, those that disclose the same are one, and
    those with the most information kept stay. The winner is the sequence that keeps the most, the greedy one
    included; among equals (to within rounding) the greedy one, then the first.
    """
    start = search.copy() if width > 1 else search
    search.run()
    best, greedy = search, search.information.kept
    beam = [start] if width > 1 else []
    while beam:
        beam = _next(beam, width)
        for other in beam:
            if other.information.kept > best.information.kept + NEGLIGIBLE:
                best = other
    return Found(best.found, best.information.kept, greedy)


def _next(beam: list[Search], width: int) -> list[Search]:
    """The sequences of the next depth, best first."""
    seen: set[frozenset[tuple[int, int]]] = set()
    options: list[tuple[float, int, int, Search, Disclosure]] = []
    for place, search in enumerate(beam):
        done = {(d.attribute, d.node) for d in search.found}
        for rank, disclosure in enumerate(search.ranked(width)):
            key = frozenset((*done, (disclosure.attribute, disclosure.node)))
            if key not in seen:
                seen.add(key)
                candidate = int(search.candidates.offset[disclosure.attribute]) + disclosure.node
                kept = search.information.kept + search.information.added(candidate)
                options.append((round(kept / NEGLIGIBLE) * NEGLIGIBLE, place, rank, search, disclosure))
    options.sort(key=lambda o: (-o[0], o[1], o[2]))
    found = []
    for _, _, _, search, disclosure in options[:width]:
        branch = search.copy()
        branch.disclose(disclosure)
        found.append(branch)
    return found
