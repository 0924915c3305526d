"""Cells that are other names of single values, as the policy itself says, count as these values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


def audit(name):
    spec = load("audits", name)
    return spec.load()(spec.params())


def coded(name, recoded, **more):
    """``recoded``: values with their cells."""
    derived = Lineage(frozenset([name]))
    changes = (("coded", Change.GENERALIZED),)
    facts = AttributeFacts(name, Role.QUASI_IDENTIFIER, source=name, changes=changes, derived=derived, labels=True)
    return replace(facts, recoded=tuple(recoded.items()), **more)


@pytest.mark.parametrize(
    ("recoded", "shown", "share"),
    [
        ({"100": "5", "200": "6", "300": "7", "400": "8"}, ["5", "6", "7", "8"], 1.0),
        ({"100": "5", "200": "it's"}, ["5", "it's", "7", "8"], 0.5),
        ({}, ["5", "6", "7", "8"], 0.0),
        ({"100": "5", "200": "5"}, ["5", "5", "7", "8"], 0.0),
        ({"100": "200"}, ["200", "200", "300", "400"], 0.75),  # a cell of two values is what it says
        ({"901": "100", "902": "200", "903": "300"}, ["100", "200", "300", "400"], 1.0),  # of values that nobody has
        ({"100": "200", "200": "100"}, ["200", "100", "300", "400"], 1.0),
    ],
)
def test_numbers_under_other_names_are_the_numbers(recoded, shown, share, build, agree):
    values = np.array([100, 200, 300, 400], dtype=np.int64)
    rows = np.arange(4)
    number = AttributeFacts("x", Role.SENSITIVE, AttributeType.INTEGER, source="x")
    example = build.case(
        Table({"x": NumericColumn(values, AttributeType.INTEGER, np.zeros(4, dtype=bool))}, rows),
        Table({"x": Column.of(shown)}, rows),
        "s",
        attributes={"x": coded("x", recoded, type=AttributeType.INTEGER)},
        original_attributes={"x": number},
        requirements=(IntervalDisclosure.of("r", "x", width=Width(absolute=1.0), max=0.5),),
    )
    assert agree(audit("interval_disclosure"), example)["r.share"] == share


@pytest.mark.parametrize("recoded", [{"a": "A", "b": "B"}, {"a": "b", "b": "a"}, {"a": "A"}])
def test_rows_under_other_names_are_the_rows(recoded, build, agree):
    """Rare original rows under other names are rare original rows, also where the names are exchanged."""
    values = ["a"] * 3 + ["b"] * 5
    example = build.case(
        {"x": values, "y": [str(i) for i in range(8)]},
        {"x": [recoded.get(v, v) for v in values], "y": [str(i) for i in range(8)]},
        "qq",
        attributes={"x": coded("x", recoded), "y": AttributeFacts("y", Role.QUASI_IDENTIFIER, source="y")},
        requirements=(Blend.of("r", min_support=SupportBound(count=2), max=0.5),),
    )
    assert agree(audit("blend"), example)["r.share"] == 1.0


def test_rows_with_coarser_cells_are_compared_without_them(build, agree):
    example = build.case(
        {"x": ["a", "b", "c", "d"], "y": ["1", "1", "2", "2"]},
        {"x": ["A", "B", "other", "other"], "y": ["1", "1", "2", "2"]},
        "qq",
        attributes={
            "x": coded("x", {"a": "A", "b": "B", "c": "other", "d": "other"}),
            "y": AttributeFacts("y", Role.QUASI_IDENTIFIER, source="y"),
        },
        requirements=(Blend.of("r", min_support=SupportBound(count=2), max=0.5),),
    )
    assert agree(audit("blend"), example)["r.rare_released"] == 0
