"""How alike release and original are: `krimp_dissimilarity`, `itemset_comparison`, `synthetic_training`."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.comparison import CodeTableSearch, affordable_rows, dissimilarity, recounted, united
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table


def measured(name, case, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def people(rng, rows, strength=0.7):
    """p, q and s copy a hidden value of four, each with this probability; x is noise."""
    hidden = rng.integers(0, 4, rows)
    drawn = {n: np.where(rng.random(rows) < strength, hidden, rng.integers(0, 4, rows)) for n in "pqs"}
    return {n: [f"v{v}" for v in cells] for n, cells in {**drawn, "x": rng.integers(0, 3, rows)}.items()}


@pytest.mark.parametrize("params", [{}, {"candidates": "all", "pruning": "true"}, {"candidates": "closed"}])
def test_a_fresh_sample_is_as_like_as_a_half(build, params):
    rng = np.random.default_rng(1)
    case = build.case(people(rng, 2000, 0.95), people(rng, 2000, 0.95), "qqsx", paired=False)
    found = values(measured("krimp_dissimilarity", case, **params))
    assert found["dissimilarity"] == max(found["of_original"], found["of_release"])
    assert found["internal"] < found["uncorrelated"] / 2
    assert found["uncorrelated"] > 2 * found["dissimilarity"]
    assert found["uncorrelated_ratio"] == pytest.approx(found["uncorrelated"] / found["dissimilarity"])


def test_columns_released_out_of_step_are_found(build):
    """The same values of each column, in another order: as unlike as uncorrelated data are."""
    rng = np.random.default_rng(2)
    original = people(rng, 2000)
    shuffled = {n: rng.permutation(c).tolist() for n, c in original.items()}
    found = values(measured("krimp_dissimilarity", build.case(original, shuffled, "qqsx", paired=False)))
    assert found["dissimilarity"] == pytest.approx(found["uncorrelated"], rel=0.15)
    assert found["dissimilarity"] > 3 * found["internal"]


def test_the_original_itself_is_not_unlike(build):
    rows = people(np.random.default_rng(3), 300)
    outcome = measured("krimp_dissimilarity", build.case(rows, rows, "qqsx", paired=False))
    assert outcome.figures["dissimilarity"].value == 0
    assert outcome.figures["uncorrelated_ratio"].value is None
    assert outcome.figures["internal"].interval is not None
    assert len(outcome.charts) == 1


def test_dissimilarity_is_that_of_the_library(build):
    rng = np.random.default_rng(4)
    before, after = people(rng, 300), people(rng, 200, 0.5)
    found = values(measured("krimp_dissimilarity", build.case(before, after, "qqsx", paired=False), laplace=0.5))
    tables = [count(Table.of(t), list("pqsx")) for t in (before, after)]
    x, y = (CodeTableSearch(2, "slim", pruning=False).encoded(d) for d in united(tables).databases)
    apart = dissimilarity(x, y, 0.5)
    assert (found["of_original"], found["of_release"]) == (apart.of_first, apart.of_second)


def test_the_same_patterns_are_free_of_the_second_search(build):
    """All supports of a full product of columns tie: a second search finds another table for next to the same rows."""
    cells = np.array(list(product(range(3), range(3), range(3), range(3), range(2))))
    rows = {n: [f"v{v}" for v in column] for n, column in zip("pqsxy", cells.T, strict=True)}
    rows["z"] = [f"v{int(a + b > 2)}" for a, b in zip(cells[:, 0], cells[:, 1], strict=True)]
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, len(cells), len(cells))
    again = {n: [column[i] for i in drawn] for n, column in rows.items()}
    params = {"candidates": "all", "min_support": {"count": 1}}
    found = values(measured("krimp_dissimilarity", build.case(rows, again, "qqqqqs", paired=False), **params))
    assert 0 < found["same_patterns"] < found["dissimilarity"] / 2
    assert found["same_patterns"] < 2 * found["same_patterns_internal"]
    tables = [count(Table.of(t), list("pqsxyz")) for t in (rows, again)]
    x, y = united(tables).databases
    own = CodeTableSearch(1, "all", pruning=False).encoded(x)
    assert found["same_patterns"] == dissimilarity(own, recounted(y, own)).value
    same = values(measured("krimp_dissimilarity", build.case(rows, rows, "qqqqqs", paired=False), **params))
    assert same["same_patterns"] == 0


def test_the_same_patterns_find_columns_out_of_step(build):
    rng = np.random.default_rng(2)
    original = people(rng, 2000)
    shuffled = {n: rng.permutation(c).tolist() for n, c in original.items()}
    found = values(measured("krimp_dissimilarity", build.case(original, shuffled, "qqsx", paired=False)))
    assert found["same_patterns"] > 3 * found["same_patterns_internal"]


def test_samples_of_large_tables_have_intervals(build):
    """A figure of a sample says so and has an interval, one of all rows has none."""
    rng = np.random.default_rng(5)
    case = build.case(people(rng, 3000), people(rng, 3000, 0.4), "qqsx", paired=False)
    outcome = measured("krimp_dissimilarity", case, sample=600, repeats=0)
    found = outcome.figures["dissimilarity"]
    assert found.sample == 600
    assert found.interval[0] < found.value < found.interval[1]
    assert outcome.figures["internal"].value is None
    whole = measured("krimp_dissimilarity", case, repeats=0).figures["dissimilarity"]
    assert whole.sample is None
    assert whole.interval is None
    assert whole.value == pytest.approx(found.value, abs=0.1)


def test_one_repeat_has_no_interval_and_one_row_no_half(build):
    rows = people(np.random.default_rng(6), 50)
    case = build.case(rows, rows, "qqsx", paired=False)
    assert measured("krimp_dissimilarity", case, repeats=1).figures["internal"].interval is None
    one = {n: c[:1] for n, c in rows.items()}
    found = measured("krimp_dissimilarity", build.case(one, one, "qqsx", paired=False)).figures
    assert found["internal"].value is None
    assert found["dissimilarity"].value == 0


def supports(rows, share):
    """All itemsets with a support of at least this share of the rows."""
    found = {}
    for row in rows:
        for size in range(1, len(row) + 1):
            for items in combinations(enumerate(row), size):
                found[items] = found.get(items, 0) + 1
    return {s: n / len(rows) for s, n in found.items() if n >= share * len(rows) * (1 - 1e-12)}


@pytest.mark.parametrize(
    ("sizes", "support"), [((60, 60), {"ratio": 0.1}), ((60, 30), {"count": 6}), ((40, 90), {"count": 1})]
)
def test_itemsets_against_dictionaries(build, sizes, support):
    rng = np.random.default_rng(7)
    before, after = people(rng, sizes[0]), people(rng, sizes[1])
    found = values(measured("itemset_comparison", build.case(before, after, "qqsx", paired=False), min_support=support))
    share = support.get("ratio") or support["count"] / sizes[0]
    a, b = (supports(list(zip(*t.values(), strict=True)), share) for t in (before, after))
    both = a.keys() & b.keys()
    moved = [abs(a[s] - b[s]) for s in both]
    assert (found["original_itemsets"], found["released_itemsets"]) == (len(a), len(b))
    assert found["equal_itemsets"] == pytest.approx(len(both) / len(a))
    assert found["support_difference"] == pytest.approx(np.mean(moved))
    assert found["support_difference_highest"] == pytest.approx(max(moved))
    assert found["new_support"] == pytest.approx(np.mean([b[s] for s in b.keys() - both]))
    assert found["lost_support"] == pytest.approx(np.mean([a[s] for s in a.keys() - both]))


def test_the_picture_counts_every_equal_itemset(build):
    rng = np.random.default_rng(8)
    outcome = measured("itemset_comparison", build.case(people(rng, 200), people(rng, 200), "qqsx", paired=False))
    assert sum(outcome.charts[0].series[0].y) == pytest.approx(1)
    same = people(rng, 100)
    outcome = measured("itemset_comparison", build.case(same, same, "qqsx", paired=False))
    assert outcome.figures["equal_itemsets"].value == 1
    assert outcome.figures["support_difference_highest"].value == 0
    assert outcome.figures["new_support"].value is None
    assert outcome.charts[0].series[0].y == (1.0,)


@pytest.mark.slow
def test_the_difference_by_chance_is_that_of_two_samples(build):
    """Mean over itemsets of 40 pairs of samples on fixed keys: within 10 % of what is told beside them."""
    told, seen = [], []
    for key in range(40):
        rng = np.random.default_rng([9, key])
        case = build.case(people(rng, 400), people(rng, 300), "qqsx", paired=False)
        found = values(measured("itemset_comparison", case))
        told.append(found["chance_difference"])
        seen.append(found["support_difference"])
    assert np.mean(seen) == pytest.approx(np.mean(told), rel=0.1)


def test_too_many_itemsets_stop_with_a_word(build):
    rows = people(np.random.default_rng(10), 100)
    case = build.case(rows, rows, "qqsx", paired=False)
    with pytest.raises(PluginError, match="PPF775"):
        measured("itemset_comparison", case, min_support={"count": 1}, most=50)
    assert values(measured("itemset_comparison", case, min_support={"count": 1}, most=50, max_length=1))


def test_chosen_attributes_only(build):
    rng = np.random.default_rng(11)
    rows = people(rng, 100)
    case = build.case(rows, {**rows, "x": ["other"] * 100}, "qqsx", paired=False)
    assert values(measured("itemset_comparison", case))["equal_itemsets"] < 1
    assert values(measured("itemset_comparison", case, attributes=["p", "q", "s"]))["equal_itemsets"] == 1


def learnable(rng, rows, noise=0.1, told=True):
    """The class is p, but for a share of noise; in a release that tells nothing it is drawn by itself."""
    p = rng.integers(0, 2, rows)
    t = np.where(rng.random(rows) < noise, 1 - p, p) if told else rng.integers(0, 2, rows)
    return {"p": [f"p{v}" for v in p], "q": [f"q{v}" for v in rng.integers(0, 6, rows)], "t": [f"t{v}" for v in t]}


@pytest.mark.parametrize("holdout", [Holdout(0.3), None])
@pytest.mark.parametrize("classifier", ["tree", "naive_bayes"])
def test_known_errors(build, holdout, classifier):
    """A good release teaches the class, error 0.1; one without correlations does not, error 1/2: five errors apart."""
    rng = np.random.default_rng(12)
    spread = 5 * np.sqrt(0.25 / 900)
    for told, error in ((True, 0.1), (False, 0.5)):
        case = build.case(learnable(rng, 3000), learnable(rng, 3000, told=told), "qqt", paired=False, holdout=holdout)
        outcome = measured("synthetic_training", case, classifier=classifier)
        found = outcome.figures
        assert found["real"].value == pytest.approx(0.1, abs=spread)
        assert found["synthetic"].value == pytest.approx(error, abs=spread if told else 0.45)
        assert found["error_increase"].value == pytest.approx(found["synthetic"].value - found["real"].value)
        low, high = found["error_increase"].interval
        assert low <= found["error_increase"].value <= high
        assert (low > 0) is not told
        assert ("never saw" in found["real"].note) is (holdout is not None)


@pytest.mark.slow
def test_the_interval_covers_no_increase(build):
    """Fresh samples of one population learn as well: at 95 % fewer than 38 of 50 would be one in ten thousand."""
    covered = 0
    for key in range(50):
        rng = np.random.default_rng([13, key])
        case = build.case(learnable(rng, 600, 0.3), learnable(rng, 420, 0.3), "qqt", paired=False, holdout=Holdout(0.3))
        low, high = measured("synthetic_training", case).figures["error_increase"].interval
        covered += low <= 0 <= high
    assert covered >= stats.binom.ppf(1e-4, 50, 0.95)


def test_classes_and_targets_that_are_not_there(build):
    rng = np.random.default_rng(14)
    rows = learnable(rng, 100)
    outcome = measured("synthetic_training", build.case(rows, rows, "qqx", paired=False))
    assert [f.code for f in outcome.findings] == ["PPF830"]
    outcome = measured("synthetic_training", build.case(rows, {**rows, "t": ["⊥"] * 100}, "qqt", paired=False))
    assert outcome.figures["synthetic"].value is None
    outcome = measured("synthetic_training", build.case(rows, {**rows, "t": ["new"] * 100}, "qqt", paired=False))
    assert outcome.figures["synthetic"].value == 1
    found = values(measured("synthetic_training", build.case(rows, rows, "qqx", paired=False), target="t"))
    assert found["synthetic"] <= found["real"] + 0.2


def test_what_check_says_of_the_classifier(build):
    case = build.case(learnable(np.random.default_rng(15), 5), learnable(np.random.default_rng(15), 5), "qqt")
    spec, scope = load("audits", "synthetic_training"), Scope("", case.ctx.attributes, ())
    assert not spec.effect(spec.params(), scope).problems
    assert [p.code for p in spec.effect(spec.params(target="tt"), scope).problems] == ["PPF861"]
    assert [p.code for p in spec.effect(spec.params(classifier="tre"), scope).problems] == ["PPF834"]
    assert [p.code for p in spec.effect(spec.params(options={"depth": "3"}), scope).problems] == ["PPF834"]


def test_weights_count_as_rows(build):
    rows = {"p": ["a", "a", "b"], "w": ["3", "1", "2"]}
    plain = {"p": ["a"] * 4 + ["b"] * 2}
    weighted = build.case(rows, rows, {"p": Role.QUASI_IDENTIFIER, "w": Role.WEIGHT}, paired=False)
    expanded = build.case(plain, plain, "q", paired=False)
    for name in ("krimp_dissimilarity", "itemset_comparison", "closest_record"):
        params = {"min_support": {"count": 1}} if name == "itemset_comparison" else {}
        assert values(measured(name, weighted, **params)) == values(measured(name, expanded, **params))


def test_wide_tables_are_compared_on_fewer_rows(build, monkeypatch):
    assert affordable_rows(9, 100_000) == 100_000
    assert affordable_rows(300, 100_000) == 222
    assert affordable_rows(10_000, 100_000) == 200
    rows = people(np.random.default_rng(16), 400)
    case = build.case(rows, rows, "qqsx", paired=False)
    monkeypatch.setattr("ppdm_flow.mining.comparison.EFFORT", 4000)
    found = measured("krimp_dissimilarity", case, repeats=0).figures
    assert found["dissimilarity"].sample == 250
    assert measured("krimp_dissimilarity", case, repeats=0, sample=400).figures["dissimilarity"].sample is None


def by_hand(before, after, least, delta):
    """Return the share of itemsets, frequent on either side, whose support moved by more than delta."""
    supports_of = [{key: n / len(rows) for key, n in tally(rows).items()} for rows in (before, after)]
    frequent = {key for side in supports_of for key, share in side.items() if share >= least - 1e-12}
    moved = [abs(supports_of[0].get(key, 0.0) - supports_of[1].get(key, 0.0)) for key in frequent]
    return sum(m > delta for m in moved) / len(moved)


def tally(rows):
    found = {}
    for row in rows:
        cells = list(enumerate(row))
        for size in range(1, len(cells) + 1):
            for key in combinations(cells, size):
                found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("delta", [0.004, 0.02, 0.1, 0.4])
@pytest.mark.parametrize("itemsets", ["all", "closed"])
def test_the_share_beyond_delta_against_dictionaries(build, delta, itemsets):
    """Equation 3, with itemsets that only one side has counted in the other; closed ones are some of all."""
    rng = np.random.default_rng(11)
    before = [(f"a{g}", f"b{(g + rng.integers(0, 2)) % 3}", f"c{rng.integers(0, 3)}") for g in rng.integers(0, 3, 137)]
    after = [(f"a{g}", f"b{(g + rng.integers(0, 3)) % 3}", f"c{rng.integers(0, 4)}") for g in rng.integers(0, 3, 211)]
    tables = [{n: [row[i] for row in rows] for i, n in enumerate("xyz")} for rows in (before, after)]
    how = {"min_support": {"ratio": 0.05}, "delta": delta, "itemsets": itemsets}
    figure = measured("itemset_comparison", build.case(*tables, "xxx"), **how).figures["share_beyond_delta"]
    assert figure.interval is None
    if itemsets == "all":
        assert figure.value == pytest.approx(by_hand(before, after, 0.05, delta), abs=1e-12)
    assert (figure.value == 0) == (by_hand(before, after, 0.05, delta) == 0)


def test_the_share_beyond_delta_of_the_table_itself_and_of_a_sample(build):
    rng = np.random.default_rng(12)
    table = {n: [f"{n}{v}" for v in rng.integers(0, 3, 3000)] for n in "xyz"}
    case = build.case(table, table, "xxx")
    assert measured("itemset_comparison", case, delta=0.001).figures["share_beyond_delta"].value == 0
    assert measured("itemset_comparison", case).figures["share_beyond_delta"].value is None
    figure = measured("itemset_comparison", case, delta=0.02, sample=500).figures["share_beyond_delta"]
    low, high = figure.interval
    assert low == 0 <= figure.value <= high  # what a sample of each side does not rule out
    assert figure.sample == 500


def test_the_share_beyond_delta_of_a_release_without_a_column(build):
    """What a dropped column was part of is gone, however equal the rest is."""
    table = {n: [f"{n}{i % 3}" for i in range(60)] for n in "xyz"}
    case = build.case(table, {n: table[n] for n in "xy"}, "xxx")
    figure = measured("itemset_comparison", case, delta=0.02).figures["share_beyond_delta"]
    assert figure.value is None
    assert "lacks 1" in figure.note
    chosen = measured("itemset_comparison", case, delta=0.02, attributes=["x", "y"])
    assert chosen.figures["share_beyond_delta"].value == 0


def test_classes_as_a_yardstick(build):
    """Every pair of classes against the library, without the class itself; the release matters for nothing of it."""
    rng = np.random.default_rng(13)
    classes = rng.integers(0, 3, 600)
    table = {
        "x": [f"x{(c + rng.integers(0, 2)) % 3}" for c in classes],
        "y": [f"y{(2 * c + rng.integers(0, 2)) % 3}" for c in classes],
        "z": [f"z{rng.integers(0, 2)}" for _ in classes],
        "class": [f"c{c}" for c in classes],
    }
    figures = measured("krimp_dissimilarity", build.case(table, table, "xxxt"), yardstick="classes", repeats=1).figures
    parts = [[i for i, c in enumerate(classes) if c == k] for k in range(3)]
    parts.sort(key=len, reverse=True)
    databases = united(
        [count(Table.of({n: [table[n][i] for i in rows] for n in "xyz"}), ["x", "y", "z"]) for rows in parts]
    ).databases
    search = CodeTableSearch(2, "slim", pruning=False)
    apart = [dissimilarity(*pair).value for pair in combinations([search.encoded(d) for d in databases], 2)]
    names = ("between_classes", "between_classes_lowest", "between_classes_highest")
    expected = [float(np.mean(apart)), min(apart), max(apart)]
    assert [figures[n].value for n in names] == pytest.approx(expected, abs=1e-12)
    assert figures["between_classes_lowest"].value > 3 * figures["internal"].value  # classes differ, halves do not
    without = measured("krimp_dissimilarity", build.case(table, table, "xxxt"), repeats=1).figures
    assert not set(names) & set(without)
    one = {n: v if n != "class" else ["c"] * 600 for n, v in table.items()}
    figures = measured("krimp_dissimilarity", build.case(one, one, "xxxt"), yardstick="classes", repeats=1).figures
    assert figures["between_classes"].value is None


def test_what_check_says_of_the_yardstick():
    spec = load("audits", "krimp_dissimilarity")

    def said(roles, **params):
        effect = spec.effect(spec.params(**params), Scope("likeness", {}, (), source_roles=roles))
        return [p.path for p in effect.problems], dict(effect.asks)

    assert said({"a": Role.TARGET}, yardstick="classes") == ([], {})
    assert said({"a": Role.SENSITIVE}, yardstick="classes") == ([("yardstick",)], {})
    assert said({"a": Role.TARGET, "b": Role.TARGET}, yardstick="classes") == ([("yardstick",)], {})
    assert said({"a": Role.SENSITIVE}, yardstick="classes", target="a") == ([], {"target": "a"})
    assert said({"a": Role.TARGET}, target="a") == ([("target",)], {})
