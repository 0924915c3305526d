"""The audit `classification_error`: what it finds on tables whose errors are known beforehand."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from ppdm_flow.audits.classification_error import algorithm
from ppdm_flow.audits.classification_error.algorithm import ClassificationErrorAudit
from ppdm_flow.audits.learning import sides
from ppdm_flow.audits.learning.catalogue import CLASSIFIERS
from ppdm_flow.audits.learning.classifiers import _CLASSES, Learner, interval, pessimistic_errors, prune, split, trials
from ppdm_flow.audits.learning.sides import Feature, side
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table

SPEC = load("audits", "classification_error")


def audit(**params):
    return ClassificationErrorAudit(SPEC.params(**params))


def population(rows=3000, seed=1, noise=0.1):
    """The class is s, except for a share ``noise``; q is noise, p tells a third of s."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, rows)
    t = np.where(rng.random(rows) < noise, 1 - s, s)
    return {
        "p": [f"p{v}" for v in np.where(rng.random(rows) < 1 / 3, s, rng.integers(2, 5, rows))],
        "q": [f"q{v}" for v in rng.integers(0, 6, rows)],
        "s": [f"s{v}" for v in s],
        "t": [f"t{v}" for v in t],
    }


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", ["tree", "naive_bayes", "logistic"])
def test_known_errors(build, name):
    """Without s, a third of the rows shows it in p: error = 2/3 * 1/2 + 1/3 * 0.1; five standard errors apart."""
    table = population()
    case = build.case(table, {**table, "s": ["⊥"] * 3000}, "qqst")
    found = values(audit(classifier=name).measure(*case.args))
    spread = 5 * np.sqrt(0.25 / 1000 / 3)
    assert found["base"] == pytest.approx(0.1, abs=spread)
    assert found["suppressed"] == pytest.approx(1 / 3 + 1 / 30, abs=spread)
    assert found["removed"] == pytest.approx(1 / 3 + 1 / 30, abs=spread)
    assert found["error_increase"] == pytest.approx(found["suppressed"] - found["base"])


def test_an_unchanged_release_has_the_very_same_errors(build):
    table = population()
    outcome = audit().measure(*build.case(table, table, "qqst").args)
    found = outcome.figures
    assert found["base"].value == found["suppressed"].value
    assert found["error_increase"].interval == (0, 0)
    assert found["base"].sample == 3000
    low, high = found["base"].interval
    assert low < found["base"].value < high
    assert "`s`" in found["removed"].note


def test_order_of_values_means_nothing(build):
    """Nominal values by number would need a tree of many cuts; here one column tells all."""
    rng = np.random.default_rng(3)
    p = rng.integers(0, 40, 4000)
    table = {"p": [f"{v:02}" for v in p], "t": [str(int(v == 17 or v == 23)) for v in p]}
    assert values(audit().measure(*build.case(table, table, "qt").args))["base"] == 0


def test_the_test_part_teaches_nothing(build):
    """Every row has a value of its own: a tree that peeked would know all classes, an honest tree knows none."""
    rng = np.random.default_rng(4)
    table = {"p": [f"{v}" for v in range(600)], "t": [f"{v}" for v in rng.integers(0, 2, 600)]}
    found = values(audit().measure(*build.case(table, table, "qt").args))
    assert found["base"] > 0.4


def test_weights_are_persons(build):
    """A collapsed table gives what its expanded one gives, up to the choice of splits."""
    table = population(4000)
    rows, counts = np.unique(np.array([table[n] for n in "pqst"]), axis=1, return_counts=True)
    collapsed = {n: list(map(str, rows[i])) for i, n in enumerate("pqst")} | {"w": [str(c) for c in counts]}
    wide = audit(repeats=20).measure(*build.case(table, table, "qqst").args)
    narrow = audit(repeats=20).measure(*build.case(collapsed, collapsed, "qqstw").args)
    for name in ("base", "removed"):
        assert narrow.figures[name].value == pytest.approx(wide.figures[name].value, abs=0.02)
    assert narrow.figures["base"].sample == 4000


