"""Floors against the order: what keeps `not weaker` is never found weaker, nor incomparable, by the comparison.

Both were written apart: a floor looks at places, the comparison at what follows from what.
"""

from __future__ import annotations

import copy
import json
from collections import Counter

import numpy as np
import pytest

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.policy import load
from ppdm_flow.policy.order import ChangeVerdict, compare

PAIRS = 1_500


@pytest.fixture
def heir(tmp_path):
    """Write a policy that makes ``new`` of a template that says ``old``, with floors; return it with its errors."""

    def written(old, new, floors):
        template = {k: v for k, v in old.items() if k not in ("version", "name")} | {"floors": floors}
        (tmp_path / "house.yaml").write_text(json.dumps(template))
        over = {k: v for k, v in patch(old, new).items() if k not in ("version", "name")}
        (tmp_path / "heir.yaml").write_text(json.dumps({"version": 1, "name": "p", "extends": "house.yaml", **over}))
        found = load(tmp_path / "heir.yaml")
        return found, [d for d in found.diagnostics if d.severity is Severity.ERROR]

    return written


def patch(old, new):
    """What an heir of ``old`` has to say so that ``new`` comes out."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    found = {key: None for key in old if key not in new}
    return found | {k: patch(old[k], v) if k in old else v for k, v in new.items() if k not in old or old[k] != v}


@pytest.mark.random
def test_what_keeps_the_floors_is_nowhere_weaker(makers, written, heir):
    maker = makers.Maker(np.random.default_rng(17))
    tally = Counter()
    for _ in range(PAIRS):
        old = maker.policy()
        new = changed(maker, old)
        plain = written(old, "old.yaml"), written(new, "new.yaml")
        if None in plain or old == new:
            continue
        loaded, errors = heir(old, new, {part: "not weaker" for part in ("privacy", "gates") if part in old})
        if {d.code for d in errors} - {"PPF308"}:
            continue
        every = compare(*plain).changes
        asked = [c for c in every if c.clause.startswith(("privacy", "gates"))]
        verdicts = {c.verdict for c in asked}
        sound = verdicts <= {ChangeVerdict.STRONGER, ChangeVerdict.NEUTRAL}
        assert sound or errors, json.dumps([old, new])
        if not errors:
            told = [(c.clause, c.verdict) for c in compare(plain[0], loaded).changes]
            assert told == [(c.clause, c.verdict) for c in every]
        tally[bool(errors), sound, ChangeVerdict.STRONGER in verdicts] += 1
    # the test has power: floors let stronger policies pass, and refuse others
    assert tally[False, True, True] >= 60
    assert tally[True, False, False] >= 200


def changed(maker, old):
    new = copy.deepcopy(old)
    for _ in range(maker.one(1, 1, 2)):
        kind = maker.one(*["number"] * 8, "clause", "nulls", "audit", "gate", "role", "ledger")
        if kind == "clause" and new["privacy"]:
            name = maker.one(*new["privacy"])
            new["privacy"][name] = maker.clause(name)
        elif kind == "nulls":
            maker.nulls(new)
        elif kind == "audit" and "audits" in new:
            name = maker.one(*new["audits"])
            new["audits"][name] = maker.one({"use": "distributions"}, {"use": "class_sizes", "release": "study"})
        elif kind == "role":
            name = maker.one("q1", "q2", "q3")
            if new["attributes"][name]["role"] == "quasi_identifier":
                new["attributes"][name]["role"] = maker.one("insensitive", "target", "sensitive")
        elif kind == "ledger" and "ledger" in new:
            maker.one(
                lambda: new.pop("ledger"), lambda: new["ledger"].update(path="other"), lambda: maker.ledger(new)
            )()
        elif kind == "gate" and "gates" in new:
            maker.gate(new)
        else:
            maker.number(new)
    return new
