"""Mask: text in, text out; nothing leaves it as it came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.mask.algorithm import masked
from ppdm_flow.anonymizers.mask.spec import MaskRule
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

SPEC = registry.load("anonymizers", "mask")


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("02174", {"first": 3}, "021**"),  # postal codes are text: the zero stays
        ("02174", {"format": "postal_code"}, "021**"),
        ("02174", {"format": "postal_code", "first": 0}, "*****"),
        ("10604012", {"first": 6}, "106040**"),
        ("4929-1234-5678-9012", {"format": "card_number"}, "****-****-****-9012"),
        ("4929 1234", {"last": 2, "separators": "mask", "sign": "#"}, "#######34"),
        ("+49 30 901820", {"format": "phone"}, "+49 3* ****20"),
        ("abcdef", {"first": 1, "length": 3}, "a***"),
        ("Åse", {"first": 1}, "Å**"),
        ("123", {"first": 3}, None),
        ("1-2", {"first": 1, "last": 1}, None),
        ("", {}, None),
    ],
)
def test_masked(text, rule, expected):
    assert masked(text, MaskRule(**rule)) == expected


@given(st.text(alphabet="ab1- ", max_size=12), st.integers(0, 4), st.integers(0, 4))
def test_ends_stay_and_all_else_is_covered(text, first, last):
    found = masked(text, MaskRule(first=first, last=last))
    places = [i for i, c in enumerate(text) if c.isalnum()]
    if len(places) <= first + last:
        assert found is None
        return
    kept = {*places[:first], *places[len(places) - last :]} if last else {*places[:first]}
    assert found == "".join(c if i in kept or not c.isalnum() else "*" for i, c in enumerate(text))


def test_effect():
    scope = Scope(
        "s", {"zip": AttributeFacts("zip", Role.IDENTIFIER), "tel": AttributeFacts("tel", Role.SENSITIVE)}, ()
    )
    found = SPEC.effect(SPEC.params.model_validate({"attributes": {"zip": {"first": "3"}, "t*": "phone"}}), scope)
    assert found.changes == dict.fromkeys(("zip", "tel"), Change.GENERALIZED)
    (problem,) = SPEC.effect(SPEC.params.model_validate({"attributes": {"zap": "phone"}}), scope).problems
    assert problem.code == "PPF606"


class TestConformance(AnonymizerConformance):
    def case(self):
        codes = [f"{i:05d}" for i in range(0, 9000, 30)]
        table = Table.of({"zip": [None, "⊥", *codes[2:]], "town": [f"town-{i % 7}" for i in range(300)]})
        return Case(
            SPEC,
            {"attributes": {"zip": {"first": "3"}}},
            table,
            domains={"zip": frozenset(f"{i:03d}**" for i in range(90))},
            claims=(claims.is_function("zip"),),
            bad=(
                BadInput("zip", Table.of({"zip": ["12345", "123"]})),
                BadInput("zap", params={"attributes": {"zap": {}}}),
            ),
        )
