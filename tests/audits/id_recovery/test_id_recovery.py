"""The audit `id_recovery`: every id of an unshuffled release, hardly any of a shuffled one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.genetic_encode.algorithm import encoded
from ppdm_flow.audits.id_recovery.algorithm import IdRecoveryAudit, decoded
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table

SPEC = load("audits", "id_recovery")
AUDIT = IdRecoveryAudit(SPEC.params(attribute="i"))
ROLES = {"i": Role.QUASI_IDENTIFIER, "a": Role.QUASI_IDENTIFIER}


@given(st.integers(2, 20), st.data(), st.booleans())
def test_decoding_undoes_the_step(width, data, complement):
    head = data.draw(st.integers(1, width - 1))
    ids = np.array(data.draw(st.lists(st.integers(0, (1 << width) - 1), min_size=1, max_size=30)))
    codes = encoded(ids, width, head, complement=complement)
    assert decoded(codes, width, head, complement=complement).tolist() == ids.tolist()
    until = data.draw(st.integers(head + 1, width))
    codes = encoded(ids, width, head, until, complement=complement)
    assert decoded(codes, width, head, until, complement=complement).tolist() == ids.tolist()


def release(build, order):
    rng = np.random.default_rng(6)
    ids, ages = rng.permutation(4096)[:500], rng.integers(18, 80, 500)
    original = {"i": [str(i) for i in ids], "a": [str(a) for a in ages]}
    coded = Table.of({"i": [str(c) for c in encoded(ids, 12, 4)], "a": original["a"]})
    case = build.case(original, coded, ROLES)
    return replace(case, candidate=build.view(coded.take(order), ROLES))  # pairs are taken before the shuffle


def test_an_unshuffled_release_gives_every_id(build):
    outcome = AUDIT.measure(*release(build, np.arange(500)).args)
    assert outcome.figures["recovered_ids"].value == 1.0
    assert outcome.figures["recovered_by_chance"].value < 0.05
    assert [f.code for f in outcome.findings] == ["PPF888"]


def test_a_shuffled_release_gives_hardly_any(build):
    outcome = AUDIT.measure(*release(build, np.random.default_rng(7).permutation(500)).args)
    assert outcome.figures["recovered_ids"].value < 0.05
    assert outcome.findings == ()


def test_random_positions_leave_a_share_of_the_ids(build):
    """A position of eleven that is the row's own and that of the row before gives an id back."""
    rng = np.random.default_rng(8)
    ids, ages = rng.permutation(4096)[:500], rng.integers(18, 80, 500)
    heads = rng.integers(1, 12, 500)
    original = {"i": [str(i) for i in ids], "a": [str(a) for a in ages]}
    coded = Table.of({"i": [str(c) for c in encoded(ids, 12, heads)], "a": original["a"]})
    case = build.case(original, coded, ROLES)
    audit = IdRecoveryAudit(SPEC.params(attribute="i", head="random"))
    found = audit.measure(*case.args).figures
    by_hand = max(np.mean(decoded(encoded(ids, 12, heads), 12, head) == ids) for head in range(1, 12))
    assert found["recovered_ids"].value == pytest.approx(by_hand)
    assert 1 / 11**2 < by_hand < 0.2


def test_masks_are_looked_up(build):
    original = {"i": ["10604011", "10604012", "10602014", "10602014"], "a": ["1", "2", "3", "4"]}
    released = {"i": ["106040**", "106040**", "106020**", "106020**"], "a": original["a"]}
    audit = IdRecoveryAudit(SPEC.params(attribute="i", method="mask"))
    outcome = audit.measure(*build.case(original, released, ROLES).args)
    assert outcome.figures["recovered_ids"].value == 0.5
    assert outcome.figures["recovered_by_chance"].value == 0.75
    assert [f.code for f in outcome.findings] == ["PPF888"]


@pytest.mark.parametrize("values", [["x", "1"], [None, "1"], ["4096", "1"]])
def test_what_is_no_code_is_not_turned_back(build, values):
    case = build.case({"i": ["1", "2"], "a": ["1", "2"]}, {"i": values, "a": ["1", "2"]}, ROLES)
    assert AUDIT.measure(*case.args).figures["recovered_ids"].value is None


def test_without_pairs_nothing_is_said(build):
    case = release(build, np.arange(500)).but(pairs=None)
    assert AUDIT.measure(*case.args).figures["recovered_ids"].value is None


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attribute": "i"}, []),
        ({}, ["PPF861"]),
        ({"attribute": "i", "width": 4, "head": 4}, ["PPF782"]),
        ({"attribute": "i", "until": 4}, ["PPF782"]),
        ({"attribute": "i", "until": 13}, ["PPF782"]),
        ({"attribute": "i", "head": "random", "until": 4}, []),
    ],
)
def test_problems(params, codes):
    scope = Scope("s", {"i": AttributeFacts("i", Role.QUASI_IDENTIFIER)}, ())
    assert [p.code for p in SPEC.effect(SPEC.params(**params), scope).problems] == codes
