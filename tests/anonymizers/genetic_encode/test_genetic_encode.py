"""Genetic encoding: the published example, a bit-by-bit twin, what it refuses, and what it says of itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.genetic_encode.algorithm import colliding, encoded, numbers
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run
from ppdm_flow.testing.view import InMemoryView

SPEC = registry.load("anonymizers", "genetic_encode")


def released(values: list[str], **params) -> list[str]:
    table = Table.of({"id": values})
    fitted = SPEC.load()(SPEC.params(attribute="id", **params)).fit(InMemoryView.of(table), StepContext("s", {}, ()))
    return run(fitted.transform, table)[""]["id"].texts()


def test_the_published_example():
    assert released(["106", "257", "3000"]) == ["1", "2232", "3434"]


def test_the_other_reading_of_inverted():
    assert released(["106", "257", "3000"], invert="complement") == ["3841", "3768", "1130"]


def twin(ids: list[int], width: int, heads: list[int], untils: list[int], complement: bool) -> list[int]:
    words = [format(i, f"0{width}b") for i in ids]
    out = []
    for place, (word, head, until) in enumerate(zip(words, heads, untils, strict=True)):
        kept = "".join("10"[int(b)] for b in word[:head]) if complement else word[:head][::-1]
        out.append(int(kept + words[(place + 1) % len(words)][head:until] + word[until:], 2))
    return out


@given(st.integers(2, 20), st.data(), st.booleans())
def test_twin(width, data, complement):
    ids = data.draw(st.lists(st.integers(0, (1 << width) - 1), min_size=1, max_size=30))
    heads = [data.draw(st.integers(1, width - 1)) for _ in ids]
    untils = [data.draw(st.integers(head + 1, width)) for head in heads]
    found = encoded(np.array(ids), width, np.array(heads), np.array(untils), complement=complement)
    assert found.tolist() == twin(ids, width, heads, untils, complement)
    one = encoded(np.array(ids), width, heads[0], complement=complement)
    assert one.tolist() == twin(ids, width, [heads[0]] * len(ids), [width] * len(ids), complement)


@pytest.mark.parametrize(
    ("params", "possible"),
    [
        ({"head": "random"}, {(head, 6) for head in range(1, 6)}),
        ({"head": "random", "until": 4}, {(head, 4) for head in range(1, 4)}),
        ({"head": 3, "until": "random"}, {(3, until) for until in range(4, 7)}),
        (
            {"head": "random", "until": "random"},
            {(head, until) for head in range(1, 6) for until in range(head + 1, 7)},
        ),
    ],
)
def test_random_positions_are_those_of_a_row_and_every_possible_one_comes(params, possible):
    def by_code(pair):
        return {twin(pair, 6, [head] * 2, [until] * 2, False)[0]: (head, until) for head, until in sorted(possible)}

    pair = max(itertools.permutations(range(64), 2), key=lambda pair: len(by_code(list(pair))))
    positions = by_code(list(pair))
    table = Table.of({"id": [str(id_) for id_ in pair] * 300})
    chosen = SPEC.params(attribute="id", width=6, **params)
    fitted = SPEC.load()(chosen).fit(InMemoryView.of(table), StepContext("s", {}, ()))
    assert SPEC.effect(chosen, Scope("s", {"id": AttributeFacts("id", Role.QUASI_IDENTIFIER)}, ())).draws
    codes = [int(code) for code in run(fitted.transform, table)[""]["id"].texts()]
    assert {positions[code] for code in codes[::2]} == set(positions.values())
    assert {head for head, _ in positions.values()} == {head for head, _ in possible}
    assert {until for _, until in positions.values()} == {until for _, until in possible}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_collisions_are_counted(pairs):
    ids, codes = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    expected = sum(any(c == code and i != own for i, c in pairs) for own, code in pairs)
    assert colliding(ids, codes) == expected


@pytest.mark.parametrize("wrong", ["4096", "-1", "x", "1.5", "99999999999999999999", "", None, "⊥"])
def test_what_does_not_fit_is_refused_without_being_quoted(wrong):
    with pytest.raises(PluginError, match="`id`") as caught:
        numbers("id", Column.of(["7", wrong]), 12)
    (told,) = caught.value.diagnostics
    assert told.code == "PPF823"
    assert wrong in (None, "", "x", "-1", "1.5", "⊥") or wrong not in told.message


def test_check_warns_and_an_identifier_stays_one():
    scope = Scope("s", {"id": AttributeFacts("id", Role.IDENTIFIER)}, ())
    found = SPEC.effect(SPEC.params(attribute="id"), scope)
    assert found.changes == {"id": Change.OTHER}  # to the rules of a release, nothing has replaced it
    assert [(p.code, p.warning) for p in found.problems] == [("PPF819", True)]
    assert "identifier" in found.problems[0].message
    assert SPEC.effect(SPEC.params(attribute="di"), scope).problems[0].code == "PPF606"


def test_the_head_is_shorter_than_the_whole():
    with pytest.raises(ValueError, match="less than `width`"):
        SPEC.params(attribute="id", width=4, head=4)
    with pytest.raises(ValueError, match="less than `width` and `until`"):
        SPEC.params(attribute="id", width=8, head=4, until=4)
    with pytest.raises(ValueError, match="at most `width`"):
        SPEC.params(attribute="id", width=8, head=4, until=9)


class TestConformance(AnonymizerConformance):
    def case(self):
        ids = [str(i) for i in np.random.default_rng(1).permutation(4096)[:500]]
        table = Table.of({"id": ids, "job": ["a-canary", "b-canary"] * 250})
        spoiled = Table.of({"id": ["5", "4096"]})
        return Case(SPEC, {"attribute": "id"}, table, bad=(BadInput("id", spoiled),))


class TestConformanceOfRandomPositions(AnonymizerConformance):
    def case(self):
        ids = [str(i) for i in np.random.default_rng(1).permutation(4096)[:500]]
        table = Table.of({"id": ids, "job": ["a-canary", "b-canary"] * 250})
        return Case(SPEC, {"attribute": "id", "head": "random", "until": "random"}, table)
