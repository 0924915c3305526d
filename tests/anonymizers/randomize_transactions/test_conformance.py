"""Randomized transactions pass through the kit for third parties; their guarantee is measured by plain counting."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.transactions.counting.vertical import expand
from ppdm_flow.mining.transactions.operators import from_document, transition
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk import registry
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case, TransformOutcome
from ppdm_flow.testing.conformance import AnonymizerConformance

ITEMS = [f"item-{n:02d}-canary" for n in range(70)]
REQUIREMENT = ItemsetBreach.of("privacy.itemset_breach", attribute="basket", level=0.6, sizes=(1, 2), pool=1)
ROLES = {"basket": Role.ITEMS, "town": Role.INSENSITIVE}


def shop(rows: int = 360, longest: int = 5) -> Table:
    rng = np.random.default_rng(6)
    sets = [list(rng.choice(ITEMS, rng.integers(0, longest + 1), replace=False)) for _ in range(rows)]
    towns = Table.of({"town": [f"town-{i % 9}-canary" for i in range(rows)]})
    return towns.resettled({"basket": Baskets.of(sets)})


def randomized(table: Table) -> Table:
    return table.resettled({"basket": PackedSets.of(table.sets["basket"])})


def case(params: dict[str, object], **more: object) -> Case:
    requirements = more.pop("requirements", (REQUIREMENT,))
    bad = (BadInput("basket", table=randomized(shop(20))), BadInput("basket", params={**params, "longest": 3}))
    spec = registry.load("anonymizers", "randomize_transactions")
    return Case(spec, params, shop(), ROLES, requirements, bad=bad, **more)


def released(outcome: TransformOutcome) -> PackedSets:
    column = outcome.released.sets["basket"]
    return expand(column) if isinstance(column, SeededSets) else column


def no_breach(outcome: TransformOutcome) -> str | None:
    """Claim: by the operator's matrices and plain counts, no item or pair exceeds the level, length by length."""
    operator = from_document(outcome.fitted.set_operators["basket"].document)
    baskets = outcome.original.sets["basket"]
    sets = [frozenset(row) for row in baskets.texts()]
    for m in range(1, 6):
        inner = [s for s in sets if len(s) == m]
        for k in (1, 2):
            ruled = transition(operator, m, k)[k]
            for itemset in combinations(sorted({i for s in inner for i in s})[:25], k):
                seen = [ruled[len(s.intersection(itemset))] for s in inner]
                hit = sum(w for w, s in zip(seen, inner, strict=True) if itemset[0] in s)
                if hit / sum(seen) > REQUIREMENT.level + 1e-9:
                    return f"an item is inferred with {hit / sum(seen):.3f}"
    return None


def items_come_and_stay(outcome: TransformOutcome) -> str | None:
    """Claim: own items stay, and others come in, as often as the operator says, to six standard deviations."""
    operator = from_document(outcome.fitted.set_operators["basket"].document)
    before, after = outcome.original.sets["basket"], released(outcome)
    alphabet = after.categories.to_pylist()
    texts = [set(row) for row in after.baskets().texts()]
    for m in range(1, 6):
        rows = [i for i, n in enumerate(before.sizes) if n == m]
        own = [set(before.texts()[i]) for i in rows]
        stayed = sum(len(s & texts[i]) for i, s in zip(rows, own, strict=True))
        mean = float(np.arange(m + 1) @ operator.law(m))
        if abs(stayed - mean * len(rows)) > 6 * m * np.sqrt(len(rows)):
            return "items do not stay as often as the operator says"
        came = sum(len(texts[i]) for i in rows) - stayed
        if operator.refills:
            if came + stayed != m * len(rows):
                return "sets have another length"
            continue
        trials, rho = (len(alphabet) - m) * len(rows), operator.rho(m)
        if abs(came - rho * trials) > 6 * np.sqrt(trials * rho * (1 - rho)) + 1e-9:
            return "items do not come in as often as the operator says"
    return None


class TestChosen(AnonymizerConformance):
    def case(self) -> Case:
        return case({}, claims=(no_breach, items_come_and_stay))


class TestSeeds(AnonymizerConformance):
    def case(self) -> Case:
        return case({"form": "seeded", "challenge": "paper"}, claims=(items_come_and_stay,))


class TestGiven(AnonymizerConformance):
    def case(self) -> Case:
        params = {"cutoff": "3", "insertion": {"0": "0.2", "1": "0.1", "5": "0.3"}}
        return case(params, claims=(items_come_and_stay,), requirements=())


class TestUniform(AnonymizerConformance):
    def case(self) -> Case:
        return case({"operator": "uniform", "keep": "0.7"}, claims=(items_come_and_stay,))


class TestSelectASize(AnonymizerConformance):
    def case(self) -> Case:
        laws = {str(m): [str(1 / (m + 1))] * (m + 1) for m in range(1, 6)}
        params = {"operator": "select_a_size", "retained": laws, "insertion": "0.25"}
        return case(params, claims=(items_come_and_stay,))


class TestDeclaredAlphabet(AnonymizerConformance):
    def case(self) -> Case:
        domain = (*ITEMS, *(f"other-{n}" for n in range(30)))
        facts = {"basket": AttributeFacts("basket", Role.ITEMS, domain=domain, source="basket")}
        return case({}, facts=facts, claims=(items_come_and_stay,))
