"""Itemset breaches against plain counting, on honest releases and on planted faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.transactions.counting.vertical import expand
from ppdm_flow.mining.transactions.operators import TransactionOperator, document, transition
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.requirements.itemset_breach import material
from ppdm_flow.requirements.itemset_breach.algorithm import ItemsetBreachAudit
from ppdm_flow.requirements.itemset_breach.fit import ERROR, binomial, mixed, summed
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.spec import NoParams
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

ITEMS = [f"item-{n:02d}" for n in range(80)]
SIZES = (1, 2, 3, 4)
ID = "privacy.itemset_breach"
REQUIREMENT = ItemsetBreach.of(ID, attribute="basket", level=0.6, sizes=(1, 2), pool=200)
OPERATOR = TransactionOperator.cut_and_paste(
    {m: m + 4 for m in SIZES}, {m: 0.25 + 0.0625 * m for m in SIZES}, len(ITEMS)
)
ROWS = 3000


def shop(rows: int = ROWS, seed: int = 3) -> Baskets:
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(2, len(ITEMS) + 2)
    weights /= weights.sum()
    sets = []
    for _ in range(rows):
        size = int(rng.integers(1, 5))
        begin = [0, 1, 2][:size] if rng.random() < 0.1 else []
        rest = [i for i in rng.choice(len(ITEMS), 8, replace=False, p=weights) if i not in begin]
        sets.append([ITEMS[i] for i in [*begin, *rest][:size]])
    return Baskets.of(sets, ITEMS)


def randomized(
    column: Baskets, operator: TransactionOperator = OPERATOR, key: str = "a", *, seeds: bool = False
) -> SetColumn:
    module = seeded if seeds else randomize
    draws = Draws(RunKey.from_seed(key).step("s"), module.draws_per_row(operator))
    made = seeded.seed if seeds else randomize.randomize
    return made(column, operator, draws, np.arange(len(column)))


def table(column: SetColumn) -> Table:
    return Table({}, np.arange(len(column)), {"basket": column})


def view(column: SetColumn) -> InMemoryView:
    return InMemoryView(table(column), Schema((Field("basket", Role.ITEMS),)), partition_rows=1000)


@dataclass(frozen=True)
class SetPairs:
    before: Baskets
    after: SetColumn

    def pairs(self, _original: Sequence[str], _released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        for start in range(0, len(self.before), 700):
            chunk = slice(start, start + 700)
            yield table(self.before.take(chunk)), table(self.after.take(chunk))


def judged(
    before: Baskets,
    after: SetColumn,
    operator: TransactionOperator | None = OPERATOR,
    requirement: ItemsetBreach = REQUIREMENT,
    *,
    paired: bool = True,
    **more: object,
) -> tuple[AuditOutcome, dict[str, float | int | None]]:
    facts = AttributeFacts("basket", Role.ITEMS, source="basket", changes=(("randomize", Change.PERTURBED),))
    channel = {} if operator is None else {"basket": SetOperator("basket", document(operator), "randomize")}
    ctx = AuditContext(
        release="study",
        attributes={"basket": facts},
        original_attributes={"basket": AttributeFacts("basket", Role.ITEMS)},
        requirements=(requirement,),
        set_operators=channel,
        operator_inputs={"basket": view(before)},
        operator_pairs={"basket": SetPairs(before, after)} if paired else {},
    )
    ctx = replace(ctx, **more)
    audit = ItemsetBreachAudit(NoParams())
    outcome = audit.measure(view(before), view(after), ctx)
    seeds = isinstance(after, SeededSets)
    return outcome, dict(audit.recheck(view(before), view(after), ctx)) if seeds else {
        k: v for k, v in audit.recheck(view(before), view(after), ctx).items() if not k.endswith("released_with_worst")
    }


def figure(outcome: AuditOutcome, name: str) -> Figure:
    return outcome.figures[f"{ID}.{name}"]


def plain_worst(before: Baskets, operator: TransactionOperator, sizes: Sequence[int], *, inside: bool) -> float:
    """Return the worst posterior over the most frequent items, lengths taken by themselves."""
    sets = [frozenset(row) for row in before.texts()]
    some = ITEMS[:6]
    worst = 0.0
    for m in SIZES:
        inner = [s for s in sets if len(s) == m]
        for k in sizes:
            ruled = transition(operator, m, k)[k]
            for itemset in ([a] if k == 1 else [a, b] for a in some for b in some if k == 1 or a < b):
                weight = [ruled[len(s.intersection(itemset))] for s in inner]
                for z in itemset if inside else set(some) - set(itemset):
                    worst = max(worst, sum(w for w, s in zip(weight, inner, strict=True) if z in s) / sum(weight))
    return worst


@pytest.mark.random(quick=1)
@pytest.mark.parametrize(("key", "seeds"), list(product("abc", [False, True])))
def test_an_honest_release(key: str, seeds: bool) -> None:
    before = shop()
    outcome, again = judged(before, randomized(before, key=key, seeds=seeds))
    (measured,) = outcome.measured
    assert measured.verifiable
    assert figure(outcome, "worst_posterior").value == pytest.approx(
        max(plain_worst(before, OPERATOR, (1, 2), inside=side) for side in (True, False)), rel=1e-9
    )
    assert figure(outcome, "worst_posterior").value == max(
        figure(outcome, f"{kind}.{k}").value for kind in ("within", "beside") for k in (1, 2)
    )
    assert again[f"{ID}.worst_posterior"] == pytest.approx(figure(outcome, "worst_posterior").value, rel=1e-9)
    assert figure(outcome, "fit").value > ERROR
    assert figure(outcome, "whole.1").value == pytest.approx(figure(outcome, "within.1").value)
    assert 0.0 < figure(outcome, "whole.2").value <= figure(outcome, "within.2").value
    assert not [f for f in outcome.findings if f.code in ("PPF811", "PPF810", "PPF873")]
    if seeds:
        assert again[f"{ID}.released_with_worst"] == figure(outcome, "released_with_worst").value


@pytest.mark.slow
def test_what_is_seen_of_the_worst_itemset() -> None:
    """Measured posteriors are plain counts; their intervals have their rate over many itemsets and lengths."""
    before = shop()
    after = randomized(before, seeds=True)
    outcome, _ = judged(before, after)
    bits = expand(after).baskets().texts()
    sets = [set(row) for row in before.texts()]
    for k in (1, 2):
        found = figure(outcome, f"measured.{k}")
        shares = []
        for m in SIZES:
            rows = [i for i, s in enumerate(sets) if len(s) == m]
            for a in ITEMS:
                for b in [None] if k == 1 else ITEMS:
                    seen = [i for i in rows if a in bits[i] and (b is None or (b != a and b in bits[i]))]
                    if len(seen) == found.sample:
                        shares.append(sum(a in sets[i] for i in seen) / len(seen))
            if k == 2:
                break
        assert k == 2 or any(found.value == pytest.approx(share) for share in shares)
        assert found.interval is not None
        assert found.interval[0] <= found.value <= found.interval[1]


def test_itemsets_alike_in_sql_and_one_by_one() -> None:
    class Sql:
        def rows(self, _query: str, parameters: Sequence[str] = ()) -> list[tuple[int, int, int]]:
            sets = [set(row) for row in before.texts()]
            masks = [(len(s), sum(1 << i for i, p in enumerate(parameters) if p in s)) for s in sets]
            return [(*key, masks.count(key)) for key in set(masks)]

    before = shop(400)
    material_like = judged_material(before)
    wanted = [0, 1, 2]
    by_sql = material._counts(material_like, wanted, Sql())
    assert by_sql == material._one_by_one(material_like, wanted)


def judged_material(before: Baskets):
    from types import SimpleNamespace

    numbers = {int(m): int((before.sizes == m).sum()) for m in SIZES}
    return SimpleNamespace(
        partitions=lambda: iter([before.take(slice(0, 100)), before.take(slice(100, len(before)))]),
        alphabet=before.categories,
        name="basket",
        numbers=numbers,
        direct=True,
        operator=OPERATOR,
    )


@pytest.mark.parametrize(
    "operator",
    [
        OPERATOR,
        TransactionOperator.uniform(SIZES, 0.6, len(ITEMS)),
        TransactionOperator.uniform(SIZES, 0.6, len(ITEMS), 20),
        TransactionOperator.none(SIZES, len(ITEMS)),
    ],
)
def test_likelihoods_by_definition(operator: TransactionOperator) -> None:
    for m in SIZES:
        for k in (1, 2, 3):
            ruled = transition(operator, m, k)[k]
            for overlap in range(min(k, m) + 1):
                assert material.likelihood(operator, m, k, overlap) == pytest.approx(ruled[overlap], rel=1e-10)


@pytest.mark.slow
def test_inserted_items_are_judged_exactly_and_their_absence_is_found() -> None:
    """Sets to which nothing, or less, was added do not follow an operator that inserts twenty items."""
    before = shop(1500)
    operator = TransactionOperator.uniform(SIZES, 0.6, len(ITEMS), 20)
    outcome, again = judged(before, randomized(before, operator), operator)
    assert outcome.measured[0].verifiable
    assert again[f"{ID}.worst_posterior"] == pytest.approx(figure(outcome, "worst_posterior").value, rel=1e-9)
    without, _ = judged(before, randomized(before, TransactionOperator.uniform(SIZES, 0.6, len(ITEMS))), operator)
    assert not without.measured[0].verifiable
    plain, _ = judged(
        before, randomized(before, TransactionOperator.uniform(SIZES, 0.6, len(ITEMS))), replace_inserted(operator)
    )
    assert figure(outcome, "worst_posterior").value < figure(plain, "worst_posterior").value


def replace_inserted(operator: TransactionOperator) -> TransactionOperator:
    return TransactionOperator.uniform(operator.sizes, operator.keep or 0.5, operator.alphabet)


def test_no_randomization_at_all() -> None:
    before = shop(800)
    operator = TransactionOperator.none(SIZES, len(ITEMS))
    outcome, again = judged(before, PackedSets.of(before), operator)
    assert figure(outcome, "worst_posterior").value == 1.0
    assert again[f"{ID}.worst_posterior"] == pytest.approx(1.0)
    assert outcome.measured[0].verifiable
    assert [f.code for f in outcome.findings if f.code == "PPF870"]


def copied(before: Baskets, share: float) -> SetColumn:
    after, plain = randomized(before), PackedSets.of(before)
    rows = np.random.default_rng(1).random(len(before)) < share
    return PackedSets(np.where(rows[:, None], plain.words, after.words), after.sizes, after.categories)


def mingled(before: Baskets, other: TransactionOperator) -> SetColumn:
    """A thirtieth is randomized by another operator."""
    after, less = randomized(before), randomized(before, other, "b")
    rows = (np.arange(len(before)) % 30 == 0)[:, None]
    return PackedSets(np.where(rows, less.words, after.words), after.sizes, after.categories)


def one_copied(before: Baskets) -> SetColumn:
    after, plain = randomized(before), PackedSets.of(before)
    words = after.words.copy()
    words[17] = plain.words[17]
    return PackedSets(words, after.sizes, after.categories)


def other_lengths(before: Baskets) -> SetColumn:
    after = randomized(before)
    return PackedSets(after.words, after.sizes[::-1].copy(), after.categories)


def never_dropped(before: Baskets) -> SetColumn:
    """All own items are put back where the cut took any."""
    after, plain = randomized(before), PackedSets.of(before)
    return PackedSets(after.words | plain.words, after.sizes, after.categories)


def one_item_told(before: Baskets) -> SetColumn:
    """A single rare item is released as it is."""
    after, plain = randomized(before), PackedSets.of(before)
    bit = np.zeros(after.words.shape[1], dtype=np.uint64)
    bit[40 >> 6] = np.uint64(1) << np.uint64(40 & 63)
    return PackedSets((after.words & ~bit) | (plain.words & bit), after.sizes, after.categories)


FAULTS = {
    "a tenth copied": lambda before: copied(before, 0.1),
    "one row copied": one_copied,
    "lengths mixed up": other_lengths,
    "nothing dropped": never_dropped,
    "an item told": one_item_told,
    "less put in": lambda before: randomized(before, shifted(-0.06)),
    "more put in": lambda before: randomized(before, shifted(0.06)),
    "another cutoff": lambda before: randomized(
        before, TransactionOperator.cut_and_paste({m: m for m in SIZES}, OPERATOR.insertion, len(ITEMS))
    ),
    "some with less": lambda before: mingled(before, shifted(-0.2)),
    "seeds of less": lambda before: randomized(before, shifted(-0.0625), seeds=True),
}


def shifted(by: float) -> TransactionOperator:
    return TransactionOperator.cut_and_paste(
        OPERATOR.cutoffs, {m: rho + by for m, rho in OPERATOR.insertion.items()}, len(ITEMS)
    )


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str) -> None:
    before = shop()
    outcome, _ = judged(before, FAULTS[name](before))
    assert not outcome.measured[0].verifiable
    assert [f.code for f in outcome.findings if f.code == "PPF811"]
    assert "cannot be relied on" in outcome.measured[0].sentence


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a tenth copied", "less put in", "more put in", "an item told"])
def test_faults_show_in_counts_of_items_alone(name: str) -> None:
    before = shop(12_000)
    outcome, _ = judged(before, FAULTS[name](before), paired=False)
    assert not outcome.measured[0].verifiable
    assert figure(outcome, "measured").value is None


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [False, True])
def test_an_honest_release_without_pairs(seeds: bool) -> None:
    before = shop()
    after = randomized(before, seeds=seeds)
    order = np.random.default_rng(5).permutation(len(before))
    outcome, again = judged(before, after.take(order), paired=False)
    paired, _ = judged(before, after)
    assert outcome.measured[0].verifiable
    assert figure(outcome, "worst_posterior") == figure(paired, "worst_posterior")
    assert again[f"{ID}.worst_posterior"] == pytest.approx(figure(outcome, "worst_posterior").value, rel=1e-9)


def test_what_nobody_knows_is_not_released() -> None:
    before = shop(300)
    after = randomized(before)
    fewer = PackedSets(after.words, after.sizes, pa.array([f"x{i}" for i in range(len(ITEMS))], pa.string()))
    cases = [
        judged(before, after, None),
        judged(before, before),
        judged(before, fewer),
        judged(before, after, TransactionOperator.none((1, 2), len(ITEMS))),
        judged(before, after, TransactionOperator.none(SIZES, 90)),
        judged(before.take(slice(0, 200)), after),
        judged(before, after.take(slice(0, 200)), paired=False),
        judged(before, after, operator_inputs={}),
        judged(before, after, set_operators={"basket": SetOperator("basket", {"family": "other"}, "s")}),
    ]
    for outcome, again in cases:
        (measured,) = outcome.measured
        assert not measured.verifiable
        assert measured.figure.value is None
        assert [f.code for f in outcome.findings] == ["PPF810"]
        assert again == {}


@pytest.mark.slow
def test_rows_may_be_dropped_afterwards() -> None:
    before = shop()
    after = randomized(before)
    outcome, _ = judged(
        before,
        after.take(slice(0, 2000)),
        operator_pairs={"basket": SetPairs(before.take(slice(0, 2000)), after.take(slice(0, 2000)))},
    )
    assert outcome.measured[0].verifiable


def test_sets_that_are_not_released() -> None:
    before = shop(50)
    audit = ItemsetBreachAudit(NoParams())
    ctx = AuditContext("study", {}, {}, (REQUIREMENT.changed(attribute="other"),))
    (measured,) = audit.measure(view(before), view(before), ctx).measured
    assert measured.verifiable
    assert measured.figure.value == 0.0


@pytest.mark.slow
def test_a_weak_operator_exceeds_the_level() -> None:
    before = shop()
    weak = TransactionOperator.cut_and_paste(dict.fromkeys(SIZES, 40), dict.fromkeys(SIZES, 0.02), len(ITEMS))
    outcome, again = judged(before, randomized(before, weak), weak)
    assert figure(outcome, "worst_posterior").value > 0.8
    assert again[f"{ID}.worst_posterior"] == pytest.approx(figure(outcome, "worst_posterior").value, rel=1e-9)
    assert {f.code for f in outcome.findings} >= {"PPF870"}


@pytest.mark.slow
def test_data_beyond_what_the_policy_expects() -> None:
    before = shop()
    after = randomized(before)
    honest = ItemsetBreach.of(ID, attribute="basket", level=0.6, sizes=(1, 2), max_supports=(0.45, 0.3), pool=200)
    outcome, _ = judged(before, after, requirement=honest)
    assert not [f for f in outcome.findings if f.code == "PPF873"]
    assert figure(outcome, "bound").value >= figure(outcome, "worst_posterior").value
    low = ItemsetBreach.of(
        ID,
        attribute="basket",
        level=0.6,
        sizes=(1, 2),
        max_supports=(0.2, 0.01),
        max_supports_by_length={"4": (0.5, 0.4)},
        pool=200,
    )
    outcome, _ = judged(before, after, requirement=low)
    assert not outcome.measured[0].verifiable
    (finding,) = [f for f in outcome.findings if f.code == "PPF873"]
    assert "4" not in finding.text.partition("in sets of")[2]


@pytest.mark.slow
def test_no_item_is_named_unless_the_policy_may() -> None:
    before = shop(600)
    after = randomized(before)
    for more, named in (({}, False), ({"show_values": True}, True), ({"declared": {"basket": frozenset(ITEMS)}}, True)):
        outcome, _ = judged(before, after, **more)
        texts = [outcome.measured[0].sentence, *(f.text for f in outcome.findings)]
        texts += [x for c in outcome.charts for x in (*c.x, *(s.name for s in c.series))]
        assert any("item-" in text for text in texts) is named


def test_tails_are_bounds() -> None:
    hits = np.arange(0, 61)
    exact = binomial(hits, 60, 0.3)
    plain = np.minimum(1.0, 2.0 * np.minimum(binom.cdf(hits, 60, 0.3), binom.sf(hits - 1, 60, 0.3)))
    np.testing.assert_allclose(exact, plain, rtol=1e-12)
    assert (mixed(hits, 60, 18.0) >= plain - 1e-12).all()
    assert binomial([0, 1, 60], 60, [0.0, 0.0, 1.0]).tolist() == [1.0, 0.0, 1.0]
    assert mixed([0, 3, 7, 8], [0, 10, 7, 10], [0.0, 3.0, 7.0, 10.0]).tolist() == [1.0, 1.0, 1.0, 0.0]
    rng = np.random.default_rng(2)
    sums = rng.choice([0.0, 7.0], (20_000, 50), p=[0.9, 0.1]).sum(axis=1) - 35.0
    for t in (10.0, 30.0, 60.0, 90.0):
        assert (np.abs(sums) >= t).mean() <= float(summed(t, 50 * 49 * 0.09, 7.0))
    assert summed(0.0, 0.0, 1.0) == 1.0
    far = binomial([300_000, 300_000 - 5000], 1_000_000, 0.3)
    assert far[0] == 1.0
    assert far[1] < 1e-20
