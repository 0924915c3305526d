"""Interval disclosure: against plain loops, in SQL, on planted leaks, and on steps that are composed to get past it."""

from __future__ import annotations

import json
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "interval_disclosure")
AUDIT = SPEC.load()(SPEC.params())
ID = "privacy.interval_disclosure.x"
KIND = AttributeType.FLOAT
SLACK = 1e-9


def numbers(values, kind=KIND):
    missing = np.array([v is None for v in values], dtype=bool)
    dtype = np.float64 if kind is AttributeType.FLOAT else np.int64
    return NumericColumn(np.array([0 if v is None else v for v in values], dtype=dtype), kind, missing)


def labels(values):
    return Column.of([None if v is None else v for v in values])


def facts(name, lineage=None, kind=KIND, role=Role.SENSITIVE):
    return AttributeFacts(name, role, type=kind, source=name if lineage is None else "", derived=lineage)


def case_of(build, original, released, width, weights=None, most=0.5, kind=KIND, **more):
    """``released``: columns by name, each computed from x; a list is of numbers, a Column is what it is."""
    columns = {n: v if isinstance(v, Column) else numbers(v, kind) for n, v in released.items()}
    weighted = {} if weights is None else {"w": labels([str(n) for n in weights])}
    rows = np.arange(len(original))
    before = Table({"x": numbers(original, kind), **weighted}, rows)
    after = Table({**columns, **weighted}, rows)
    computed = Lineage(frozenset(("x",)), value_map=False)
    given = {n: facts(n, computed, kind) for n in columns}
    requirement = IntervalDisclosure.of(ID, "x", width=Width(**width), max=most)
    return build.case(
        before,
        after,
        {"x": Role.SENSITIVE, "w": Role.WEIGHT},
        sources=dict.fromkeys(columns, "x"),
        attributes=given | ({} if weights is None else {"w": AttributeFacts("w", Role.WEIGHT, source="w")}),
        original_attributes={"x": facts("x", kind=kind)},
        requirements=(requirement,),
        **more,
    )


def rank(value, original, weights):
    slack = SLACK * max(1.0, abs(value))
    below = sum(w for o, w in zip(original, weights, strict=True) if o < value - slack)
    upto = sum(w for o, w in zip(original, weights, strict=True) if o <= value + slack)
    return (below + upto) / 2


def plain(original, released, width, weights):
    """The share, row by row and estimate by estimate."""
    form, size = next(iter(width.items()))
    rows = [i for i, o in enumerate(original) if o is not None]
    total = sum(weights[i] for i in rows)
    if not total:
        return 0.0
    known, kept = [original[i] for i in rows], [weights[i] for i in rows]
    mean = sum(w * o for o, w in zip(known, kept, strict=True)) / total
    deviation = math.sqrt(sum(w * (o - mean) ** 2 for o, w in zip(known, kept, strict=True)) / total)

    def close(guess, o):
        if guess is None:
            return False
        if form == "rank":
            return abs(rank(guess, known, kept) - rank(o, known, kept)) <= size * total + SLACK * max(1, total)
        half = {"absolute": size, "relative": size * abs(o), "sd": size * deviation}[form]
        return abs(guess - o) <= half + SLACK * max(half, abs(o))

    def weighted(shares):
        guesses = []
        for i in range(len(original)):
            shown = [(c[i], s) for c, s in zip(released, shares, strict=True) if c[i] is not None and s > 0]
            first = next((c[i] for c in released if c[i] is not None), None)
            if not shown:
                guesses.append(first)
                continue
            guesses.append(first + sum(s * (v - first) for v, s in shown) / sum(s for _, s in shown))
        return guesses

    ways = list(released)
    if len(released) > 2:
        cells = [[v for v in row if v is not None] for row in zip(*released, strict=True)]
        ways.append([statistics.median(row) if row else None for row in cells])
    if len(released) > 1:
        ways.append(weighted([1.0] * len(released)))
        errors = []
        for column in released:
            shown = [(weights[i], column[i] - original[i]) for i in rows if column[i] is not None]
            seen = sum(w for w, _ in shown)
            errors.append(sum(w * d * d for w, d in shown) / seen if seen else math.inf)
        if all(errors):
            ways.append(weighted([1 / e for e in errors]))
    return max(sum(weights[i] for i in rows if close(way[i], original[i])) / total for way in ways)


