"""Exact posteriors on tiny tables: every source table is put through a policy, and those with one release compared.

Prior: rows are independent, each of the pairs (a, s) as likely as any other, and the person is any of the rows. The
adversary knows the number of rows, the policy, a person's a, and the release (up to the order of its rows).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import factorial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adversary.crowds import Release
from adversary.groups import Alone
from adversary.likelihoods import Carried, Pair, matrix, perturbed, posterior_bound, sampled, swapped
from adversary.lineage import released
from adversary.oracle import judge
from adversary.policies import Case
from adversary.shares import MISSING, SUPPRESSED
from adversary.steps import KEY
from adversary.trial import write
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.carry_out import fitted_graph

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


Steps = Sequence[tuple[str, Mapping[str, Any]]]


def policy(privacy: Mapping[str, Any], steps: Steps, *, declared: bool = True) -> dict[str, Any]:
    """Return a policy for the two columns: ``a`` is known, and ``s`` is secret."""
    hierarchy = {"levels": {"1": ["low"], "2": ["low"], "3": ["high"]}}
    secret = {"role": "sensitive", "type": "integer", **({"domain": list(S)} if declared else {})}
    return {
        "version": "1",
        "name": "worlds",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": {
            "a": {"role": "quasi_identifier", "hierarchy": hierarchy},
            "s": secret,
        },
        "nulls": "own_category",
        "privacy": dict(privacy),
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


def exact(asked: Mapping[str, Any], rows: int) -> Exact:
    """Put every world through a policy, and compare."""
    found: dict[Shown, list[tuple[Fraction, World, Outcome]]] = {}
    looks: dict[tuple[str, ...], set[Pair]] = {}
    for world, orders in worlds(rows):
        for outcome in outcomes(asked, world):
            for pair, cells in outcome.rows:
                looks.setdefault(cells, set()).add(pair)
            if outcome.released:
                found.setdefault(outcome.shown, []).append((orders * outcome.chance, world, outcome))
    whole = sum((w for every in found.values() for w, _, _ in every), Fraction(0))
    worst, excess, credulous, beyond = Fraction(0), Fraction(-1), Fraction(-1), Fraction(0)
    for shown, every in found.items():
        posterior = _posterior((w, world) for w, world, _ in every)
        plain = _credulous([line for line in shown if line in looks], looks)
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


def _credulous(shown: Sequence[tuple[str, ...]], looks: Mapping[tuple[str, ...], set[Pair]]) -> Fraction:
    """Return the same where every row is one of the pairs that can look like it, each as likely."""
    weights: dict[Pair, Fraction] = {}
    for cells in shown:
        for pair in looks[cells]:
            weights[pair] = weights.get(pair, Fraction(0)) + Fraction(1, len(looks[cells]))
    return _largest(weights)


def _largest(weights: Mapping[Pair, Fraction]) -> Fraction:
    known = {q: sum((w for (a, _), w in weights.items() if a == q), Fraction(0)) for q in A}
    return max((w / known[q] for (q, _), w in weights.items() if known[q]), default=Fraction(0))


def outcomes(asked: Mapping[str, Any], world: World) -> Iterator[Outcome]:
    """Yield what a world may become; nothing where the engine refuses it."""
    last = next(reversed(asked["steps"].values()), {"use": ""})
    if last["use"] == "fine_grain_perturbation":
        yield from _perturbed(asked, world)
    elif last["use"] == "sample":
        yield from (_outcome(asked, cells, chance) for chance, cells in sampled(world, int(last["with"]["size"])))
    elif last["use"] == "swap":
        yield from (_outcome(asked, cells, chance) for chance, cells in swapped(world))
    elif (rows := carried_out(asked, world)) is not None:
        yield _outcome(asked, rows.rows, Fraction(1))


def _perturbed(asked: Mapping[str, Any], world: World) -> Iterator[Outcome]:
    """Yield what may be drawn. The operator is published: it belongs to the release."""
    rows = carried_out(asked, world)
    if rows is None:
        return
    operator = matrix(rows.domain, rows.retention)
    told = tuple(sorted((x, y, str(float(p))) for (x, y), p in operator.items()))
    bound = posterior_bound(operator, Fraction(1, len(S)))
    for chance, cells in perturbed(world, operator):
        lines = (*sorted(line for _, line in cells), *told)
        yield Outcome(lines, chance, bound, released=True, rows=tuple(cells))


def _outcome(asked: Mapping[str, Any], cells: Carried, chance: Fraction) -> Outcome:
    columns = released(asked)["r"]
    shown = [dict(zip(columns, line, strict=True)) for _, line in cells]
    people = [dict(zip("as", pair, strict=True)) for pair, _ in cells]
    judged = judge(asked, Alone(Release(columns, shown, people, range(len(cells)))))
    share = max(j.measured or 0.0 for j in judged if j.metric.endswith((".alpha", ".confidence")))
    measured = Fraction(share).limit_denominator(10**6)
    lines = tuple(sorted(line for _, line in cells))
    return Outcome(lines, chance, measured, all(j.holds for j in judged), tuple(cells))


@dataclass(frozen=True)
class CarriedOut:
    """The rows that the steps made of a world, and the operator where one drew."""

    rows: Carried
    domain: tuple[Any, ...] = ()
    retention: tuple[float, ...] = ()


def carried_out(asked: Mapping[str, Any], world: World) -> CarriedOut | None:
    """Let the engine carry out the steps; return None where it ends otherwise."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    case = Case(0, dict(asked), [dict(zip("as", pair, strict=True)) for pair in world])
    with TemporaryDirectory(prefix="worlds-") as folder:
        home = Path(folder)
        write(case, home)
        try:
            plan = plan_for_data(home / "policy.yaml", {}, None).plan
            context = RunContext(plan, RunOptions(workers=1))
            graph = fitted_graph(context, Opening(context, None).open())
            parts = [p.table for p in graph.streams[plan.releases[0].input].parts()]
        except PpdmError:
            return None
        names = [a.name for a in plan.releases[0].attributes]
        marks = {None: MISSING, "⊥": SUPPRESSED}
        found: Carried = []
        for table in parts:
            texts = [[marks.get(t, t) for t in table[n].texts()] for n in names]
            found += [(world[o], tuple(t[i] for t in texts)) for i, o in enumerate(table.rows.tolist())]
        operators = [o for f in graph.fitted.values() for o in getattr(f.transform, "operators", ())]
        if not operators:
            return CarriedOut(found)
        return CarriedOut(found, tuple(operators[0].domain), tuple(operators[0].retention.tolist()))
