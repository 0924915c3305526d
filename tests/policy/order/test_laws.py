"""Laws of a partial order, and that spelling, names and order of writing change nothing."""

from __future__ import annotations

import copy
import itertools
import json

import numpy as np
import pytest

from ppdm_flow.policy.order import ChangeVerdict, PolicyRelation, compare

AT_LEAST = {PolicyRelation.EQUAL, PolicyRelation.STRICTER}
FLIPPED = {
    PolicyRelation.EQUAL: PolicyRelation.EQUAL,
    PolicyRelation.STRICTER: PolicyRelation.WEAKER,
    PolicyRelation.WEAKER: PolicyRelation.STRICTER,
    PolicyRelation.INCOMPARABLE: PolicyRelation.INCOMPARABLE,
}


def drawn(makers, seed):
    return makers.Maker(np.random.default_rng(seed))


@pytest.mark.slow
def test_reflexive_and_antisymmetric(makers, written):
    maker = drawn(makers, 1)
    for _ in range(100):
        old = maker.policy()
        new = maker.changed(old)
        before, after = written(old, "old.yaml"), written(new, "new.yaml")
        if before is not None:
            same = compare(before, written(old, "again.yaml"))
            assert (same.relation, same.changes, same.governance) == (PolicyRelation.EQUAL, (), ())
        if before is not None and after is not None:
            assert compare(after, before).relation is FLIPPED[compare(before, after).relation]


@pytest.mark.random
def test_transitive(makers, written):
    maker = drawn(makers, 2)
    chains = 0
    for _ in range(250):
        policies = [maker.policy()]
        policies += [tightened(maker, policies[0])]
        policies += [tightened(maker, policies[1])]
        loaded = [written(p, f"{i}.yaml") for i, p in enumerate(policies)]
        if None in loaded:
            continue
        steps = [compare(a, b).relation for a, b in itertools.pairwise(loaded)]
        if set(steps) <= AT_LEAST:
            chains += 1
            assert compare(loaded[0], loaded[2]).relation in AT_LEAST
            assert compare(loaded[2], loaded[0]).relation in {FLIPPED[r] for r in AT_LEAST}
    assert chains >= 60


def tightened(maker, policy):
    """A copy with one more requirement, or with one number changed: often stricter."""
    found = copy.deepcopy(policy)
    if maker.chance(0.5):
        kind = maker.one(*maker.KINDS)
        found["privacy"].setdefault(kind, maker.clause(kind))
    else:
        maker.number(found)
    return found


@pytest.mark.slow
def test_spelling_names_and_order_are_neutral(makers, written):
    maker = drawn(makers, 3)
    for _ in range(120):
        old = maker.policy()
        maker.gate(old)
        new = respelt(maker, old)
        before, after = written(old, "old.yaml"), written(new, "new.yaml")
        if before is None:
            continue
        assert after is not None, new
        for one, other in ((before, after), (after, before)):
            found = compare(one, other)
            assert found.relation is PolicyRelation.EQUAL, (old, new, found.changes)
            assert {c.verdict for c in found.changes} <= {ChangeVerdict.NEUTRAL}


def respelt(maker, policy):
    """The same policy: keys in another order, lists of names too, other names, 0.5 as 0.50, comments between."""
    found = copy.deepcopy(policy)
    privacy = found["privacy"]
    if "templates" in privacy:
        privacy["templates"] = {f"renamed-{name}": body for name, body in privacy["templates"].items()}
    found["gates"] = {f"renamed-{name}": gate for name, gate in found["gates"].items()}
    for gate in found["gates"].values():
        gate["metric"] = f"renamed-{gate['metric']}"
    found["audits"] = {f"renamed-{name}": audit for name, audit in found["audits"].items()}
    found["releases"] = {f"renamed-{name}": release for name, release in found["releases"].items()}
    found["name"], found["description"] = "other", "words"
    return "\n# a comment\n" + text_of(shuffled(maker, found)) + "\n# another\n"


def shuffled(maker, value, key=""):
    if isinstance(value, dict):
        names = list(value)
        maker.rng.shuffle(names)
        return {name: shuffled(maker, value[name], name) for name in names}
    if isinstance(value, list) and key in ("attributes", "channel", "sizes", "values"):
        mixed = list(value)
        maker.rng.shuffle(mixed)
        return mixed
    return [shuffled(maker, v) for v in value] if isinstance(value, list) else value


def text_of(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {text_of(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return f"{value}0" if isinstance(value, float) else json.dumps(value)


EQUIVALENT = {
    "a support in other words": ("blend: {min_support: 5}", "blend: {min_support: {count: 5}}"),
    "a bound as a list": (
        "sensitivities: {s: {values: {HIV: {r1: 0.1, r2: 0.25}}}}",
        "sensitivities: {s: {values: {HIV: [{r1: 0.10, r2: 0.250}]}}}",
    ),
    "a group for its values": (
        "sensitivities: {s: {groups: {g: {values: [HIV, HBV], r1: 0.1, r2: 0.25}}}}",
        "sensitivities: {s: {values: {HBV: {r1: 0.1, r2: 0.25}, HIV: {r1: 0.1, r2: 0.25}}}}",
    ),
    "one gamma, other r1 and r2": (
        "sensitivities: {s: {values: {HIV: {r1: 0.25, r2: 0.5}}}}",
        "sensitivities: {s: {values: {HIV: {r1: 0.1, r2: 0.25}}}}",
    ),
    "attributes that are the default": ("k_anonymity: {k: 5}", "k_anonymity: {k: 5, attributes: [city, job]}"),
    "a kind that is the default": ("l_diversity: {s: {l: 2}}", "l_diversity: {s: {l: 2, kind: distinct}}"),
    "a template in two": (
        "templates: {t: {channel: [job], sensitive: {s: [HIV, HBV]}, confidence: 0.5}}",
        (
            "templates: {t: {channel: [job], sensitive: {s: [HIV]}, confidence: 0.5},"
            " u: {channel: [job], sensitive: {s: [HBV]}, confidence: 0.5}}"
        ),
    ),
    "a template that another implies": (
        "templates: {t: {channel: [job, city], sensitive: {s: [HIV]}, confidence: 0.5}}",
        (
            "templates: {t: {channel: [job, city], sensitive: {s: [HIV]}, confidence: 0.5},"
            " u: {channel: [job], sensitive: {s: [HIV]}, confidence: 0.6}}"
        ),
    ),
}


@pytest.mark.parametrize(("one", "other"), EQUIVALENT.values(), ids=EQUIVALENT)
def test_equivalent_clauses(order, one, other):
    head = "version: 1\nname: p\nattributes: {job: {role: quasi_identifier}, city: {role: quasi_identifier},"
    head += " s: {role: sensitive}}\nreleases: {r: {path: r.csv}}\nprivacy: {"
    assert order(f"{head}{one}}}", f"{head}{other}}}").relation is PolicyRelation.EQUAL
    assert order(f"{head}{other}}}", f"{head}{one}}}").relation is PolicyRelation.EQUAL
