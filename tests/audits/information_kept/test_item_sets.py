"""Information kept of sets of items: against a brute force, both ends of its scale, randomized sets, and warnings."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.api.run import run
from ppdm_flow.audits.information_kept.algorithm import InformationKeptAudit
from ppdm_flow.core.attributes import Change, HierarchySpec
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.transactions.counting.vertical import expand
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import seeded
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.table import Table

AUDIT = InformationKeptAudit(load("audits", "information_kept").params())
TREE = {"pear": ("fruit", "food"), "fig": ("fruit", "food"), "leek": ("greens", "food"), "kale": ("greens", "food")}
BELOW = {
    **{item: {item} for item in TREE},
    "fruit": {"pear", "fig", "fruit"},
    "greens": {"leek", "kale"},
    "food": {"pear", "fig", "fruit", "leek", "kale"},
}
HIERARCHY = HierarchySpec(levels=tuple(TREE.items()))


def brute_force(original, released, weights, below):
    """``released`` has a set of labels for each row, ``...`` for a row that is left out: the share that is kept."""
    every = [(item, w) for row, w in zip(original, weights, strict=True) for item in sorted(row)]
    total = sum(w for _, w in every)
    rows = {item: sum(w for i, w in every if i == item) for item in {i for i, _ in every}}

    def size(label):
        return sum(rows.get(i, 0) for i in below[label])

    lost = base = 0.0
    for row, labels, w in zip(original, released, weights, strict=True):
        base += w * sum(1 - rows[item] / total for item in row)
        shown = set() if labels is ... else labels
        gone = []
        for item in row:
            covering = [label for label in shown if label != "*" and item in below[label]]
            if covering:
                lost += w * (1 - rows[item] / min(map(size, covering)))
            else:
                gone.append(rows[item] / total)
        lost += w * sum(1 - chance for chance in gone)
        wrong = sum(not below[label] & row for label in shown if label != "*") + ("*" in shown and not row)
        if gone and wrong:
            lost += w * min(1, wrong / len(gone)) * sum(gone)
        lost += w * max(0, wrong - len(gone))
    return None if base <= 0 else max(0.0, 1 - lost / base)


def case_of(build, original, released, weights=None, hierarchy=HIERARCHY):
    weights = [1] * len(original) if weights is None else weights
    rows = np.arange(len(original))
    kept = np.array([labels is not ... for labels in released], dtype=bool)
    before = Table({"w": Column.of([str(w) for w in weights])}, rows, {"s": Baskets.of(original)})
    sets = Baskets.of([labels for labels in released if labels is not ...])
    after = Table({}, rows[kept], {"s": sets})
    roles = {"w": Role.WEIGHT, "s": Role.ITEMS}
    case = build.case(before, after, roles, changes={"s": (("coarsen", Change.GENERALIZED),)})
    facts = {"s": replace(case.ctx.attributes["s"], hierarchy=hierarchy)}
    return case.but(attributes=facts)


def outcome(case):
    return AUDIT.measure(*case.args)


def kept(case):
    return outcome(case).figures["s.kept"].value


ITEMS = st.frozensets(st.sampled_from([*TREE, "fruit"]), max_size=5)
LABELS = st.frozensets(st.sampled_from([*TREE, "fruit", "greens", "food", "*"]), max_size=5)


@examples(150)
@given(rows=st.lists(st.tuples(ITEMS, LABELS, st.booleans(), st.integers(1, 3)), min_size=1, max_size=8))
def test_sets_against_a_brute_force(rows, build):
    before = [set(row) for row, *_ in rows]
    after = [set(labels) if there else ... for _, labels, there, _ in rows]
    weights = [w for *_, w in rows]
    expected = brute_force(before, after, weights, BELOW)
    found = kept(case_of(build, before, after, weights))
    assert found is None if expected is None else found == pytest.approx(expected, abs=1e-12)


def test_an_item_that_is_a_category_stands_below_the_next_one(build):
    before = [{"fruit"}, {"leek"}, {"pear", "leek"}]
    top = kept(case_of(build, before, [{"food"}] * 3))
    assert top == 0.0  # read, and it covers everything
    assert kept(case_of(build, before, [{"fruit"}, {"greens"}, {"fruit", "greens"}])) == pytest.approx(
        brute_force(before, [{"fruit"}, {"greens"}, {"fruit", "greens"}], [1] * 3, BELOW)
    )


@pytest.fixture(scope="module")
def baskets():
    rng = np.random.default_rng(3)
    return [{f"item {i}" for i in rng.integers(0, 40, rng.integers(0, 9))} for _ in range(500)]


def test_both_ends_of_the_scale(build, baskets):
    unchanged = outcome(case_of(build, baskets, baskets, hierarchy=None))
    values = {name: figure.value for name, figure in unchanged.figures.items()}
    assert values == {"mean_kept": 1.0, "s.kept": 1.0, "s.items_lost": 0, "s.occurrences_lost": 0.0}
    assert not unchanged.findings
    for nothing in ([set()] * 500, [{"*"}] * 500, [...] * 500):
        assert kept(case_of(build, baskets, nothing, hierarchy=None)) == 0.0
    turned = [*baskets[1:], baskets[0]]
    assert kept(case_of(build, baskets, turned, hierarchy=None)) < 0.03
    everything = set().union(*baskets)
    assert kept(case_of(build, baskets, [everything] * 500, hierarchy=None)) == 0.0


def test_what_is_left_out_is_counted_and_warned_of(build, baskets):
    kept_items = {f"item {i}" for i in range(10)}
    shorter = [row & kept_items for row in baskets]
    found = outcome(case_of(build, baskets, shorter, hierarchy=None))
    gone = sum(map(len, baskets)) - sum(map(len, shorter))
    assert found.figures["s.items_lost"].value == 30
    assert found.figures["s.occurrences_lost"].value == pytest.approx(gone / sum(map(len, baskets)))
    (warning,) = found.findings
    assert (warning.code, warning.subject) == ("PPF927", "public.s")
    assert "lost 30 of its 40 items" in warning.text
    assert "after step `coarsen`. For `km_anonymity`, a smaller `m` keeps more" in warning.text
    assert "With a `hierarchy`" in warning.text
    (dropped,) = outcome(case_of(build, baskets, [*baskets[:200], *([...] * 300)], hierarchy=None)).findings
    assert "with rows that were left out. Let steps leave out fewer rows" in dropped.text
    with_most = [row - {"item 1"} for row in baskets]
    assert not outcome(case_of(build, baskets, with_most, hierarchy=None)).findings


def test_coarse_categories_are_warned_of(build):
    before = [{"pear", "leek"}, {"fig"}, {"kale", "fig"}, {"leek"}] * 5
    found = outcome(case_of(build, before, [{"food"}] * 20))
    (warning,) = found.findings
    assert "`s` keeps 0% of its information" in warning.text
    assert "`by: [leave_out]`" in warning.text


def test_bits_and_seeds_say_what_the_sets_say(build):
    items = [f"item {i:02}" for i in range(70)]
    rng = np.random.default_rng(7)
    before = [set(rng.choice(items, rng.integers(1, 5), replace=False).tolist()) for _ in range(120)]
    original = Baskets.of(before, items)
    operator = TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 5), 4), dict.fromkeys(range(1, 5), 1 / 64), 70)
    draws = Draws(RunKey.from_seed("kept").step("mix"), seeded.draws_per_row(operator))
    seeds = seeded.seed(original, operator, draws, np.arange(len(original)))
    plain = expand(seeds).baskets()
    found = [_kept_of(build, original, sets) for sets in (plain, PackedSets.of(plain), seeds)]
    assert found[0] == found[1] == found[2]
    below = {item: {item} for item in items}
    expected = brute_force(before, [set(row) for row in plain.texts()], [1] * 120, below)
    assert found[0] == pytest.approx(expected, abs=1e-12)
    assert expected > 0


def _kept_of(build, original, released):
    rows = np.arange(len(original))
    case = build.case(Table({}, rows, {"s": original}), Table({}, rows, {"s": released}), {"s": Role.ITEMS})
    facts = replace(case.ctx.attributes["s"], domain=tuple(original.categories.to_pylist()))
    return kept(case.but(attributes={"s": facts}))


def test_randomized_originals_are_not_compared(build, baskets):
    packed = PackedSets.of(Baskets.of(baskets))
    rows = np.arange(len(packed))
    case = build.case(Table({}, rows, {"s": packed}), Table({}, rows, {"s": packed}), {"s": Role.ITEMS})
    figures = outcome(case).figures
    assert figures["mean_kept"].value is None
    assert figures["mean_kept"].note == "not compared: the original's sets `s` are randomized"


POLICY = """version: 1
name: sets
source: {{path: "{path}"{source}}}
attributes: {{items: {{role: items}}}}
privacy: {{km_anonymity: {{k: 5, m: 2}}}}
randomness: {{mode: reproducible, seed: "1"}}
steps: {{frequent: {{use: apriori_anonymization}}}}
releases: {{study: {{path: sets.baskets}}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "mark", "lost", "items"),
    [
        ("faers/faers_2022q3_cases.dat.gz", "", " ", 913, 973),
        ("groceries/groceries.csv", ", format: baskets", ",", 115, 169),
    ],
)
def test_what_km_anonymity_costs(data, tmp_path, report_of, name, source, mark, lost, items):
    """Items are left out alike in every set, so that the share that is kept follows from counts of items alone."""
    file = data / name
    if not file.is_file():
        pytest.skip(f"{name} is not at hand")
    (tmp_path / "p.yaml").write_text(POLICY.format(path=file, source=source))
    folder = run(tmp_path / "p.yaml", out=tmp_path / "runs").run_dir
    document = report_of(folder)
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    counts = Counter(item for row in csv.reader(text.splitlines(), delimiter=mark) for item in set(row) if item)
    released = (folder / "released" / "study" / "sets.baskets").read_text()
    left = {item for row in csv.reader(released.splitlines()) for item in row}
    total = counts.total()
    guess = {item: n * (1 - n / total) for item, n in counts.items()}
    figures = {n.removeprefix("information_kept.items."): m["value"] for n, m in document["metrics"].items()}
    assert figures["kept"] == pytest.approx(sum(guess[i] for i in counts if i in left) / sum(guess.values()), abs=1e-9)
    assert (figures["items_lost"], len(counts)) == (lost, items)
    assert figures["occurrences_lost"] == pytest.approx(sum(counts[i] for i in counts if i not in left) / total)
    assert [f["code"] for f in document["findings"]].count("PPF927") == 1
