"""Random tables of people with several rows, random requirements, and what a step makes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from adversary import people_judging as judge
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk import registry
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case

G = ("age", "town")
TOWNS = tuple((t, (t[0], "*")) for t in ("N1", "N2", "S1", "S2", "S3", "W1"))
AGES = tuple((str(a), (f"{a // 2 * 2}-{a // 2 * 2 + 1}", f"{a // 4 * 4} or more", "*")) for a in range(10))
AGE = AttributeFacts("age", Role.QUASI_IDENTIFIER, AttributeType.INTEGER)
FACTS = {
    "who": AttributeFacts("who", Role.SUBJECT),
    "age": AGE,
    "town": AttributeFacts("town", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=TOWNS)),
    "ill": AttributeFacts("ill", Role.SENSITIVE),
    "ward": AttributeFacts("ward", Role.INSENSITIVE),
    "card": AttributeFacts(
        "card", Role.INSENSITIVE, derived=Lineage(frozenset({"who"}), value_map=False, keyed=frozenset({"who"}))
    ),
}
REFUSALS = {"PPF784", "PPF806", "PPF807", "PPF882", "PPF799"}


@dataclass
class Trial:
    """A table as rows, and what is asked of it."""

    rows: list[dict]
    requirements: tuple
    nulls: Nulls
    people: PeopleCount
    missing: bool


def trial(rng: random.Random, *, once: bool = False, missing: bool | None = None) -> Trial:
    """Return a random one; ``once``: everybody has one row."""
    missing = rng.random() < 0.5 if missing is None else missing
    people = rng.randint(2, 25)
    rows = []
    for person in range(people):
        age, town = rng.randint(0, 9), rng.choice(TOWNS)[0]
        many = 1 if once else rng.choice([1, 1, 2, 2, 3, 5, rng.randint(1, 20)])
        for _ in range(many):
            moved = rng.random() < 0.3
            rows.append(
                {
                    "who": f"p{person}",
                    "age": None if missing and rng.random() < 0.1 else str(rng.randint(0, 9) if moved else age),
                    "town": None if missing and rng.random() < 0.1 else rng.choice(TOWNS)[0] if moved else town,
                    "ill": None if missing and rng.random() < 0.05 else rng.choice("aabbccde"[: rng.randint(3, 8)]),
                    "ward": rng.choice("xyz") if rng.random() < 0.7 else f"w{person // 2}",
                }
            )
    rng.shuffle(rows)
    known = rng.choice([1, 1, 2, 3, None])
    return Trial(rows, tuple(asked(rng)), rng.choice(list(Nulls)), PeopleCount("who", known), missing)


def asked(rng: random.Random):
    """Yield random requirements."""
    over = {"attributes": G if rng.random() < 0.8 else (rng.choice(G),)}
    narrow = {"attributes": G if rng.random() < 0.8 else (rng.choice(G),)}
    yield KAnonymity.of("privacy.k_anonymity", k=rng.randint(2, 4), **narrow)
    every = [
        LDiversity.of("privacy.l_diversity", "ill", l=rng.choice([2, 2, 3]), **over),
        LDiversity.of("privacy.entropy", "ill", l=rng.choice([1.5, 2]), variant=Diversity.ENTROPY, **over),
        LDiversity.of("privacy.recursive", "ill", l=2, c=rng.choice([1.5, 3]), variant=Diversity.RECURSIVE, **over),
        AlphaK.of("privacy.alpha_k", "ill", alpha=rng.choice([0.5, 0.7, 0.9]), **over),
        AlphaK.of("privacy.alpha_a", "ill", alpha=rng.choice([0.4, 0.6]), values=("a",), **over),
        TCloseness.of("privacy.t_closeness", "ill", t=rng.choice([0.2, 0.4]), **over),
        DeltaDisclosure.of("privacy.delta", "ill", delta=rng.choice([0.8, 1.5]), **over),
        BetaLikeness.of("privacy.beta", "ill", beta=rng.choice([0.7, 1.5]), **over),
    ]
    yield from rng.sample(every, rng.choice([0, 1, 1, 2]))


def case_of(step: str, params: dict, told: Trial, *, counted: bool = True, claims=()) -> Case:
    """Return the case of a step; ``counted``: people are, else rows."""
    table = Table.of({n: [r[n] for r in told.rows] for n in told.rows[0]})
    return Case(
        spec=registry.load("anonymizers", step),
        params=params,
        table=table,
        facts=_facts(step),
        requirements=told.requirements,
        claims=claims,
        nulls=told.nulls,
        people=told.people if counted else None,
    )


def _facts(step: str):
    graded = replace(AGE, type=AttributeType.TEXT, hierarchy=HierarchySpec(levels=AGES))
    return FACTS | {"age": graded} if step in {"full_domain_recoding", "progressive_disclosure"} else FACTS


def told_to(step: str, rng: random.Random, *, once: bool = False) -> Trial:
    """Return a trial that the step can do."""
    told = trial(rng, once=once, missing=False if step == "microaggregation" else None)
    if step != "progressive_disclosure":
        return told
    least = [r for r in told.requirements if isinstance(r, KAnonymity)]
    return replace(told, requirements=(*least, *templates(rng)))


def released(case: Case, told: Trial) -> list[dict] | None:
    """Return the released rows with their persons; None where the step refuses."""
    try:
        fitted = case.fit()
    except PluginError as error:
        codes = {d.code for d in error.diagnostics}
        if codes <= REFUSALS:
            return None
        raise
    transform = fitted.transform
    table = case.table
    if hasattr(transform, "apply_table"):
        out = transform.apply_table(table, Draws(b"0" * 32, 1))[""]
    else:
        half = len(table) // 2
        parts = [table.take(np.arange(half)), table.take(np.arange(half, len(table)))]
        outs = [transform.apply(p, Draws(b"0" * 32, 1)) for p in parts]
        return [row for out in outs for row in rows_of(out, told)]
    return rows_of(out, told)


def rows_of(table: Table, told: Trial) -> list[dict]:
    """Return rows as dicts, suppressed cells as a mark, with the person of the original row."""
    columns = {}
    for name in table.names:
        column = table[name]
        texts = column.categories.to_pylist()
        columns[name] = ["⊥" if c == -2 else None if c == -1 else texts[c] for c in column.codes.tolist()]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    numbered = zip(rows, table.rows.tolist(), strict=True)
    return [row | {"person": told.rows[at]["who"], "row": at} for row, at in numbered]


def broken(case: Case, told: Trial, rows: list[dict]) -> list[str]:
    """Return the ids of the requirements that the step claims and the rows break."""
    claimed = [r for r in told.requirements if r.id in case.effect.serves]
    return [r.id for r in claimed if rows and not judge.holds(r, rows, told.nulls, told.people.known_rows)]


def of_mondrian(rng: random.Random) -> dict:
    """Return random parameters."""
    return {
        "partitioning": rng.choice(["strict", "strict", "relaxed"]),
        "cut": rng.choice(["gain", "gain", "median"]),
        "labels": rng.choice([{}, {}, {"town": "sets"}, {"age": "sets"}]),
    }


def with_cards(told: Trial) -> Trial:
    """Return it with a pseudonym beside each row."""
    return replace(told, rows=[row | {"card": f"c{row['who']}"} for row in told.rows])


def of_suppress(rng: random.Random) -> dict:
    """Return random parameters."""
    return {
        "small": rng.choice(["cells", "cells", "rows"]),
        "rare": rng.choice([{}, {}, {"town": {"count": 3}}, {"ward": {"count": 3}}]),
        "linked": rng.choice(["crowds", "crowds", "drop"]),
    }


def standing_out(told: Trial, rows: list[dict]) -> list[str]:
    """Return the ids of k-anonymity that the known rows of linked people break."""
    asked = [r for r in told.requirements if isinstance(r, KAnonymity)]
    return [r.id for r in asked if rows and _crowd(r, told, rows) < r.k]


def _crowd(requirement: KAnonymity, told: Trial, rows: list[dict]) -> float:
    names = requirement.attributes
    if told.nulls is Nulls.EXCLUDE:
        rows = [r for r in rows if all(r[n] is not None for n in names)]
    columns = [n for n in (*G, "ill", "ward") if n not in names]
    cards = [n for n in rows[0] if n == "card"] if rows else []
    if told.nulls is Nulls.WILDCARD:
        return 0 if any(judge.linked(rows, columns, cards)) else inf
    crowd = judge.smallest_crowd(rows, names, columns, told.people.known_rows, cards)
    return inf if crowd is None else crowd


def of_full_domain_recoding(rng: random.Random) -> dict:
    """Return random parameters."""
    return {
        "suppression": rng.choice([0, 0.1, 0.5]),
        "suppress": rng.choice(["rows", "cells"]),
        "cost": rng.choice(["loss", "discernibility", "entropy"]),
    }


def of_microaggregation(rng: random.Random) -> dict:
    """Return random parameters."""
    return {"release": rng.choice(["mean", "median"])}


def of_progressive_disclosure(rng: random.Random) -> dict:
    """Return random parameters."""
    return {
        "score": "entropy",
        "disclose": rng.choice(["useful", "valid"]),
        "search": rng.choice(["greedy", "beam"]),
        "k_anonymity": rng.choice([True, False]),
        "hierarchies": rng.choice(["use", "ignore"]),
    }


def templates(rng: random.Random):
    """Yield random templates."""
    for name in ("first", "second")[: rng.randint(1, 2)]:
        yield InferenceTemplate.of(
            f"privacy.templates.{name}",
            name,
            channel=rng.choice([G, ("age",), ("town",)]),
            sensitive=by_attribute([("ill", rng.choice("ab"))]),
            confidence=rng.choice([0.4, 0.6, 0.8]),
            negated=rng.random() < 0.2,
            min_support=rng.choice([None, 2, 3]),
        )


STEPS = {
    "full_domain_recoding": of_full_domain_recoding,
    "microaggregation": of_microaggregation,
    "mondrian": of_mondrian,
    "progressive_disclosure": of_progressive_disclosure,
    "suppress": of_suppress,
}
"""Random parameters of each step."""
