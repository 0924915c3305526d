"""Which operator a policy gets: chosen or given, for supports of the policy or of the data."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.randomize_transactions import algorithm, spec
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.transactions.breaches import likelihoods
from ppdm_flow.mining.transactions.hardest import hardest
from ppdm_flow.mining.transactions.operators import from_document, noise
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

ITEMS = [f"i{n:02d}" for n in range(50)]
FACTS = {"basket": AttributeFacts("basket", Role.ITEMS, source="basket")}


def breach(**more: object) -> ItemsetBreach:
    return ItemsetBreach.of(
        "privacy.itemset_breach", attribute="basket", **{"level": 0.5, "sizes": (1, 2), "pool": 100} | more
    )


def sets(rows: int = 1200) -> list[list[str]]:
    rng = np.random.default_rng(8)
    return [list(rng.choice(ITEMS, rng.integers(0, 4), replace=False)) for _ in range(rows)]


def fitted(params: dict[str, object], requirement: ItemsetBreach | None, rows: list[list[str]] | None = None) -> Fitted:
    table = Table({}, np.arange(len(rows or sets())), {"basket": Baskets.of(rows or sets())})
    view = InMemoryView(table, Schema((Field("basket", Role.ITEMS),)), partition_rows=500)
    spec = registry.load("anonymizers", "randomize_transactions")
    ctx = StepContext("randomize", FACTS, () if requirement is None else (requirement,))
    return spec.load()(spec.params.model_validate(params)).fit(view, ctx)


def operator(found: Fitted):
    return from_document(found.set_operators["basket"].document)


def worst(found: Fitted, maxima: tuple[float, ...], m: int) -> float:
    ruled = operator(found)
    return max(hardest(maxima, k, m, likelihoods(ruled, m, k), inside=s)[0] for k in (1, 2) for s in (True, False))


def test_supports_of_the_policy_are_kept_and_used_up() -> None:
    found = fitted({}, breach(max_supports=(0.2, 0.05), max_supports_by_length={"3": (0.4, 0.1)}))
    for m, maxima in ((1, (0.2, 0.05)), (2, (0.2, 0.05)), (3, (0.4, 0.1))):
        assert 0.44 < worst(found, maxima, m) <= 0.5 + 1e-12
    assert worst(found, (0.4, 0.1), 2) > 0.5
    assert [f.subject for f in found.findings if f.code == "PPF804"] == ["randomize.alphabet"]


def test_supports_of_the_data_are_kept() -> None:
    found = fitted({}, breach())
    rows = [frozenset(s) for s in sets()]
    for m in (1, 2, 3):
        inner = [s for s in rows if len(s) == m]
        singles = max(sum(i in s for s in inner) for i in ITEMS) / len(inner)
        pairs = max(*(sum({a, b} <= s for s in inner) for a in ITEMS for b in ITEMS if a < b), 1e-09) / len(inner)
        assert worst(found, (singles, pairs), m) <= 0.5 + 1e-12
        if m > 1:
            assert worst(found, (singles, pairs), m) > 0.45
    assert [f.subject for f in found.findings if f.code == "PPF804"] == ["randomize.max_supports", "randomize.alphabet"]


@pytest.mark.parametrize("k", [1, 2])
def test_the_lowest_support_has_both_readings(k: int) -> None:
    """None or all: the root of s^2 N / 16 = D_0 + s (D_k - D_0), in closed form, over the sets of k items or more."""
    requirement = breach(level=0.9, max_supports=(0.3, 0.1))
    found = fitted({"cutoff": 4, "insertion": 0.0625}, requirement)
    ruled, numbers = operator(found), {m: sum(len(s) == m for s in sets()) for m in range(4)}
    large = {m: n for m, n in numbers.items() if m >= k}
    spread = sum(n * noise(ruled, m, k) for m, n in large.items()) / sum(large.values())
    a, b, c = sum(large.values()) / 16, -(spread[k] - spread[0]), -spread[0]
    root = (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a) * sum(large.values()) / sum(numbers.values())
    assert found.figures[f"none_or_all.{k}"].value == pytest.approx(root)
    most = found.figures[f"parts_at_largest.{k}"].value
    assert most == found.figures[f"lowest_support.{k}"].value
    assert most == pytest.approx(root) if k == 1 else most > root
    alone = fitted({"cutoff": 4, "insertion": 0.0625}, None)
    assert f"parts_at_largest.{k}" not in alone.figures
    assert alone.figures[f"none_or_all.{k}"] == alone.figures[f"lowest_support.{k}"]


def test_part_of_the_supports_from_the_policy() -> None:
    found = fitted({}, breach(max_supports_by_length={"1": (0.3,)}))
    assert 0.44 < worst(found, (0.3, 0.3), 1) <= 0.5 + 1e-12
    assert next(f.subject for f in found.findings) == "randomize.max_supports"


@pytest.mark.slow
def test_the_papers_challenge_is_the_easier_one() -> None:
    strict, paper = (fitted({"challenge": c}, breach(max_supports=(0.1, 0.05))) for c in ("worst", "paper"))
    assert all(operator(paper).rho(m) <= operator(strict).rho(m) + 0.02 for m in (1, 2, 3))
    short = fitted({"largest_cutoff": "3"}, breach(max_supports=(0.1, 0.05)))
    assert max(operator(short).cutoffs.values()) <= 3


@pytest.mark.slow
def test_given_operators() -> None:
    found = operator(fitted({"cutoff": "2", "insertion": {"0": "0.2", "3": "0.4"}}, None))
    assert dict(found.cutoffs) == {0: 2, 1: 2, 2: 2, 3: 2}
    assert dict(found.insertion) == {0: 0.2, 1: 0.2, 2: 0.2, 3: 0.4}
    assert operator(fitted({"operator": "uniform", "keep": "0.3"}, None)).keep == 0.3
    assert operator(fitted({"operator": "none"}, None)).family == "none"
    laws = {"1": ["0.5", "0.5"], "2": ["0", "0.5", "0.5"], "3": ["0", "0", "0", "1"]}
    found = operator(fitted({"operator": "select_a_size", "retained": laws, "insertion": "0.1"}, None))
    assert found.law(3).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("params", "requirement", "rows", "code", "said"),
    [
        ({}, None, None, "PPF780", "`basket`"),
        ({"longest": "2"}, breach(), None, "PPF777", "more than 2 items, up to 3"),
        ({}, breach(), [[], []], "PPF777", "no items"),
        ({}, breach(level=0.01), None, "PPF773", "the most frequent item is in"),
        ({"cutoff": {"1": "2"}, "insertion": "0.3"}, None, None, "PPF782", "sets of 2 items"),
        ({"operator": "uniform", "keep": "0.3"}, None, [["a", "b"], ["c"]], "PPF782", "alphabet of 4"),
        ({"operator": "select_a_size", "retained": {"1": ["0.4", "0.5"]}, "insertion": "0.3"}, None, [["a"], ["b"]],
         "PPF782", "sum to 1"),
        ({"form": "seeded", "cutoff": "2", "insertion": "0.3"}, None, None, "PPF778", "1/65536"),
    ],
)  # fmt: skip
def test_refusals(params, requirement, rows, code, said) -> None:
    with pytest.raises(PluginError) as caught:
        fitted(params, requirement, rows)
    assert caught.value.diagnostics[0].code == code
    assert said in str(caught.value)


@pytest.mark.slow
def test_seeds_where_bits_would_be_large(monkeypatch: pytest.MonkeyPatch) -> None:
    requirement = breach(max_supports=(0.1, 0.05))
    assert fitted({}, requirement).transform.describe()["form"] == "packed"
    monkeypatch.setattr(spec, "LARGE", 0)
    bits, seeds = (algorithm.packed_bytes(operator(fitted({}, requirement)), n) for n in (1000, 0))
    assert (bits, seeds) == (12_000, 0)
    assert fitted({}, requirement).transform.describe()["form"] == "packed"  # an alphabet of one word: bits are smaller
    wide = [[f"i{n}"] for n in range(600)]
    assert fitted({}, breach(level=0.5, pool=10), wide).transform.describe()["form"] == "seeded"
    assert fitted({"form": "packed"}, breach(level=0.5, pool=10), wide).transform.describe()["form"] == "packed"


def test_what_is_told_of_the_release() -> None:
    found = fitted({}, breach(max_supports=(0.1, 0.05)))
    contract = found.artifacts["mining_contract.json"]
    assert contract["transactions"] == 1200
    assert contract["level"] == 0.5
    assert set(contract["lowest_discoverable_support"]) == {"1", "2"}
    assert found.figures["level.1"].value <= 0.5
    none = fitted({"operator": "none"}, breach())
    assert next(f.code for f in none.findings) == "PPF803"
    assert none.figures["epsilon"].value is None
    hopeless = fitted({"cutoff": "0", "insertion": "0.5"}, None)
    assert next(f.code for f in hopeless.findings) == "PPF805"
    assert hopeless.figures["lowest_support.1"].value is None


def test_the_effect_serves_its_own_requirement() -> None:
    spec = registry.load("anonymizers", "randomize_transactions")
    params = spec.params.model_validate({})
    effect = spec.effect(params, Scope("s", FACTS, (breach(),)))
    assert effect.serves == ("privacy.itemset_breach",)
    assert "0.5" in effect.guarantee
    other = breach().changed(attribute="other")
    assert [p.code for p in spec.effect(params, Scope("s", FACTS, (other,))).problems] == ["PPF780"]
    assert [p.code for p in spec.effect(params, Scope("s", {}, ())).problems] == ["PPF573"]


def test_sizes_are_said_to_be_released_and_whom_a_rare_one_singles_out() -> None:
    usual = [[a, b] for a, b in zip(ITEMS[::2], ITEMS[1::2], strict=True)] * 2
    kept = {"operator": "uniform", "keep": 0.5}
    found = fitted(kept, None, usual)
    (told,) = [f for f in found.findings if f.code == "PPF858"]
    assert (told.severity, found.figures["alone_by_size"].value) == (Severity.INFO, 0)
    found = fitted(kept, None, [*usual, ITEMS[:4]])
    (told,) = [f for f in found.findings if f.code == "PPF858"]
    assert (told.severity, found.figures["alone_by_size"].value) == (Severity.WARNING, 1)
    assert "1 set of 51 has a size that no other has" in told.text