VALUES = st.one_of(st.none(), st.integers(-4, 8).map(float), st.sampled_from([0.5, 2.25, 100.0]))
WIDTHS = st.sampled_from(
    [{"absolute": 0.0}, {"absolute": 1.0}, {"relative": 0.25}, {"sd": 0.5}, {"rank": 0.1}, {"rank": 0.3}, {"rank": 0.0}]
)


@pytest.mark.slow
@examples(45)
@given(data=st.data(), columns=st.integers(1, 3), width=WIDTHS, weighted=st.booleans())
def test_row_by_row(data, columns, width, weighted, build, agree):
    size = data.draw(st.integers(1, 9))
    lists = st.lists(VALUES, min_size=size, max_size=size)
    original = data.draw(lists)
    released = [data.draw(lists) for _ in range(columns)]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)) if weighted else [1] * size
    example = case_of(
        build, original, {f"c{i}": c for i, c in enumerate(released)}, width, weights if weighted else None
    )
    found = agree(AUDIT, example, least=columns)
    assert found[f"{ID}.share"] == pytest.approx(plain(original, released, width, weights), abs=1e-12)


RNG = np.random.default_rng(7)
X = np.round(RNG.lognormal(10, 0.5, 3000), 2)
WIDE = {"relative": 0.05}


def share(build, agree, released, width=WIDE, **more):
    columns = {n: c if isinstance(c, Column) else list(c) for n, c in released.items()}
    return agree(AUDIT, case_of(build, list(X), columns, width, **more))


@pytest.mark.parametrize("width", [{"absolute": 0}, WIDE, {"sd": 0.01}, {"rank": 0.001}])
def test_a_copy_discloses_all(build, agree, width):
    assert share(build, agree, {"x": X}, width)[f"{ID}.share"] == 1.0
    assert share(build, agree, {"pay": X, "noise": RNG.permutation(X)}, width)[f"{ID}.share"] == 1.0


def test_noise_of_known_size(build, agree):
    """A normal error of standard deviation s is within a width w with probability erf(w / (s sqrt 2))."""
    for claimed, real in ((2000.0, 2000.0), (2000.0, 200.0)):  # the second step adds a tenth of what it claims
        found = share(build, agree, {"x": X + RNG.normal(0, real, len(X))}, {"absolute": 500.0})[f"{ID}.share"]
        expected = math.erf(500 / real / math.sqrt(2))
        assert abs(found - expected) < 4 * math.sqrt(0.25 / len(X))
        assert (found > 1.5 * math.erf(500 / claimed / math.sqrt(2))) == (real < claimed)


def test_independent_numbers_are_near_by_chance_alone(build, agree):
    """Two independent draws from one distribution: their ranks are uniform, so |u - v| <= p has 2p - p^2."""
    for p in (0.01, 0.05):
        found = share(build, agree, {"x": RNG.permutation(X)}, {"rank": p})[f"{ID}.share"]
        expected = 2 * p - p * p
        assert abs(found - expected) < 4 * math.sqrt(expected / len(X))


@pytest.mark.slow
def test_several_noisy_copies_are_averaged(build, agree):
    copies = {f"n{i}": X + RNG.normal(0, 4000, len(X)) for i in range(9)}
    width = {"absolute": 1000.0}
    every = share(build, agree, copies, width)
    alone = [every[f"{ID}.column_share.{name}"] for name in copies]
    assert every[f"{ID}.share"] > 2 * max(alone)
    hidden = share(build, agree, {**copies, "far": RNG.permutation(X) * 50}, width)  # a column that ruins the mean
    assert hidden[f"{ID}.mean_share"] < min(alone)
    assert hidden[f"{ID}.share"] == pytest.approx(every[f"{ID}.share"], abs=0.02)
    same = share(build, agree, {f"n{i}": copies["n0"] for i in range(9)}, width)  # one draw, told nine times
    assert same[f"{ID}.share"] == alone[0]


def test_the_median_of_copies_with_rare_large_errors(build, agree):
    """Each copy is far off in 4 of 10 cells of its own, and so are means; the median of nine hardly ever is."""
    far = [
        np.where(RNG.random(len(X)) < 0.4, RNG.normal(0, 1e6, len(X)), RNG.normal(0, 2500, len(X))) for _ in range(9)
    ]
    found = share(build, agree, {f"n{i}": X + far[i] for i in range(9)}, {"absolute": 2000.0})
    alone = max(found[f"{ID}.column_share.n{i}"] for i in range(9))
    assert max(found[f"{ID}.mean_share"], found[f"{ID}.weighted_mean_share"]) < 0.1 < alone < 0.4
    assert found[f"{ID}.share"] == found[f"{ID}.median_share"] > 0.55


