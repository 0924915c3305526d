"""Searches beyond the greedy one, never worse than it: a beam, and a beam that looks ahead."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.anonymizers.progressive_disclosure.search import NEGLIGIBLE, Disclosure, DisclosureSearch


@dataclass(frozen=True, slots=True)
class BeamResult:
    """The disclosures to be made; information in bits, as ``Search.kept`` has it, beside the greedy search's."""

    disclosures: list[Disclosure]
    kept: float
    greedy: float


def run(search: DisclosureSearch, width: int = 1, *, ahead: bool = False) -> BeamResult:
    """Search. Greedy with a width of 1; else ``width`` sequences are followed at a time.

    At each depth every sequence goes on by its ``width`` best candidates, and those that disclose the same are one.
    Those stay that have kept the most information so far or, looking ``ahead``, that would keep the most if they went
    on greedily. The winner is the sequence that keeps the most of all that were seen, the greedy one included; among
    equals (to within rounding) the greedy one, then the first. It goes on greedily to its end.
    """
    start = search.copy() if width > 1 else search
    search.run()
    best, greedy = search, search.kept
    beam = [start] if width > 1 else []
    while beam:
        options = _extended(beam, width, ahead=ahead)
        for option in options:
            if option.reached.kept > best.kept + NEGLIGIBLE:
                best = option.reached
        beam = [option.branch for option in options]
    best.run()
    return BeamResult(best.disclosures, best.kept, greedy)


@dataclass(frozen=True, slots=True)
class _Option:
    """A sequence of the next depth, and how far it is known to lead."""

    branch: DisclosureSearch
    reached: DisclosureSearch


def _extended(beam: list[DisclosureSearch], width: int, *, ahead: bool) -> list[_Option]:
    """The best sequences of the next depth, best first; earlier ones go before equal ones."""
    seen: set[frozenset[tuple[int, int]]] = set()
    options: list[_Option] = []
    for search in beam:
        done = {(d.attribute, d.node) for d in search.disclosures}
        for disclosure in search.ranked(width):
            key = frozenset((*done, (disclosure.attribute, disclosure.node)))
            if key not in seen:
                seen.add(key)
                options.append(_option(search, disclosure, ahead=ahead))
        options = sorted(options, key=lambda o: -round(o.reached.kept / NEGLIGIBLE))[:width]
    return options


def _option(search: DisclosureSearch, disclosure: Disclosure, *, ahead: bool) -> _Option:
    branch = search.copy()
    branch.disclose(disclosure)
    if not ahead:
        return _Option(branch, branch)
    reached = branch.copy()
    reached.run()
    return _Option(branch, reached)