def test_unpaired_releases(build):
    table = population()
    shuffled = np.random.default_rng(0).permutation(3000)
    case = build.case(table, {n: [table[n][i] for i in shuffled] for n in "pqst"}, "qqst", paired=False)
    found = audit().measure(*case.args).figures
    assert found["error_increase"].value == pytest.approx(0, abs=0.03)
    assert found["error_increase"].interval[0] < 0 < found["error_increase"].interval[1]


def test_dropped_and_renamed_columns(build):
    table = population()
    released = {"kind": table["t"], "q": table["q"]}
    case = build.case(table, released, "qqst", sources={"kind": "t"})
    found = values(audit(target="t").measure(*case.args))
    assert found["base"] < 0.15
    assert found["suppressed"] > 0.4


def test_rows_that_a_step_dropped_are_left_out_of_both(build):
    table = population(2000)
    original = Table.of(table)
    kept = original.take(np.arange(0, 2000, 2))
    outcome = audit().measure(*build.case(original, kept, "qqst").args)
    assert outcome.figures["base"].value == outcome.figures["suppressed"].value
    assert outcome.figures["base"].sample == 1000


@pytest.mark.parametrize("spoil", ["changed", "missing", "strange"])
def test_a_spoilt_target(build, spoil):
    table = population(200)
    released, changes = dict(table), {}
    if spoil == "missing":
        del released["t"]
    elif spoil == "changed":
        changes = {"t": (("perturb", Change.PERTURBED),)}
    else:
        released["t"] = ["good"] * 200
    outcome = audit(target="t").measure(*build.case(table, released, "qqst", changes=changes).args)
    found = values(outcome)
    assert found["base"] is not None
    assert (found["suppressed"], found["error_increase"]) == (None, None)
    assert [f.code for f in outcome.findings] == ["PPF830"]
    assert outcome.figures["error_increase"].note


def test_too_few_rows_and_no_target(build):
    table = population(9)
    assert values(audit().measure(*build.case(table, table, "qqst").args))["base"] is None
    assert values(audit().measure(*build.case(table, table, "qqsx").args))["base"] is None
    empty = {n: [] for n in "pqst"}
    assert values(audit().measure(*build.case(empty, empty, "qqst").args))["base"] is None


def test_rows_without_a_class_are_left_out(build):
    table = population(300)
    table["t"] = [None if i % 3 == 0 else v for i, v in enumerate(table["t"])]
    assert audit().measure(*build.case(table, table, "qqst").args).figures["base"].sample == 200


def test_one_class_and_no_features(build):
    table = {"p": ["a", "b"] * 20, "t": ["yes"] * 40}
    assert values(audit().measure(*build.case(table, table, "qt").args))["base"] == 0
    table = {"t": ["yes"] * 30 + ["no"] * 10}
    assert values(audit().measure(*build.case(table, table, "t").args))["base"] == pytest.approx(0.25, abs=0.2)


@pytest.mark.parametrize("weighted", [False, True])
def test_large_tables_are_sampled_and_say_so(build, weighted):
    table = population(5000) | ({"w": ["3"] * 5000} if weighted else {})
    for paired in (True, False):
        case = build.case(table, table, "qqstw" if weighted else "qqst", paired=paired)
        outcome = audit(rows=1000).measure(*case.args)
        assert 900 <= outcome.figures["base"].sample <= 1000
        assert [f.code for f in outcome.findings] == ["PPF831"]
        assert values(outcome)["base"] == pytest.approx(0.1, abs=0.05)


def test_seeds_decide(build):
    case = build.case(population(500), population(500), "qqst")
    first, second, other = (audit(seed=s).measure(*case.args).figures["base"].value for s in (1, 1, 2))
    assert first == second != other


def test_dotted_classifiers(build):
    case = build.case(population(300), population(300), "qqst")
    name = "sklearn.neighbors.KNeighborsClassifier"  # knows no weights
    assert values(audit(classifier=name, repeats=2).measure(*case.args))["base"] < 0.4
    assert values(audit(classifier="forest", repeats=1).measure(*case.args))["base"] < 0.3


