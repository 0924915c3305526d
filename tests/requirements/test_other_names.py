"""Cells that are other names of single values, as the policy itself says, count as these values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.supports import Support
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table


def audit(name):
    spec = load("audits", name)
    return spec.load()(spec.params())


def coded(name, names, **more):
    derived = Lineage(frozenset([name]))
    changes = (("coded", Change.GENERALIZED),)
    facts = AttributeFacts(name, Role.QUASI_IDENTIFIER, source=name, changes=changes, derived=derived, labels=True)
    return replace(facts, other_names=tuple(names.items()), **more)


@pytest.mark.parametrize(
    ("names", "share"),
    [({"5": "100", "6": "200", "7": "300", "8": "400"}, 1.0), ({"5": "100", "it's": "200"}, 0.5), ({}, 0.0)],
)
def test_numbers_under_other_names_are_the_numbers(names, share, build, agree):
    values = np.array([100, 200, 300, 400], dtype=np.int64)
    rows, shown = np.arange(4), ["5", "it's" if "it's" in names else "6", "7", "8"]
    number = AttributeFacts("x", Role.SENSITIVE, AttributeType.INTEGER, source="x")
    example = build.case(
        Table({"x": NumericColumn(values, AttributeType.INTEGER, np.zeros(4, dtype=bool))}, rows),
        Table({"x": Column.of(shown)}, rows),
        "s",
        attributes={"x": coded("x", names, type=AttributeType.INTEGER)},
        original_attributes={"x": number},
        requirements=(IntervalDisclosure.of("r", "x", width=Width(absolute=1.0), max=0.5),),
    )
    assert agree(audit("interval_disclosure"), example)["r.share"] == share


@pytest.mark.parametrize("names", [{"A": "a", "B": "b"}, {"b": "a", "a": "b"}])
def test_rows_under_other_names_are_the_rows(names, build, agree):
    """Rare original rows under other names are rare original rows, also where the names are exchanged."""
    values = ["a"] * 3 + ["b"] * 5
    name_of = {value: name for name, value in names.items()}
    example = build.case(
        {"x": values, "y": [str(i) for i in range(8)]},
        {"x": [name_of[v] for v in values], "y": [str(i) for i in range(8)]},
        "qq",
        attributes={"x": coded("x", names), "y": AttributeFacts("y", Role.QUASI_IDENTIFIER, source="y")},
        requirements=(Blend.of("r", min_support=Support(count=2), max=0.5),),
    )
    assert agree(audit("blend"), example)["r.share"] == 1.0


def test_rows_with_coarser_cells_are_compared_without_them(build, agree):
    example = build.case(
        {"x": ["a", "b", "c", "d"], "y": ["1", "1", "2", "2"]},
        {"x": ["A", "B", "other", "other"], "y": ["1", "1", "2", "2"]},
        "qq",
        attributes={"x": coded("x", {"A": "a", "B": "b"}), "y": AttributeFacts("y", Role.QUASI_IDENTIFIER, source="y")},
        requirements=(Blend.of("r", min_support=Support(count=2), max=0.5),),
    )
    assert agree(audit("blend"), example)["r.rare_released"] == 0