def test_missing_and_suppressed_cells_tell_nothing(build, agree):
    half = [x if i % 2 else None for i, x in enumerate(X.tolist())]
    assert share(build, agree, {"x": half})[f"{ID}.share"] == 0.5
    texts = labels([f"{x!r}" if i % 4 else "⊥" for i, x in enumerate(X.tolist())])
    assert share(build, agree, {"x": texts})[f"{ID}.share"] == 0.75
    found = agree(AUDIT, case_of(build, half, {"x": list(X)}, WIDE))
    assert (found[f"{ID}.share"], found[f"{ID}.rows_left_out"]) == (1.0, 1500)


@pytest.mark.parametrize("kind", [AttributeType.DATE, AttributeType.TIMESTAMP])
def test_moments_are_counted_in_days(build, agree, kind):
    day = 1 if kind is AttributeType.DATE else 86_400_000_000
    original = [n * day for n in range(100, 140)]
    moved = [n * day + (2 if n % 4 else 30) * day for n in range(100, 140)]
    example = case_of(build, original, {"x": moved}, {"absolute": 2.0}, kind=kind)
    assert agree(AUDIT, example)[f"{ID}.share"] == 0.75


def verdict(example):
    (measured,) = AUDIT.measure(*example.args).measured
    return measured


def test_what_cannot_be_measured_does_not_hold(build):
    ranges = labels(["[0, 30)"] * len(X))
    for released, more in (({"x": ranges}, {}), ({"x": list(X)}, {"paired": False})):
        example = case_of(build, list(X), released, WIDE, **more)
        assert not verdict(example).verifiable
        assert AUDIT.recheck(*example.args) == {}
        assert AUDIT.measure(*example.args).findings[0].code in ("PPF877", "PPF838")


def test_nothing_released_tells_nothing(build):
    example = case_of(build, list(X), {"y": list(X)}, WIDE)
    example = example.but(attributes={"y": facts("y", Lineage(frozenset(("other",))))})
    assert verdict(example).figure.value == 0
    assert AUDIT.recheck(*example.args) == {f"{ID}.columns": 0}


def test_rows_that_are_not_those_of_the_file(build):
    example = case_of(build, list(X), {"x": list(X)}, WIDE)
    others = case_of(build, list(X), {"x": list(X + 1)}, WIDE)
    with pytest.raises(RunError, match="not those of the released file"):
        AUDIT.measure(*example.but(pairs=others.ctx.pairs).args)


def test_the_audit_by_itself(build):
    audit = SPEC.load()(SPEC.params(attribute="x", width={"relative": 0.05}))
    example = case_of(build, list(X), {"x": list(X)}, WIDE).but(requirements=())
    assert audit.measure(*example.args).figures["share"].value == 1.0
    assert AUDIT.measure(*example.args).figures == {}


POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  income: {role: sensitive, type: integer}
  age: {role: insensitive, type: integer}
privacy:
  interval_disclosure:
    income: {width: WIDTH, max: 0.2}
steps:
STEPS
releases:
  study: {path: study.FORMAT}
randomness: {mode: reproducible, seed: near}
"""
SWAP = "  exchange: {use: swap, with: {attributes: [income], share: 0.9}}\n"
COPIED = "  copies: {use: rename, with: {attributes: {income: pay}}}\n"


@pytest.mark.slow
def test_by_a_run(cli, tmp_path):
    income = RNG.permutation(40_000)[:2000] + 1000
    lines = ["income,age", *(f"{a},{b}" for a, b in zip(income, RNG.integers(20, 70, 2000), strict=True))]
    (tmp_path / "wages.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, steps, form, holds in (
        ("renamed", COPIED, "csv", False),
        ("swapped", SWAP, "csv", True),
        ("swapped-and-renamed", SWAP + COPIED, "parquet", True),
    ):
        text = POLICY.replace("STEPS\n", steps).replace("WIDTH", "{rank: 0.01}").replace("FORMAT", form)
        policy = tmp_path / f"{name}.yaml"
        policy.write_text(text, encoding="utf-8")
        done = cli("run", policy, "--out", tmp_path / name)
        assert done.returncode == (0 if holds else 1), done.stdout + done.stderr
        (report,) = (tmp_path / name).glob("*/*/report.json")
        (requirement,) = json.loads(report.read_text())["requirements"]
        assert requirement["holds"] == holds
        assert (requirement["measured"] == 1.0) == (not holds)