def test_only_classifiers_of_the_list_are_made(build):
    """A policy cannot run code by naming it; what the compiler misses, the audit refuses itself."""
    case = build.case(population(300), population(300), "qqst")
    scope = Scope("classifier", {"t": AttributeFacts("t", Role.TARGET, source="t")}, ())
    for wrong, hint in {
        "os.system": None,
        "sklearn.nothing.Here": None,
        "sklearn.linear_model.LinearRegression": None,
        "sklearn.multiclass.OneVsRestClassifier": None,
        "sklearn.tree._classes.DecisionTreeClassifier": "sklearn.tree.DecisionTreeClassifier",
        "RandomForestClassifer": "sklearn.ensemble.RandomForestClassifier",
        "naive_bayse": "naive_bayes",
    }.items():
        (problem,) = SPEC.effect(SPEC.params(classifier=wrong), scope).problems
        assert (problem.code, problem.path) == ("PPF834", ("classifier",))
        if hint:
            assert problem.hint == f"did you mean `{hint}`?"
        with pytest.raises(PluginError, match="PPF834"):
            audit(classifier=wrong).measure(*case.args)


def test_options_reach_the_classifier(build):
    case = build.case(population(600), population(600), "qqst")
    stump = Learner("sklearn.tree.DecisionTreeClassifier", {"max_depth": "1", "criterion": "log_loss"})
    matrix, classes = np.eye(4, dtype=np.float32), np.array([0, 1, 0, 1])
    made = stump.learn(matrix, classes, np.ones(4))
    assert (made.max_depth, made.criterion, made.get_depth()) == (1, "log_loss", 1)
    network = Learner("sklearn.neural_network.MLPClassifier", {"hidden_layer_sizes": ("3", "2"), "solver": "lbfgs"})
    assert network.learn(matrix, classes, np.ones(4)).hidden_layer_sizes == (3, 2)
    blind = values(audit(options={"max_depth": "1", "max_features": "1"}, repeats=2).measure(*case.args))
    assert blind["base"] != values(audit(repeats=2).measure(*case.args))["base"]


def test_options_that_are_wrong(build):
    scope = Scope("classifier", {"t": AttributeFacts("t", Role.TARGET, source="t")}, ())
    (problem,) = SPEC.effect(SPEC.params(classifier="forest", options={"n_estimator": "9"}), scope).problems
    assert (problem.code, problem.path) == ("PPF834", ("options", "n_estimator"))
    assert problem.hint == "did you mean `n_estimators`?"
    case = build.case(population(100), population(100), "qqst")
    for options in ({"n_estimator": "9"}, {"n_estimators": "-3"}, {"n_estimators": "canary"}):
        with pytest.raises(PluginError, match="PPF834") as caught:
            audit(classifier="forest", options=options).measure(*case.args)
        assert "canary" not in str(caught.value)


def public_home(kind):
    """The shortest module of scikit-learn that has the class."""
    parts = kind.__module__.split(".")
    homes = (".".join(parts[: n + 1]) for n in range(1, len(parts)))
    return next(h for h in homes if hasattr(importlib.import_module(h), kind.__name__))


def test_the_list_is_scikit_learns():
    """Every classifier that stands alone is listed, with no option that it does not have."""
    there = {}
    for name, kind in all_estimators(type_filter="classifier"):
        there[f"{public_home(kind)}.{name}"] = inspect.signature(kind.__init__).parameters
    alone = {
        n for n, p in there.items() if not {"estimator", "estimators"} & {a for a in p if p[a].default is p[a].empty}
    }
    made_of_others = {"sklearn.calibration.CalibratedClassifierCV", "sklearn.semi_supervised.SelfTrainingClassifier"}
    listed = {n for n in CLASSIFIERS if n.startswith("sklearn.")}
    assert alone - made_of_others == listed & set(there)
    for name in CLASSIFIERS:
        long = _CLASSES.get(name, name)
        if long in there:
            assert CLASSIFIERS[name] <= set(there[long]), name


