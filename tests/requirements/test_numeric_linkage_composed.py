"""All that numeric linkage takes at once: people, pseudonyms, files, control groups, categories, few and equal rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

from .numeric_cases import FLOAT, ID, column

SPEC = load("audits", "numeric_linkage")
AUDIT = SPEC.load()(SPEC.params())
NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 1.5, -2.0]))
TOWNS = st.one_of(st.none(), st.sampled_from(["a", "b"]))


def lines(path, header, rows):
    text = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([header, *text]) + "\n", encoding="utf-8")


@pytest.mark.slow
@examples(25, suppress_health_check=list(HealthCheck))
@given(data=st.data(), people=st.booleans(), pseudonym=st.booleans(), town=st.booleans(), second=st.booleans())
def test_both_routes_say_the_same(build, agree, tmp_path, data, people, pseudonym, town, second):
    """For any combination, both routes have the same figures, and every bound has one or does not hold."""
    size = data.draw(st.integers(1, 7))
    cells = lambda kind, number=size: data.draw(st.lists(kind, min_size=number, max_size=number))  # noqa: E731  # many
    whose = [f"p{n}" for n in cells(st.integers(0, 3))]
    numeric = ("x", "y") if second else ("x",)
    names = (*numeric, "town") if town else numeric
    before = {n: column(cells(NUMBERS)) for n in numeric} | {"who": Column.of(whose)}
    after = {n: column(cells(NUMBERS)) for n in numeric}
    made = {n: Lineage(frozenset((n,)), value_map=False) for n in numeric}
    if town:
        before["town"] = after["town"] = Column.of(cells(TOWNS))
        made["town"] = Lineage(frozenset(("town",)))
    if pseudonym:
        after["code"] = Column.of([f"c{w}" for w in whose])
        made["code"] = Lineage(frozenset(("who",)), keyed=frozenset(("who",)))
    asked = {"attributes": names, "max": 0.5, "candidates": data.draw(st.integers(1, 4)), "max_excess": 0.1}
    kinds = [TOWNS if n == "town" else NUMBERS for n in names]
    if data.draw(st.booleans()):
        asked |= {"against": "known.csv", "key": "who"}
        many = data.draw(st.integers(1, 5))
        keys = cells(st.sampled_from(["p0", "p1", "p2", "p9", None]), many)
        lines(
            tmp_path / "known.csv", ",".join(("who", *names)), zip(keys, *(cells(k, many) for k in kinds), strict=True)
        )
    if data.draw(st.booleans()):
        asked["control"] = "others.csv"
        lines(tmp_path / "others.csv", ",".join(names), zip(*(cells(k, 4) for k in kinds), strict=True))
    rows = np.arange(size)
    example = build.case(
        Table(before, rows),
        Table(after, rows),
        dict.fromkeys(before, Role.SENSITIVE) | {"who": Role.SUBJECT},
        sources={n: "who" if n == "code" else n for n in after},
        attributes={n: AttributeFacts(n, Role.SENSITIVE, type=FLOAT, derived=d) for n, d in made.items()},
        original_attributes={n: AttributeFacts(n, Role.SENSITIVE, type=FLOAT, source=n) for n in numeric},
        requirements=(NumericLinkage.of(ID, **asked),),
        people=PeopleCount("who", 1) if people else None,
        home=tmp_path,
    )
    outcome = AUDIT.measure(*example.args)
    bounds = ["share_bound", "excess_bound", *(["control_excess_bound"] if "control" in asked else [])]
    assert [m.metric for m in outcome.measured] == [f"{ID}.{name}" for name in bounds]
    if not outcome.measured[0].verifiable:
        assert AUDIT.recheck(*example.args) == {}
        return
    found = agree(AUDIT, example, least=10)
    assert 0 <= found[f"{ID}.share"] <= found[f"{ID}.share_bound"] + 1e-12 <= 1 + 1e-9
    if found[f"{ID}.excess_bound"] is not None:
        assert found[f"{ID}.excess"] <= found[f"{ID}.excess_bound"] + 1e-12


@pytest.mark.parametrize("value", [0.0, 3.0, 1e300, -1e-310])
def test_equal_numbers_of_everybody_share_the_chance(build, agree, value):
    rows = np.arange(6)
    table = Table({"x": column([value] * 6)}, rows)
    example = build.case(
        table,
        table,
        {"x": Role.SENSITIVE},
        attributes={"x": AttributeFacts("x", Role.SENSITIVE, type=FLOAT, source="x")},
        original_attributes={"x": AttributeFacts("x", Role.SENSITIVE, type=FLOAT, source="x")},
        requirements=(NumericLinkage.of(ID, attributes=("x",), max=0.5, candidates=2, max_excess=0.1),),
    )
    found = agree(AUDIT, example, least=10)
    assert found[f"{ID}.share"] == found[f"{ID}.chance_share"] == pytest.approx(1 / 3)
    assert found[f"{ID}.excess_bound"] == pytest.approx(0.0)
