"""Values from the environment decide what a comparison says, and stand nowhere in it."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from ppdm_flow.policy.order import ChangeVerdict, PolicyRelation, compare

K = """\
version: 1
name: p
params: {k: {type: integer, default: 5, from_env: PPDM_TEST_K}}
attributes: {a: {role: quasi_identifier}}
privacy: {k_anonymity: {k: '${params.k}'}}
releases: {r: {path: r.csv}}
"""
REPORT = K.replace("k: '${params.k}'", "k: 5") + "report: {values: '${params.k}'}\n"


def test_one_value(written, monkeypatch):
    monkeypatch.setenv("PPDM_TEST_K", "90817263")
    old, new = written(K.replace("'${params.k}'", "2"), "a.yaml"), written(K, "b.yaml")
    there, back = compare(old, new), compare(new, old)
    assert (there.relation, back.relation) == (PolicyRelation.STRICTER, PolicyRelation.WEAKER)
    assert [c.new.text for c in there.changes] == [c.old.text for c in back.changes] == ["k: (from the environment)"]
    assert [c.why for c in there.changes] == ["it implies the old one: by values from the environment, not shown"]
    for found in (there, back):
        assert "908172" not in str(found.changes)


def test_words_of_a_clause(written, monkeypatch):
    """Where a line states a word of its own, the environment's is not among them."""
    text = REPORT.replace("type: integer, default: 5", "default: hide")
    monkeypatch.setenv("PPDM_TEST_K", "show")
    old, new = written(text.replace("'${params.k}'", "hide"), "a.yaml"), written(text, "b.yaml")
    (change,) = compare(old, new).changes
    assert (change.clause, change.verdict) == ("report.values", ChangeVerdict.WEAKER)
    assert (change.old.text, change.new.text) == ("hide", "(from the environment)")


@pytest.mark.random
def test_as_long_as_the_verdicts_are_the_same_no_word_is_another(makers, written, monkeypatch):
    """Random pairs; every number that the second asks for comes from the environment, and is moved."""
    maker = makers.Maker(np.random.default_rng(11))
    alike = 0
    for _ in range(400):
        old = maker.policy()
        new = copy.deepcopy(old)
        maker.number(new)
        moved = [hidden(new, share) for share in (0.0, 0.01)]
        compared = []
        for text, environment in moved:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            before, after = written(old, "old.yaml"), written(text, "new.yaml")
            if before is None or after is None:
                break
            compared.append([*compare(before, after).changes, *compare(after, before).changes])
        if len(compared) < 2 or moved[0][1] == moved[1][1] or not compared[0]:
            continue
        if [(c.clause, c.verdict) for c in compared[0]] == [(c.clause, c.verdict) for c in compared[1]]:
            assert compared[0] == compared[1]
            alike += sum(c.verdict is not ChangeVerdict.NEUTRAL for c in compared[0])
    assert alike >= 60


def hidden(policy, share):
    """Return the policy with params for the numbers that it requires, and the variables: each moved by a share."""
    found, environment, params = copy.deepcopy(policy), {}, {}

    def closed(value):
        if isinstance(value, dict):
            return {key: closed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [closed(item) for item in value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        name = f"p{len(params)}"
        amount = value + round(100 * share) if isinstance(value, int) else value * (1 + share)
        environment[f"PPDM_TEST_{name}"] = str(amount)
        params[name] = {"from_env": f"PPDM_TEST_{name}"}
        return f"${{params.{name}}}"

    for section in ("privacy", "gates"):
        if section in found:
            found[section] = closed(found[section])
    return {**found, "params": params}, environment
