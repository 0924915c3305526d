"""Truncate ZIP codes: three digits stay, small areas become 000, and nothing else is left."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.truncate_zip_codes.algorithm import truncated
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.safe_harbor.requirement import LISTS, areas
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

SPEC = registry.load("anonymizers", "truncate_zip_codes")
SMALL = areas(LISTS)


@pytest.mark.parametrize(
    ("text", "numeric", "expected"),
    [
        ("12180", False, "121"),
        ("12180-0001", False, "121"),
        ("121800001", False, "121"),
        ("03601", False, "000"),
        (" 02139 ", False, "021"),
        ("021", False, "021"),
        ("021**", False, "021"),
        ("036", False, "000"),
        ("00000", False, "000"),
        ("2139", False, "***"),  # text that has lost its zero, or something else: nobody knows
        ("2139", True, "021"),
        ("3601", True, "000"),
        ("601", True, "006"),
        ("K1A 0B1", False, "***"),
        ("", False, "***"),
        ("1218", False, "***"),
        ("1218\u0660", False, "***"),
    ],
)
def test_truncated(text, numeric, expected):
    assert truncated(text, SMALL, numeric=numeric) == expected


@given(st.text(alphabet="0123456789-* a", max_size=11), st.booleans())
def test_nothing_finer_is_left(text, numeric):
    label = truncated(text, SMALL, numeric=numeric)
    assert label == "***" or (re.fullmatch(r"[0-9]{3}", label) and label not in SMALL)
    assert truncated(label, SMALL) == label


def test_every_five_digits():
    labels = {truncated(f"{n:05d}", SMALL) for n in range(100_000)}
    assert labels == {f"{n:03d}" for n in range(1000)} - SMALL


def test_effect():
    facts = AttributeFacts("zip", Role.QUASI_IDENTIFIER)
    scope = Scope("s", {"zip": facts, "zip_home": facts, "sex": facts}, ())
    found = SPEC.effect(SPEC.params.model_validate({"attributes": ["zip*"]}), scope)
    assert found.changes == dict.fromkeys(("zip", "zip_home"), Change.GENERALIZED)
    (problem,) = SPEC.effect(SPEC.params.model_validate({"attributes": ["zap"]}), scope).problems
    assert problem.code == "PPF606"


class TestConformance(AnonymizerConformance):
    def case(self):
        codes = [f"{i:05d}" for i in range(0, 90_000, 300)]
        table = Table.of({"zip": [None, "⊥", *codes[2:]], "town": [f"town-{i % 7}" for i in range(300)]})
        return Case(
            SPEC,
            {"attributes": ["zip"]},
            table,
            domains={"zip": frozenset(f"{i:03d}" for i in range(1000)) - SMALL},
            claims=(claims.is_function("zip"),),
            bad=(BadInput("zap", params={"attributes": ["zap"]}),),
        )
