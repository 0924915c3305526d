"""The audit `information_kept`: against a brute force, Goodman and Kruskal's tau, and both ends of its scale."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.information_kept.algorithm import InformationKeptAudit
from ppdm_flow.core.attributes import Change, HierarchySpec
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "information_kept")
AUDIT = InformationKeptAudit(SPEC.params())
EVERYTHING = "everything"
COARSENED = (("coarsen", Change.GENERALIZED),)


def brute_force(original, released, cover, distance, weights=None):
    """``released`` has a label for each row, ``...`` for a dropped one; ``cover`` says which values a label covers."""
    weights = weights or [1] * len(original)
    rows = list(zip(original, weights, strict=True))
    to_all = [sum(w * distance(x, y) for y, w in rows) / sum(weights) for x in original]
    lost = 0.0
    for i, (label, n) in enumerate(zip(released, weights, strict=True)):
        covered = None if label is ... else cover(label)
        inside = rows if covered is None else [(y, w) for y, w in rows if y in covered]
        size = sum(w for _, w in inside)
        if size:
            lost += n * sum(w * distance(original[i], y) for y, w in inside) / size
        else:
            lost += n * to_all[i]
    every = sum(n * d for n, d in zip(weights, to_all, strict=True))
    return None if every == 0 else max(0.0, 1 - lost / every)


def measured(case):
    return {name: figure.value for name, figure in AUDIT.measure(*case.args).figures.items()}


def unequal(x, y):
    return float(x != y)


def facts(case, name, **more):
    ctx = case.ctx
    return case.but(
        attributes={**ctx.attributes, name: replace(ctx.attributes[name], **more)},
        original_attributes={**ctx.original_attributes, name: replace(ctx.original_attributes[name], **more)},
    )


def released_rows(build, table, released, kept, roles, **more):
    """Build a case whose release has the rows ``kept`` alone."""
    columns = {n: Column.of([v for v, k in zip(cells, kept, strict=True) if k]) for n, cells in released.items()}
    return build.case(table, Table(columns, np.flatnonzero(kept).astype(np.int64)), roles, **more)


LABELS = ("a", "b", "c", "d", "{a, b}", "{c, d}", "{a, c, d}", "*", "⊥")
MEMBERS = {label: set(label.strip("{}").split(", ")) for label in LABELS}


@examples(60)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(LABELS), st.booleans(), st.integers(1, 3)),
        min_size=1,
        max_size=12,
    )
)
def test_categories_against_a_brute_force(rows, build):
    before, labels, kept, weights = (list(side) for side in zip(*rows, strict=True))
    w = [str(n) for n in weights]
    case = released_rows(build, {"p": before, "w": w}, {"p": labels}, kept, "qw", changes={"p": COARSENED})
    told = [label if k else ... for label, k in zip(labels, kept, strict=True)]
    expected = brute_force(before, told, lambda c: None if c in "*⊥" else MEMBERS[c], unequal, weights)
    unknown = any(k and c not in "*⊥" and not MEMBERS[c] & set(before) for c, k in zip(labels, kept, strict=True))
    found = measured(case)["p.kept"]
    assert found is None if unknown or expected is None else found == pytest.approx(expected, abs=1e-12)


NUMBERS = ("1", "2", "5", "9")
RANGES = {
    "[1, 3)": (1, 2),
    "[2, 9]": (2, 5, 9),
    "< 5": (1, 2),
    ">= 9": (9,),
    "{1, 9}": (1, 9),
    "*": None,
    "[20, 30)": None,
}


@examples(60)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([*NUMBERS, None]),
            st.sampled_from([*NUMBERS, *RANGES, "4.5", "⊥"]),
            st.booleans(),
            st.integers(1, 3),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_numbers_against_a_brute_force(rows, build):
    before, labels, kept, weights = (list(side) for side in zip(*rows, strict=True))
    labels = [None if x is None else label for x, label in zip(before, labels, strict=True)]
    table = {"p": before, "w": [str(n) for n in weights]}
    case = facts(released_rows(build, table, {"p": labels}, kept, "qw"), "p", type=AttributeType.FLOAT)
    values = [None if x is None else float(x) for x in before]
    known = [(x, w) for x, w in zip(values, weights, strict=True) if x is not None]
    size = sum(w for _, w in known)
    apart = sum(v * w * abs(x - y) for x, v in known for y, w in known) / (size * size or 1) or 1.0

    def distance(x, y):
        return abs(x - y) if x is not None and y is not None else apart * (x is not y)

    expected = _with_points(values, labels, kept, weights, distance)
    found = measured(case)["p.kept"]
    unread = any(k and c == "{1, 9}" and not {1, 9} & set(values) for c, k in zip(labels, kept, strict=True))
    assert found is None if unread or expected is None else found == pytest.approx(expected, abs=1e-9)


def _with_points(values, labels, kept, weights, distance):
    """Add what single numbers lose, which need not be values of the original, to the brute force for the others."""
    total = sum(weights)
    to_all = [sum(w * distance(x, y) for y, w in zip(values, weights, strict=True)) / total for x in values]
    lost = 0.0
    for i, (label, k) in enumerate(zip(labels, kept, strict=True)):
        if label is None and k:
            continue  # missing before and after
        point = float(label) if k and label.replace(".", "").isdigit() else None
        covered = RANGES.get(label) if k and point is None else None
        inside = [(y, w) for y, w in zip(values, weights, strict=True) if covered is None or y in covered]
        size = sum(w for _, w in inside)
        if point is not None:
            mean = distance(values[i], point)
        elif size:
            mean = sum(w * distance(values[i], y) for y, w in inside) / size
        else:
            mean = to_all[i]
        lost += weights[i] * mean
    every = sum(w * d for w, d in zip(weights, to_all, strict=True))
    return None if every == 0 else max(0.0, 1 - lost / every)


@examples(30)
@given(rows=st.lists(st.integers(0, 7), min_size=2, max_size=60))
def test_global_recoding_keeps_goodman_and_kruskals_tau(rows, build):
    level = {str(v): str(v // 3) for v in range(8)}
    names = {"0": "low", "1": "middle", "2": "high"}
    before = [str(v) for v in rows]
    after = [names[level[v]] for v in before]
    tree = tuple((v, (names[level[v]], "*")) for v in sorted(level))
    case = facts(
        build.case({"p": before}, {"p": after}, "q", changes={"p": COARSENED}),
        "p",
        hierarchy=HierarchySpec(levels=tree),
    )
    found = measured(case)["p.kept"]
    shares = np.zeros((8, 3))
    for v, label in zip(before, after, strict=True):
        shares[int(v), list(names.values()).index(label)] += 1 / len(rows)
    marginal = shares.sum(axis=1)
    used = shares[:, shares.sum(axis=0) > 0]
    error = 1 - (marginal**2).sum()
    tau = ((used**2 / used.sum(axis=0)).sum() - (marginal**2).sum()) / error if error > 1e-12 else None
    assert found == (None if tau is None else pytest.approx(tau, abs=1e-9))


def table_of(rows=400):
    rng = np.random.default_rng(5)
    return {
        "p": [f"place {v}" for v in rng.integers(0, 6, rows)],
        "q": [str(v) for v in rng.integers(18, 90, rows)],
        "s": [f"ill {v}" for v in rng.integers(0, 4, rows)],
        "i": [f"id {v}" for v in range(rows)],
    }


def test_unchanged_is_all_and_hidden_is_nothing(build):
    table = table_of()
    some = {n: table[n] for n in "pqs"}
    every = measured(facts(build.case(table, some, "qqsi"), "q", type=AttributeType.INTEGER))
    assert every == {"mean_kept": 1.0, "p.kept": 1.0, "q.kept": 1.0, "s.kept": 1.0}
    for hidden in ("*", "⊥"):
        case = facts(build.case(table, {n: [hidden] * 400 for n in some}, "qqsi"), "q", type=AttributeType.INTEGER)
        assert all(value == pytest.approx(0, abs=1e-12) for value in measured(case).values())


def test_random_values_are_near_nothing(build):
    table = table_of(4000)
    order = np.random.default_rng(7).permutation(4000)
    mixed = {n: [table[n][i] for i in order] for n in "pqs"}
    case = facts(build.case(table, mixed, "qqsi"), "q", type=AttributeType.INTEGER)
    assert all(value < 0.03 for value in measured(case).values())


def test_a_release_that_stars_columns_out_keeps_less(build):
    """What a distance of distributions at the released level rewarded."""
    table = table_of()
    coarse = {
        **{n: table[n] for n in "ps"},
        "q": [f"[{int(v) // 10 * 10}, {int(v) // 10 * 10 + 10})" for v in table["q"]],
    }
    starred = {**coarse, "p": ["*"] * 400}
    kept = [
        AUDIT.measure(*facts(build.case(table, t, "qqsi"), "q", type=AttributeType.INTEGER).args)
        .figures["mean_kept"]
        .value
        for t in (coarse, starred)
    ]
    assert kept[0] - kept[1] == pytest.approx(1 / 3)
    assert kept[0] > 0.9


def test_dropped_rows_and_columns(build):
    table = table_of()
    kept = [i % 4 > 0 for i in range(400)]
    case = released_rows(build, table, {n: table[n] for n in "ps"}, kept, "qqsi")
    figures = AUDIT.measure(*case.args).figures
    assert figures["q.kept"].value == 0
    assert (figures["q.kept"].note, figures["mean_kept"].note) == ("not released", "not released: `q`")
    assert figures["p.kept"].value == pytest.approx(0.75, abs=0.02)
    nothing = released_rows(build, table, {n: table[n] for n in "ps"}, [False] * 400, "qqsi")
    assert set(measured(nothing).values()) == {0.0}


def test_columns_of_numbers_and_dates(build):
    rng = np.random.default_rng(3)
    days = rng.integers(0, 4000, 500)
    amounts = rng.normal(size=500)
    rows = np.arange(500)
    table = Table(
        {
            "d": NumericColumn(days, AttributeType.DATE),
            "x": NumericColumn(amounts, AttributeType.FLOAT, rows % 50 == 0),
        },
        rows,
    )
    months = [str(np.datetime64(int(v), "D"))[:7] for v in days]
    noisy = NumericColumn(amounts + rng.normal(size=500) / 10, AttributeType.FLOAT, rows % 50 == 0)
    released = Table({"d": Column.of(months), "x": noisy}, rows)
    case = build.case(table, released, "qq", changes={"d": COARSENED})
    case = facts(facts(case, "d", type=AttributeType.DATE), "x", type=AttributeType.FLOAT)
    found = measured(case)
    first = dt.date(1970, 1, 1)
    texts = [str(first + dt.timedelta(int(v))) for v in days]
    in_month = {m: [int(v) for v, t in zip(days, texts, strict=True) if t.startswith(m)] for m in set(months)}
    expected = brute_force([int(v) for v in days], months, in_month.get, lambda x, y: abs(x - y))
    assert found["d.kept"] == pytest.approx(expected, abs=1e-9)
    present = rows % 50 != 0
    moved = np.abs(noisy.values - amounts)[present].sum()
    pairs = np.abs(np.subtract.outer(amounts[present], amounts[present])).mean()
    every = present.sum() * (present.sum() + 2 * (~present).sum()) / 500 * pairs
    assert found["x.kept"] == pytest.approx(1 - moved / every, abs=1e-9)


def test_missing_cells(build):
    before = ["a", "b", None, "a", None, "b"]
    own = measured(build.case({"p": before}, {"p": before}, "q"))
    assert own["p.kept"] == 1.0
    emptied = build.case({"p": before}, {"p": ["a", None, None, "a", None, None]}, "q")
    cover = {"a": {"a"}, None: None}
    expected = brute_force(before, ["a", None, None, "a", None, None], cover.get, unequal)
    assert measured(emptied)["p.kept"] == pytest.approx(expected)


def test_what_cannot_be_compared(build):
    table = table_of(60)
    names = {n: table[n] for n in "pqs"}
    keyed = {"p": (("name", Change.PSEUDONYMIZED),), "s": (("make", Change.GENERATED),)}
    case = build.case(table, {**names, "p": [f"x{v}" for v in table["p"]]}, "qqsi", changes=keyed)
    figures = AUDIT.measure(*case.args).figures
    assert [figures[f"{n}.kept"].value for n in "pqs"] == [None, 1.0, None]
    assert figures["mean_kept"].value == 1.0
    assert figures["mean_kept"].note == "not compared: `p` and `s`"
    strange = build.case(table, {**names, "p": ["somewhere"] * 60}, "qqsi", changes={"p": COARSENED})
    assert "1 of its 1 labels cannot be read" in AUDIT.measure(*strange.args).figures["p.kept"].note
    alone = build.case(table, {"p": table["p"]}, "qqsi", paired=False)
    figures = AUDIT.measure(*alone.args).figures
    assert figures["mean_kept"].value is None
    assert "rows cannot be paired" in figures["mean_kept"].note
    one = build.case({"p": ["a"] * 5}, {"p": ["*"] * 5}, "q")
    assert measured(one) == {"mean_kept": None, "p.kept": None}


def test_several_columns_of_one_attribute_and_renamed_values(build):
    before = ["a", "b", "c", "d"] * 5
    after = {"coarse": ["ab" if v in "ab" else v for v in before], "hidden": ["*"] * 20}
    case = build.case({"p": before}, after, "q", sources={"coarse": "p", "hidden": "p"})
    written = replace(case.ctx.attributes["coarse"], recoded=(("a", "ab"), ("b", "ab")), changes=COARSENED)
    case = case.but(attributes={**case.ctx.attributes, "coarse": written})
    assert measured(case)["p.kept"] == pytest.approx(2 / 3)


def test_sets_with_quoted_members(build):
    before = ["a, b", "c", "d"] * 4
    after = ['{"a, b", c}' if v != "d" else v for v in before]
    case = build.case({"p": before}, {"p": after}, "q", changes={"p": COARSENED})
    assert measured(case)["p.kept"] == pytest.approx(0.5)


def test_intervals_over_many_numbers(build):
    rng = np.random.default_rng(11)
    cells = rng.normal(size=2000)
    order = np.argsort(cells)
    labels = [""] * 2000
    for part in itertools.batched(order, 40) if hasattr(itertools, "batched") else order.reshape(-1, 40):
        low, high = (repr(float(cells[i])) for i in (part[0], part[-1]))
        for i in part:
            labels[i] = f"[{low}, {high}]"
    rows = np.arange(2000)
    table = Table({"p": NumericColumn(cells, AttributeType.FLOAT)}, rows)
    case = facts(build.case(table, Table({"p": Column.of(labels)}, rows), "q"), "p", type=AttributeType.FLOAT)
    groups = {label: set(cells[[i for i in rows if labels[i] == label]].tolist()) for label in set(labels)}
    expected = brute_force(cells.tolist(), labels, groups.get, lambda x, y: abs(x - y))
    assert measured(case)["p.kept"] == pytest.approx(expected, abs=1e-9)


def test_columns_that_say_nothing_are_named(build):
    table = table_of(60)
    after = {"p": ["*" if i % 3 else v for i, v in enumerate(table["p"])], "q": ["old"] * 60, "s": table["s"]}
    case = build.case(table, after, "qqsi", changes={"p": COARSENED, "q": COARSENED})
    findings = AUDIT.measure(*case.args).findings
    assert [(f.code, f.subject) for f in findings] == [("PPF926", "public.p"), ("PPF926", "public.q")]
    assert "`p` hides 67% of its cells" in findings[0].text
    assert "has one value in all of its rows after step `coarsen`. Its values are numbers" in findings[1].text
    case = facts(case, "q", hierarchy=HierarchySpec(levels=()))
    assert "Give its hierarchy a level between" in AUDIT.measure(*case.args).findings[1].text
    assert not AUDIT.measure(*build.case(table, {n: table[n] for n in "pqs"}, "qqsi").args).findings


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ([f"{i % 28 + 1}.{i % 12 + 1}.{1950 + i}" for i in range(60)], "dates (DD.MM.YYYY), of which steps"),
        ([f"{i % 28 + 1}.{i % 12 + 1}.{1950 + i}" for i in range(60)], '`type: date`, and `with: {dates: "%d.%m.%Y"}`'),
        ([f"{1950 + i}-01-01" for i in range(60)], "Its values are dates, of which steps"),
        ([f"{1950 + i}-01-01" for i in range(60)], "declare `type: date`,"),
        ([f"{i},5" for i in range(60)], "declare `type: float`, and `with: {decimal: comma}` of a CSV source"),
        ([str(i) for i in range(60)], "declare `type: integer`,"),
        ([f"v{i}" for i in range(60)], "Declare a hierarchy between its values and `*`"),
    ],
)
def test_the_warning_says_what_to_declare(values, advice, build):
    case = build.case({"p": values}, {"p": ["*"] * len(values)}, "q", changes={"p": COARSENED})
    (finding,) = AUDIT.measure(*case.args).findings
    assert advice in finding.text


def german_day(text):
    return float(dt.datetime.strptime(text, "%d.%m.%Y").toordinal())  # noqa: DTZ007


INTERVALS = {"[0, 10)": ("1", "007", "+5"), "[10, 20)": ("12", "1e1")}
MONTHS = {"2020-01": ("2020-01-05", "2020-01-31"), "2020-02": ("2020-02-01",)}
GERMAN = {
    "2020-01": ("05.01.2020", "31.01.2020"),
    "2020-Q1": ("01.02.2020",),
    "11.03.2020": ("11.03.2020",),
    "{12.03.2020, 13.04.2020}": ("12.03.2020", "13.04.2020"),
}
UNPADDED = {
    "2020-01": ("5.1.2020", "31.01.2020"),
    "2020-02": ("1.2.2020",),
    "{2.3.2020, 4.3.2020}": ("2.3.2020", "4.3.2020"),
}
PREFIXES = {"12**": ("1234", "1299"), "1***": ("1300",), "2***": ("2000",)}
ORDERED = {"low to mid": ("low", "mid"), "high": ("high",)}


@pytest.mark.parametrize(
    ("hierarchy", "cells", "read"),
    [
        (HierarchySpec(intervals=(0.0, 10.0, 20.0)), INTERVALS, float),
        (HierarchySpec(date=("month",)), MONTHS, lambda text: float(np.datetime64(text, "D").astype(int))),
        (HierarchySpec(date=("month", "quarter"), format="%d.%m.%Y"), GERMAN, german_day),
        (HierarchySpec(date=("month",), format="%d.%m.%Y"), UNPADDED, german_day),
        (HierarchySpec(date=("month",), format="%d.%m.%Y"), {"2020": ("2020",), "5.1.2020": ("5.1.2020",)}, None),
        (HierarchySpec(prefix=(2, 1)), PREFIXES, None),
        (HierarchySpec(order=("low", "mid", "high"), then=(2,)), ORDERED, None),
    ],
)
def test_labels_of_hierarchies_are_read(hierarchy, cells, read, build):
    pairs = [(value, label) for label, values in cells.items() for value in values]
    before, labels = [value for value, _ in pairs], [label for _, label in pairs]
    case = facts(build.case({"p": before}, {"p": labels}, "q", changes={"p": COARSENED}), "p", hierarchy=hierarchy)
    values = [read(value) for value in before] if read else before
    cover = {label: {v for v, own in zip(values, labels, strict=True) if own == label} for label in cells}
    if "1***" in cover:
        cover["1***"] |= cover["12**"]  # a coarser label covers what finer ones do
    if "2020-Q1" in cover:
        cover["2020-Q1"] |= cover["2020-01"] | {german_day("11.03.2020"), german_day("12.03.2020")}
    expected = brute_force(values, labels, cover.get, (lambda x, y: abs(x - y)) if read else unequal)
    assert measured(case)["p.kept"] == pytest.approx(expected, abs=1e-9)


def test_numbers_in_a_hierarchy_of_levels(build):
    """Covers with gaps: odd and even ages."""
    rng = np.random.default_rng(2)
    cells = [int(v) for v in rng.integers(0, 12, 200)]
    levels = tuple((str(v), ("odd" if v % 2 else "even", "*")) for v in range(12))
    labels = ["odd" if v % 2 else "even" for v in cells]
    case = build.case({"p": [str(v) for v in cells]}, {"p": labels}, "q", changes={"p": COARSENED})
    case = facts(facts(case, "p", hierarchy=HierarchySpec(levels=levels)), "p", type=AttributeType.INTEGER)
    groups = {label: {v for v in cells if (v % 2 == 1) == (label == "odd")} for label in ("odd", "even")}
    expected = brute_force(cells, labels, groups.get, lambda x, y: abs(x - y))
    assert measured(case)["p.kept"] == pytest.approx(expected, abs=1e-9)


def test_a_hierarchy_that_cannot_be_used_leaves_a_column_out(build, tmp_path):
    case = build.case({"p": ["a", "b"], "q": ["x", "y"]}, {"p": ["c", "c"], "q": ["x", "y"]}, "qq", home=tmp_path)
    case = facts(case, "p", hierarchy=HierarchySpec(csv="gone.csv"))
    assert measured(case) == {"mean_kept": 1.0, "p.kept": None, "q.kept": 1.0}
