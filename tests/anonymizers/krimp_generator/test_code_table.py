"""Code tables as files: Figure 1's step, tables of one's own, and what was learned read back."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.generation import read_code_table
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import SUPPRESSED_TEXT

DOMAINS = {"A": "D1", "B": "D1", "C": "D2", "D": "D2", "E": "D3", "F": "D3"}
ELEMENTS = {"AC": 3, "BD": 3, "CF": 2, "A": 2, "B": 1, "C": 1, "D": 1, "E": 3, "F": 3}
"""Three domains of two values; of what defines D1, 9 together, BD has 3; of what defines D3, CF has 2, E and F 3."""
FIGURE = {
    "version": 1,
    "elements": [{"items": {DOMAINS[i]: i for i in name}, "usage": usage} for name, usage in ELEMENTS.items()],
}


def given(bench, folder, document, table, *, facts=None, **params):
    """Return rows made from a code table, and what fitting gave."""
    (folder / "given.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return bench(table, **(facts or {})).rows(home=folder, code_table="given.json", **params)


def exact_law(elements=ELEMENTS):
    """Return the probability of each row, by the algorithm of the paper, over all orders of domains."""
    law: Counter[str] = Counter()

    def go(row: str, share: Fraction) -> None:
        open_ = [d for d in ("D1", "D2", "D3") if d not in {DOMAINS[i] for i in row}]
        if not open_:
            law["".join(sorted(row))] += share
        for domain in open_:
            fitting = {
                e: n
                for e, n in elements.items()
                if domain in {DOMAINS[i] for i in e} and not {DOMAINS[i] for i in e} & {DOMAINS[i] for i in row}
            }
            for element, usage in fitting.items():
                go(row + element, share * Fraction(usage, sum(fitting.values())) / len(open_))

    go("", Fraction(1))
    return law


def test_the_step_of_figure_1(bench, tmp_path):
    """BD is chosen for D1 with 3 of 9; then CF is out, and E and F have 1/2 each."""
    _, fitted = given(bench, tmp_path, FIGURE, {"D1": ["A"], "D2": ["C"], "D3": ["E"]}, laplace=0)
    model, grid = fitted.transform.model, 3600
    words = np.zeros((grid, 3), dtype=np.uint64)
    spaced = [(2 * i + 1) * 2**64 // (2 * grid) for i in range(grid)]  # evenly over the whole range
    words[:, 0] = [word // 3 for word in spaced]  # the first third: D1 comes first
    words[:, 1] = np.random.default_rng(3).permutation(np.array(spaced, dtype=np.uint64))
    made = model.generate(words)
    names = [name for (_, name) in read_code_table(tmp_path / "given.json").items(("D1", "D2", "D3"))]
    rows = ["".join(names[i] for i in row) for row in made.cells]
    with_bd = [row for row, taken in zip(rows, made.itemsets, strict=True) if row.startswith("BD") and taken == 2]
    assert len(with_bd) == grid * 3 / 9
    assert Counter(with_bd).keys() == {"BDE", "BDF"}  # never with C of CF
    assert Counter(with_bd)["BDE"] == pytest.approx(len(with_bd) / 2, abs=3 * len(with_bd) ** 0.5 / 2)
    assert not any(row[1] == "D" and "C" in row for row in rows)


@pytest.mark.parametrize("laplace", [0, 1])
def test_rows_follow_the_exact_law(bench, tmp_path, laplace):
    table = {"D1": ["A"] * 30_000, "D2": ["C"] * 30_000, "D3": ["E"] * 30_000}
    rows, fitted = given(bench, tmp_path, FIGURE, table, laplace=laplace)
    law = exact_law({name: usage + laplace for name, usage in ELEMENTS.items()})
    texts = [rows[d].categories.take(rows[d].codes).to_pylist() for d in ("D1", "D2", "D3")]
    counts = Counter("".join(row) for row in zip(*texts, strict=True))
    assert sum(law.values()) == 1
    observed = [counts[row] for row in law]
    assert sum(observed) == 30_000
    assert stats.chisquare(observed, [float(p) * 30_000 for p in law.values()]).pvalue > 1e-4
    assert fitted.figures["code_table_itemsets"].value == 3
    assert fitted.figures["learned_rows"].value == 0
    assert not fitted.internal  # nothing was learned of anybody


def test_what_was_learned_makes_the_same_rows(bench, tmp_path):
    rng = np.random.default_rng(5)
    group = rng.integers(0, 3, 400)
    table = {
        "kind": [f"k{g}" if rng.random() < 0.9 else None for g in group],
        "town": [SUPPRESSED_TEXT if rng.random() < 0.05 else f"t{(g + (rng.random() < 0.2)) % 3}" for g in group],
        "age": [str(int(20 + 10 * g + rng.integers(0, 12))) for g in group],
    }
    facts = {"intervals": {"age": ((0, 25, 40, 90), "integer")}}
    for draw in ("uniform", "empirical"):
        rows, fitted = bench(table, **facts).rows(min_support={"count": 3}, draw=draw)
        document = fitted.internal["code_table.json"]
        assert document["attributes"] == ["kind", "town", "age"]
        assert max(len(e["items"]) for e in document["elements"]) > 1
        again, _ = given(bench, tmp_path, document, table, facts=facts, draw=draw)
        for name in table:
            assert _texts(again[name]) == _texts(rows[name])


def _texts(column):
    names = column.categories.to_pylist()
    return [names[c] if c >= 0 else int(c) for c in column.codes]


def test_the_document_counts_rows(bench):
    """Usages of every row's cover add up to its cells, and supports are plain counts."""
    table = {"a": ["x"] * 6 + ["y"] * 2, "b": ["u"] * 6 + ["v", None]}
    document = bench(table).fit(min_support={"count": 2}).internal["code_table.json"]
    rows = list(zip(table["a"], table["b"], strict=True))
    for element in document["elements"]:
        has = [all(dict(zip("ab", row, strict=True))[n] == v for n, v in element["items"].items()) for row in rows]
        assert element["support"] == sum(has)
    assert sum(e["usage"] * len(e["items"]) for e in document["elements"]) == 16
    assert document["elements"][0] == {"items": {"a": "x", "b": "u"}, "usage": 6, "support": 6}


