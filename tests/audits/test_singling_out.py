"""The audit `singling_out`: planted copies are found, fresh samples of the population raise no alarm."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.records.columns import beside
from ppdm_flow.audits.singling_out.algorithm import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Guesses,
    multivariate,
    rows_of,
    singled,
    univariate,
)
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "singling_out")
COLUMNS = "abcn"


def people(rng, rows):
    """Three attributes that go together loosely, and a number that few share."""
    hidden = rng.integers(0, 12, rows)
    cells = [np.where(rng.random(rows) < 0.5, hidden, rng.integers(0, 12, rows)) for _ in "abc"]
    return np.stack([*cells, rng.integers(0, 5000, rows)], axis=1)


def table(cells):
    texts = {n: [f"v{v}" for v in cells[:, i].tolist()] for i, n in enumerate("abc")}
    return {**texts, "n": [str(v) for v in cells[:, 3].tolist()]}


def setting(build, rng, rows, memorized):
    """Half of the rows is held out; a share of the release are rows of the rest, the others are fresh."""
    original, holdout = people(rng, rows), Holdout(0.5)
    inside = original[~holdout.held_out(np.arange(rows))]
    copied = rng.random(len(inside)) < memorized
    released = np.where(copied[:, None], inside, people(rng, len(inside)))
    return build.case(table(original), table(released), "qqqq", paired=False, holdout=holdout)


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


def test_copied_rows_are_found(build):
    outcome = measured(setting(build, np.random.default_rng(1), 2000, 0.5))
    assert {f.code for f in outcome.findings} == {"PPF897"}
    assert outcome.figures["risk"].interval[0] > 0.05
    assert outcome.figures["univariate.success"].value > outcome.figures["univariate.control"].value


@pytest.mark.random
def test_fresh_rows_raise_no_alarm(build):
    """100 releases on fixed keys, at 1 in 1000 each more than one alarm is rarer than one in two hundred."""
    alarms = covered = 0
    for key in range(100):
        outcome = measured(setting(build, np.random.default_rng([2, key]), 400, 0.0), attempts=200)
        alarms += any(f.code == "PPF897" for f in outcome.findings)
        low, high = outcome.figures["multivariate.risk"].interval
        covered += low <= 0 <= high
    assert alarms <= 1
    assert covered >= 90


def test_without_a_control_group(build):
    """A table released as it is, against guesses made without it; a 5-anonymous one gives no alarm."""
    cells = people(np.random.default_rng(3), 300)
    outcome = measured(build.case(table(cells), table(cells), "qqqq"))
    assert [f.code for f in outcome.findings] == ["PPF897", "PPF864"]
    assert "multivariate" in outcome.findings[0].text
    assert outcome.figures["univariate.control"].value is None
    coarse = {**table(cells), "n": [f"[{v // 2500 * 2500}, {v // 2500 * 2500 + 2500})" for v in cells[:, 3].tolist()]}
    coarse |= {n: ["*"] * 300 for n in "abc"}
    outcome = measured(build.case(table(cells), coarse, "qqqq"))
    assert [f.code for f in outcome.findings] == ["PPF864"]
    assert outcome.figures["multivariate.success"].value == 0
    assert outcome.figures["risk"].value == 0
    assert outcome.figures["risk"].interval is None  # all conditions were tried


def plain(case, rows, guesses):
    """Whom each guess fits, person by person, from the texts."""
    columns = beside(case.original, case.candidate, case.ctx)
    mine = {c.column: case.candidate.whole[c.column].compact() for c in columns}
    found = []
    for columns_of, signs, labels in zip(guesses.columns, guesses.signs, guesses.labels, strict=True):
        fits = []
        for p in range(len(case.original.whole)):
            good = True
            for c, sign, label in zip(columns_of.tolist(), signs.tolist(), labels.tolist(), strict=True):
                name = columns[c].column
                said = mine[name].categories[label - 2].as_py()
                has = case.original.whole[name].texts()[p]
                if sign == EQUAL:
                    good &= said == has
                elif sign == AT_LEAST:
                    good &= float(has) >= float(said)
                else:
                    assert sign == AT_MOST
                    good &= float(has) <= float(said)
            if good:
                fits.append(p)
        found.append(fits[0] if len(fits) == 1 else -1)
    return found


def test_guesses_against_one_person_at_a_time(build):
    rng = np.random.default_rng(4)
    case = build.case(table(people(rng, 60)), table(people(rng, 50)), "qqqq")
    rows = rows_of(beside(case.original, case.candidate, case.ctx), case.original, case.candidate, 1000, case.ctx)
    for search in (univariate(rows, 40, rng), multivariate(rows, 60, 2, rng)):
        guesses = search.guesses
        assert len(guesses)
        assert isinstance(guesses, Guesses)
        assert singled(rows.lines, guesses, rows.inside).tolist() == plain(case, rows, guesses)
        assert {EQUAL, AT_LEAST, AT_MOST} >= set(guesses.signs.ravel().tolist())
    assert AT_LEAST in guesses.signs


def exhaustive(released, original, combined):
    """All conditions on ``combined`` attributes that fit one released row, and how many of them fit one person."""
    names = list(released)
    numeric = {n for n in names if all(v.lstrip("-").isdecimal() for v in original[n])}
    middle = {n: np.median([float(v) for v in released[n]]) for n in numeric}

    def fits(table, condition):
        rows = range(len(table[names[0]]))
        return [i for i in rows if all(test(table[n][i]) for n, _, _, test in condition)]

    def term(name, value):
        if name not in numeric:
            return (name, "=", value, lambda v: v == value)
        bound = float(value)
        if bound >= middle[name]:
            return (name, ">", value, lambda v: float(v) >= bound)
        return (name, "<", value, lambda v: float(v) <= bound)

    seen, right = set(), 0
    for columns in combinations(names, min(combined, len(names))):
        for i in range(len(released[names[0]])):
            condition = [term(n, released[n][i]) for n in columns]
            key = tuple(c[:3] for c in condition)
            if key not in seen and len(fits(released, condition)) == 1:
                seen.add(key)
                right += len(fits(original, condition)) == 1
    return len(seen), right


def drawn(rng, rows):
    return {
        "a": [f"v{v}" for v in rng.integers(0, 3, rows).tolist()],
        "b": [f"v{v}" for v in rng.integers(0, 4, rows).tolist()],
        "c": [f"v{v}" for v in rng.integers(0, 2, rows).tolist()],
        "n": [str(v) for v in rng.integers(0, 9, rows).tolist()],
    }


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 4), st.booleans())
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_figure_is_the_share_of_all_conditions_that_fit_one_released_row(build, key, rows, combined, copied):
    rng = np.random.default_rng(key)
    original = drawn(rng, rows)
    released = original if copied else {n: rng.choice(v, rows).tolist() for n, v in original.items()}
    figures = measured(build.case(original, released, "qqqq"), combined=combined, attempts=1000).figures
    many, right = exhaustive(released, original, combined)
    assert figures["multivariate.success"].value == (right / many if many else 0.0)
    if many:
        assert figures["multivariate.success"].sample == many
    if copied and many:
        assert figures["multivariate.success"].value == 1.0


def test_many_conditions_are_drawn_and_all_of_a_copy_single_somebody_out(build):
    """2,000 people, most of them unique: not all conditions are tried, and each one found is right."""
    cells = table(people(np.random.default_rng(8), 2000))
    figures = measured(build.case(cells, cells, "qqqq"), attempts=50).figures
    assert figures["multivariate.success"].value == 1.0
    assert figures["multivariate.success"].sample == 50
    assert figures["risk"].interval[0] > 0.5
    five = {n: [v for v in texts for _ in range(5)] for n, texts in cells.items()}
    figures = measured(build.case(five, five, "qqqq"), attempts=50).figures
    assert (figures["risk"].value, figures["risk"].interval) == (0.0, None)


def test_an_unchanged_copy_of_a_real_table(build, data):
    """A condition that fits one row of an unchanged copy fits one person: people who stand alone are singled out."""
    frame = pd.read_csv(data / "arx_adult" / "adult.csv.gz", sep=";", dtype=str, nrows=3000)
    some = {n: frame[n].tolist() for n in ("sex", "age", "race", "education", "native-country")}
    figures = measured(build.case(some, some, "qqqqq")).figures
    assert figures["multivariate.success"].value == 1.0
    assert figures["risk"].value == 1.0
    assert figures["risk"].interval[0] > 0.9


def test_missing_and_suppressed_cells(build):
    released = {"a": ["⊥", None, "x", "x"], "n": [None, "⊥", "1", "7"]}
    original = {"a": ["x", None, "y", "x"], "n": ["1", "2", None, "7"]}
    for figure in measured(build.case(original, released, "qq")).figures.values():
        assert figure.value is not None or figure.note


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_hardly_any_rows(build, rows):
    few = table(people(np.random.default_rng(5), rows))
    for case in (build.case(few, few, "qqqq"), build.case(few, few, "qqqq", holdout=Holdout(0.5))):
        outcome = measured(case)
        assert all(f.value is not None or f.note for f in outcome.figures.values())
