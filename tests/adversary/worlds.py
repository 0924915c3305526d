"""Exact posteriors on tiny tables: every source table is put through a policy, and those with one release compared.

Prior: rows are independent, each of the pairs (a, s) as likely as any other, and the person is any of the rows. The
adversary knows the number of rows, the policy, a person's a, and the release (up to the order of its rows).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from math import factorial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adversary.crowds import Release
from adversary.lineage import released
from adversary.oracle import judge
from adversary.policies import Case
from adversary.shares import MISSING, SUPPRESSED
from adversary.steps import KEY
from adversary.trial import write
from ppdm_flow.api.bindings import with_data
from ppdm_flow.api.policies import ready
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.events import silent
from ppdm_flow.engine.graph import Graph
from ppdm_flow.engine.keys import run_key
from ppdm_flow.engine.measuring import opened
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.streams import Stop

Pair = tuple[str, str]
World = tuple[Pair, ...]
"""A source table, its rows (a, s) in order."""
Shown = tuple[tuple[str, ...], ...]
"""A release, its rows in order."""

A = ("1", "2", "3")
S = ("10", "20", "60")
"""Values are numbers, so that every step takes them."""


@dataclass(frozen=True)
class Outcome:
    """One release that a world may become, with the probability of that, and what is measured of it."""

    shown: Shown
    chance: Fraction
    measured: Fraction
    released: bool
    rows: tuple[tuple[Pair, tuple[str, ...]], ...]


def worlds(rows: int) -> Iterator[tuple[World, int]]:
    """Yield every table of so many rows up to their order, with the number of its orders."""
    for world in combinations_with_replacement(tuple(product(A, S)), rows):
        orders = factorial(rows)
        for pair in set(world):
            orders //= factorial(world.count(pair))
        yield world, orders


def policy(privacy: Mapping[str, Any], steps: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return a policy for the two columns: ``a`` is known, and ``s`` is secret."""
    hierarchy = {"levels": {"1": ["low"], "2": ["low"], "3": ["high"]}}
    return {
        "version": "1",
        "name": "worlds",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": {
            "a": {"role": "quasi_identifier", "hierarchy": hierarchy},
            "s": {"role": "sensitive", "type": "integer"},
        },
        "nulls": "own_category",
        "privacy": {"alpha_k": {"s": {"alpha": "0.67"}}, **privacy},
        "steps": {f"s{i}": {"use": use, "with": dict(options)} for i, (use, options) in enumerate(steps)},
        "releases": {"r": {"path": "r.csv", "shuffle": "false"}},
        "randomness": {"mode": "reproducible", "seed": "1"},
    }


@dataclass(frozen=True)
class Exact:
    """What came of all worlds. ``excess`` is the largest of exact posterior less measured share, over all releases.

    ``credulous`` is the same for an adversary who takes labels at their word and does not ask why the algorithm chose
    them: each row is any pair that ever looked like it. ``worst`` is the largest exact posterior, ``bound`` what the
    policy allows, ``exceeding`` the share of releases (by their probability) whose exact posterior is larger.
    """

    releases: int
    worst: float
    excess: float
    credulous: float
    exceeding: float


Randomized = Any


def exact(asked: Mapping[str, Any], rows: int, last: Randomized = None) -> Exact:
    """Put every world through a policy, and compare. ``last`` is a random step behind it, by its likelihoods."""
    found: dict[Shown, list[tuple[Fraction, World, Outcome]]] = {}
    looks: dict[tuple[str, ...], set[Pair]] = {}
    for world, orders in worlds(rows):
        for outcome in outcomes(asked, world, last):
            for pair, cells in outcome.rows:
                looks.setdefault(cells, set()).add(pair)
            if outcome.released:
                found.setdefault(outcome.shown, []).append((orders * outcome.chance, world, outcome))
    whole = sum((w for every in found.values() for w, _, _ in every), Fraction(0))
    worst, excess, credulous, beyond = Fraction(0), Fraction(-1), Fraction(-1), Fraction(0)
    for shown, every in found.items():
        posterior, plain = _posterior((w, world) for w, world, _ in every), _credulous(shown, looks)
        worst = max(worst, posterior)
        for weight, _, outcome in every:
            excess = max(excess, posterior - outcome.measured)
            credulous = max(credulous, plain - outcome.measured)
            beyond += weight if posterior > outcome.measured else 0
    share = beyond / whole if whole else Fraction(0)
    return Exact(len(found), float(worst), float(excess), float(credulous), float(share))