BROKEN = {
    "no JSON": "{",
    "no elements": {"version": 1},
    "another version": {**FIGURE, "version": 2},
    "no items": {"elements": [{"items": {}, "usage": 1}]},
    "a number as a value": {"elements": [{"items": {"D1": 1}, "usage": 1}]},
    "a usage below zero": {"elements": [{"items": {"D1": "A"}, "usage": -1}]},
    "a usage that is true": {"elements": [{"items": {"D1": "A"}, "usage": True}]},
    "a usage without end": {"elements": [{"items": {"D1": "A"}, "usage": 10**400}]},
    "a usage whose sum is infinite": {"elements": [{"items": {"D1": "A"}, "usage": 1e308}]},
    "half a character": {"elements": [{"items": {"D1": "\ud800"}, "usage": 1}]},
    "half a character as a name": {"elements": [{"items": {"\ud800": "A"}, "usage": 1}]},
    "twice": {"elements": [{"items": {"D1": "A"}, "usage": 1}] * 2},
    "other attributes than its elements": {**FIGURE, "attributes": ["D1", "D2"]},
    "other attributes than the data": {"elements": [{"items": {"D1": "A"}, "usage": 1}]},
}


def test_no_correction_is_infinite_and_the_largest_usage_is_used(bench, tmp_path):
    with pytest.raises(ValueError, match="laplace"):
        load("anonymizers", "krimp_generator").params(laplace=1e308)
    document = {"elements": [{"items": {"D1": value}, "usage": 1e15} for value in "AB"]}
    assert given(bench, tmp_path, document, {"D1": ["A", "B"]}) is not None


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_used(bench, tmp_path, name):
    with pytest.raises(PluginError) as caught:
        given(bench, tmp_path, BROKEN[name], {"D1": ["A"], "D2": ["C"], "D3": ["E"]})
    assert [d.code for d in caught.value.diagnostics] == ["PPF668"]


def test_values_that_a_column_cannot_have(bench, tmp_path):
    table, facts = {"age": ["30"]}, {"intervals": {"age": ((0, 25, 40), "integer")}}
    document = {"elements": [{"items": {"age": "[10, 25)"}, "usage": 1}]}
    with pytest.raises(PluginError, match="no intervals of its hierarchy"):
        given(bench, tmp_path, document, table, facts=facts)
    document = {"elements": [{"items": {"age": "[0, 25)"}, "usage": 1}]}
    rows, _ = given(bench, tmp_path, document, table, facts=facts, rows=50)
    assert all(0 <= int(text) < 25 for text in _texts(rows["age"]))
    with pytest.raises(PluginError, match="no number that could be drawn"):  # the data have none of their own there
        given(bench, tmp_path, document, table, facts=facts, draw="empirical")
    case = bench({"job": ["nurse"]})
    case.facts["job"] = AttributeFacts("job", Role.INSENSITIVE, domain=("nurse",))
    (tmp_path / "given.json").write_text(json.dumps({"elements": [{"items": {"job": "spy"}, "usage": 1}]}))
    with pytest.raises(PluginError, match="not in its `domain`"):
        case.rows(home=tmp_path, code_table="given.json")


def test_nothing_is_said_of_learning_beside_a_code_table(bench):
    case = bench({"a": ["x"]})
    for more in ({"min_support": 1}, {"holdout": 0.5}, {"blend": "strict"}, {"calibrate": "true"}):
        (problem,) = [p for p in case.effect(code_table="given.json", **more).problems if p.path == (*more,)]
        assert problem.code == "PPF782"
    assert not case.effect(code_table="given.json", laplace=1, rows=3, attributes=["a"]).problems