NEEDS = {
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": {"reg_param": "0.5"},
    "sklearn.svm.NuSVC": {"nu": "0.1"},
    "sklearn.ensemble.HistGradientBoostingClassifier": {"max_iter": "10"},
    "sklearn.neighbors.RadiusNeighborsClassifier": {"radius": "1.5", "outlier_label": "most_frequent"},
    "sklearn.neural_network.MLPClassifier": {"max_iter": "400", "solver": "lbfgs"},
    "sklearn.linear_model.LogisticRegressionCV": {"cv": "3"},
}


@pytest.mark.slow(quick=8)
@pytest.mark.filterwarnings("ignore")  # scikit-learn announces changes of its defaults
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_listed_classifier_learns(name):
    """Two of eight columns decide; guessing the commoner class would err on a quarter."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (300, 8)).astype(np.float32)
    classes = (matrix[:, 0] + matrix[:, 1] > 0).astype(np.int64)
    weights = np.where(np.arange(300) < 200, 1.0, 0.0)
    learner = Learner(name, NEEDS.get(name, {}))
    model = learner.learn(matrix, classes, weights)
    wrong = (learner.predict(model, matrix[200:]) != classes[200:]).mean()
    assert wrong <= (0.3 if name.endswith("DummyClassifier") else 0.2)


def test_a_classifier_that_cannot_answer_is_told_without_data(build):
    table = population(60) | {"q": [f"canary{i % 30}" for i in range(60)]}
    name = "sklearn.neighbors.RadiusNeighborsClassifier"
    case = build.case(table, table, "qqst")
    with pytest.raises(PluginError, match="PPF834") as caught:
        audit(classifier=name, options={"radius": "0.1"}, repeats=2).measure(*case.args)
    assert "canary" not in str(caught.value)


def test_pessimistic_errors():
    """Quinlan's own example (C4.5, 1993, section 4.2): U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750.

    With errors, the limit is the rate at which so few would have a probability of 25 %.
    """
    rows, wrong = np.array([6.0, 9.0, 1.0, 16.0, 5.0]), np.array([0.0, 0.0, 0.0, 1.0, 5.0])
    rates = pessimistic_errors(rows, wrong) / rows
    assert rates[[0, 1, 2, 4]].round(3).tolist() == [0.206, 0.143, 0.75, 1.0]
    assert stats.binom.cdf(1, 16, rates[3]) == pytest.approx(0.25)


def test_pruning_leaves_what_helps_and_cuts_what_does_not():
    rng = np.random.default_rng(8)
    matrix = rng.integers(0, 2, (2000, 12)).astype(np.float32)
    classes = np.where(rng.random(2000) < 0.2, rng.integers(0, 2, 2000), matrix[:, 0]).astype(np.int64)
    grown = DecisionTreeClassifier(random_state=0).fit(matrix, classes)
    leaves = np.unique(grown.apply(matrix)).size
    pruned = prune(grown)
    assert np.unique(pruned.apply(matrix)).size < leaves / 4
    assert (pruned.predict(matrix) == matrix[:, 0]).mean() > 0.98
    certain = prune(DecisionTreeClassifier().fit(matrix, matrix[:, 0]))
    assert (certain.predict(matrix) == matrix[:, 0]).all()


@pytest.mark.slow
def test_intervals_cover_the_true_error():
    """400 populations of 150 persons: the 95 % interval holds the learner's mean error on fresh persons.

    The classes are drawn with known probabilities, so the error of a learnt rule is known exactly. At a coverage of
    95 %, fewer than 92 % of 400 have a probability of 0.4 %. The plain t interval covers far less.
    """
    rng = np.random.default_rng(11)
    chance = np.array([0.1, 0.25, 0.4, 0.6, 0.7, 0.9])
    true, ours, plain = [], [], []
    for number in range(400):
        cell = rng.integers(0, 6, 150)
        label = rng.random(150) < chance[cell]
        found = []
        for repeat in range(10):
            test = split(np.ones(150, dtype=np.int64), 1 / 3, number, repeat).test == 1
            ones = np.bincount(cell[~test], weights=label[~test], minlength=6)
            says = 2 * ones > np.bincount(cell[~test], minlength=6)
            true.append(np.where(says, 1 - chance, chance).mean())
            found.append((says[cell[test]] != label[test]).mean())
        mean = float(np.mean(found))
        ours.append(interval(np.array(found), 1 / 3, mean * (1 - mean) / 150))
        reach = stats.t.ppf(0.975, 9) * np.std(found, ddof=1) / np.sqrt(10)
        plain.append((mean - reach, mean + reach))
    inside = lambda ends: np.mean([low <= np.mean(true) <= high for low, high in ends])  # noqa: E731
    assert inside(ours) >= 0.92
    assert inside(plain) < 0.85


@pytest.mark.random
def test_intervals_of_the_increase_cover_it(build):
    """100 populations whose release loses a column: the interval of the increase holds its mean over all of them.

    At a coverage of 95 %, fewer than 88 % of 100 have a probability of 0.2 %.
    """
    found = []
    for seed in range(100):
        table = population(120, seed=seed, noise=0.3)
        case = build.case(table, {**table, "s": ["⊥"] * 120}, "qqst")
        found.append(audit(classifier="naive_bayes", repeats=6).measure(*case.args).figures["error_increase"])
    mean = np.mean([f.value for f in found])
    assert np.mean([f.interval[0] <= mean <= f.interval[1] for f in found]) >= 0.88


def test_threads_change_nothing(build, monkeypatch):
    case = build.case(population(500), population(500), "qqst")
    several = audit(repeats=4).measure(*case.args).figures
    monkeypatch.setattr(algorithm, "THREADS", 1)
    assert audit(repeats=4).measure(*case.args).figures == several


def test_removed_is_the_sensitive_the_changed_or_the_named(build):
    table = population(300)
    changes = {"p": (("mask", Change.SUPPRESSED),)}
    note = lambda outcome: outcome.figures["removed"].note  # noqa: E731
    assert "`s`" in note(audit().measure(*build.case(table, table, "qqst", changes=changes).args))
    assert "`p`" in note(audit().measure(*build.case(table, table, "qqqt", changes=changes).args))
    assert "`q`" in note(audit(removed=("q",)).measure(*build.case(table, table, "qqst").args))
    assert "nothing to remove" in note(audit().measure(*build.case(table, table, "qqqt").args))


def test_the_interval_is_the_corrected_one():
    draws = np.array([0.1, 0.2, 0.15, 0.12])
    low, high = interval(draws, 1 / 3)
    reach = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 0.5) * draws.var(ddof=1))
    assert (low, high) == pytest.approx((draws.mean() - reach, draws.mean() + reach))
    assert interval(draws[:1], 1 / 3) is None


def test_splits_are_of_persons():
    copies = np.array([5, 0, 1, 100])
    parts = split(copies, 0.25, 1, 2)
    assert np.array_equal(parts.train + parts.test, copies)
    assert parts.test.sum() == round(0.25 * 106)
    assert 0 < parts.test[3] < 100
    assert len({tuple(split(copies, 0.25, 1, repeat).test) for repeat in range(20)}) > 1


def test_numbers_become_cuts():
    """Thresholds on a number are columns; what the training part does not have, makes none."""
    table = Table.of({"p": [str(v) for v in range(100)] + [None, "⊥"]})
    classes = (np.arange(102) >= 50).astype(np.int64)
    made = side(table, {"p": AttributeType.INTEGER}, classes, np.ones(102, dtype=np.int64))
    assert made.features[0].numbers is not None
    matrix = sides.code(made, np.ones(len(made.classes)))
    assert matrix.shape[1] == 2 + sides.MOST_CUTS
    number = made.features[0].numbers[np.maximum(made.features[0].codes, 0)]
    known = made.features[0].codes >= 0
    steps = matrix[:, 2:].sum(axis=1)
    assert stats.spearmanr(number[known], steps[known]).statistic > 0.99
    assert sorted(map(tuple, matrix[~known, :2].tolist())) == [(0, 1), (1, 0)]
    assert (
        side(Table.of({"p": ["1", "[2, 3)"]}), {"p": AttributeType.INTEGER}, classes[:2], classes[:2])
        .features[0]
        .numbers
        is None
    )


def test_many_values_share_a_column():
    codes = np.arange(200, dtype=np.int32)
    weights = np.linspace(2, 1, 200)
    weights[150:] = 0
    block = sides.fit(Feature("p", codes, None), weights).block(Feature("p", codes, None))
    assert block.shape == (200, sides.MOST_VALUES)
    assert (block.sum(axis=1) == 1).all()
    assert (block[sides.MOST_VALUES :, -1] == 1).all()
    few = sides.fit(Feature("p", codes, None), np.where(codes < 3, 1.0, 0.0)).block(Feature("p", codes, None))
    assert few.shape == (200, 3)
    assert few[3:].sum() == 0


def test_sparse_and_dense_agree(monkeypatch):
    made = side(
        Table.of({n: population(400)[n] for n in "pqs"}),
        dict.fromkeys("pqs", AttributeType.TEXT),
        np.array([int(v[1]) for v in population(400)["t"]]),
        np.ones(400, dtype=np.int64),
    )
    parts = split(made.copies, 1 / 3, 0, 0)
    dense = trials([(made, [parts])], Learner(), 1)[0].errors
    monkeypatch.setattr(sides, "_DENSE_CELLS", 1)
    assert sparse.issparse(sides.code(made, np.ones(len(made.classes))))
    assert trials([(made, [parts])], Learner(), 1)[0].errors == dense


def test_numeric_columns_are_cut_where_the_schema_says_so(build):
    rng = np.random.default_rng(5)
    age = rng.integers(0, 1000, 3000)
    table = {"p": [str(a) for a in age], "t": [str(int(a >= 400)) for a in age]}
    case = build.case(table, table, "qt")
    fields = tuple(replace(f, type=AttributeType.INTEGER) if f.name == "p" else f for f in case.original.schema)
    case = replace(
        case,
        original=replace(case.original, schema=Schema(fields)),
        candidate=replace(case.candidate, schema=Schema(fields)),
    )
    assert values(audit().measure(*case.args))["base"] < 0.03


def test_problems_at_compile_time():
    facts = {
        "t": AttributeFacts("t", Role.TARGET, source="class"),
        "p": AttributeFacts("p", Role.QUASI_IDENTIFIER, source="p", changes=(("mask", Change.SUPPRESSED),)),
    }
    scope = Scope("classifier", facts, ())
    assert not SPEC.effect(SPEC.params(), scope).problems
    assert not SPEC.effect(SPEC.params(target="class"), scope).problems
    (problem,) = SPEC.effect(SPEC.params(target="clas"), scope).problems
    assert (problem.code, problem.path, problem.hint) == ("PPF861", ("target",), "did you mean `class`?")
    (problem,) = SPEC.effect(SPEC.params(target="p"), scope).problems
    assert (problem.code, "`mask`" in problem.message) == ("PPF833", True)
    (problem,) = SPEC.effect(SPEC.params(), Scope("classifier", {"p": facts["p"]}, ())).problems
    assert problem.code == "PPF861"


def test_no_values_in_the_outcome(build):
    table = {n: [f"canary-{v}" for v in column] for n, column in population(200).items()}
    assert "canary" not in repr(audit().measure(*build.case(table, table, "qqst").args))


@pytest.mark.slow
def test_two_hundred_thousand_rows(build):
    rng = np.random.default_rng(6)
    columns = {
        f"c{i}": Column(rng.integers(0, 8, 200_000).astype(np.int32), Column.of(list("abcdefgh")).categories)
        for i in range(10)
    }
    columns["t"] = Column((columns["c0"].codes // 4).astype(np.int32), Column.of(["n", "y"]).categories)
    table = Table(columns, np.arange(200_000))
    found = values(audit(repeats=1).measure(*build.case(table, table, "q" * 10 + "t").args))
    assert found["base"] == 0