def _posterior(every: Iterable[tuple[Fraction, World]]) -> Fraction:
    """Return the largest P(s = v | a = q, release)."""
    weights: dict[Pair, Fraction] = {}
    for weight, world in every:
        for pair in world:
            weights[pair] = weights.get(pair, Fraction(0)) + weight
    return _largest(weights)


def _credulous(shown: Shown, looks: Mapping[tuple[str, ...], set[Pair]]) -> Fraction:
    """Return the same where every row is one of the pairs that can look like it, each as likely."""
    weights: dict[Pair, Fraction] = {}
    for cells in shown:
        for pair in looks[cells]:
            weights[pair] = weights.get(pair, Fraction(0)) + Fraction(1, len(looks[cells]))
    return _largest(weights)


def _largest(weights: Mapping[Pair, Fraction]) -> Fraction:
    known = {q: sum((w for (a, _), w in weights.items() if a == q), Fraction(0)) for q in A}
    return max((w / known[q] for (q, _), w in weights.items() if known[q]), default=Fraction(0))


def outcomes(asked: Mapping[str, Any], world: World, last: Randomized) -> Iterator[Outcome]:
    """Yield what a world may become; nothing where the engine refuses it."""
    rows = carried_out(asked, world)
    if rows is None:
        return
    columns = released(asked)["r"]
    for chance, cells, operator in ((Fraction(1), rows, ()),) if last is None else last(rows, columns):
        shown = [dict(zip(columns, line, strict=True)) for _, line in cells]
        people = [dict(zip("as", pair, strict=True)) for pair, _ in cells]
        release = Release(columns, shown, people, range(len(cells)))
        judged = judge(asked, release)
        share = next((j.measured for j in judged if j.metric.endswith(".alpha")), None)
        kept = tuple((pair, line) for pair, line in cells)
        lines = (*sorted(line for _, line in cells), *operator)
        yield Outcome(lines, chance, Fraction(share or 0).limit_denominator(10**6), all(j.holds for j in judged), kept)


Carried = list[tuple[Pair, tuple[str, ...]]]


def carried_out(asked: Mapping[str, Any], world: World) -> Carried | None:
    """Let the engine carry out the steps; return each row's pair and cells, None where it ends otherwise."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    case = Case(0, dict(asked), [dict(zip("as", pair, strict=True)) for pair in world])
    with TemporaryDirectory(prefix="worlds-") as folder:
        home = Path(folder)
        write(case, home)
        try:
            plan = with_data(ready(home / "policy.yaml", {}), None, strict=False).plan
            stop, options = Stop(), RunOptions(workers=1)
            original = opened(plan, None, options, stop)
            key = run_key(plan, None)
            graph = Graph(plan, key, original.stream, original.numbering, options.partition_rows, stop, silent)
            graph.fit(1)
            parts = [p.table for p in graph.streams[plan.releases[0].input].parts()]
        except PpdmError:
            return None
        names = [a.name for a in plan.releases[0].attributes]
        marks = {None: MISSING, "⊥": SUPPRESSED}
        found: Carried = []
        for table in parts:
            texts = [[marks.get(t, t) for t in table[n].texts()] for n in names]
            found += [(world[o], tuple(t[i] for t in texts)) for i, o in enumerate(table.rows.tolist())]
        return found
