"""The audit `linkage`: the attack of the hospital, planted copies, and safe releases."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.labels.covering import cover
from ppdm_flow.audits.labels.joining import look_up
from ppdm_flow.audits.labels.released import classes
from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column

SPEC = load("audits", "linkage")
BORN = ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"]
HOSPITAL = {
    "born": BORN,
    "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
    "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
    "disease": ["Heart Disease", "Hepatitis", "Bronchitis", "Broken Arm", "Flu", "Hang Nail"],
}
VOTERS = """name,birthday,sex,zip
Andre,1/21/76,Male,53715
Beth,1/10/81,Female,55410
Carol,10/1/44,Female,90210
Dan,2/21/84,Male,02174
Ellen,4/19/72,Female,02237
"""
PARAMS = {"external": "voters.csv", "columns": {"born": "birthday"}, "identity": "name"}


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


@pytest.fixture
def home(tmp_path):
    (tmp_path / "voters.csv").write_text(VOTERS)
    return tmp_path


def covered(labels, texts, hierarchy=None, nulls=Nulls.OWN_CATEGORY, home=None):
    """The values that each label may hide, by the audit."""
    names, people = (pa.array(x, pa.string()) for x in (labels, texts))
    found = cover(names, people, hierarchy, nulls, home)
    fits = {label: set() for label in labels}
    for v, text in enumerate(texts):
        mine = found.labels[found.starts[v + 2] : found.starts[v + 3]] - 2
        for i, label in enumerate(labels):
            if i in mine or found.wide[i + 2] or found.unknown[v + 2]:
                fits[label].add(text)
    return fits


@pytest.mark.parametrize(
    ("label", "fits"),
    [
        ("476**", {"47678", "47602"}),
        ("*", {"47678", "47602", "27", "40", "29.5", "2024-02-17", "flu"}),
        ("2*", {"27"}),
        (">=40", {"47678", "47602", "40"}),
        ("[20, 40)", {"27", "29.5"}),
        ("(27, 40]", {"40", "29.5"}),
        ("27-29", {"27"}),
        ("30+", {"47678", "47602", "40"}),
        ("< 40", {"27", "29.5"}),
        ("{27, flu}", {"27", "flu"}),
        ("2024-Q1", {"2024-02-17"}),
        ("2024", {"2024-02-17"}),
        ("2020s", {"2024-02-17"}),
        ("2024-03", set()),
        ("flu", {"flu"}),
        ("other", set()),
    ],
)
def test_what_labels_stand_for(label, fits):
    texts = ["47678", "47602", "27", "40", "29.5", "2024-02-17", "flu"]
    assert covered([label], texts)[label] == fits


def test_masks_of_one_length_stand_for_shorter_codes_too():
    codes = ["250", "250.1", "25", "251.99"]
    padded = covered(["250***", "251***", "25"], codes)
    assert padded == {"250***": {"250", "250.1"}, "251***": {"251.99"}, "25": {"25"}}
    by_sign = covered(["25*", "250**", "*****"], codes)
    assert (by_sign["25*"], by_sign["250**"]) == ({"250"}, {"250.1"})


def test_a_postal_code_keeps_its_zero():
    assert covered(["2174", "02174"], ["02174"]) == {"2174": set(), "02174": {"02174"}}


def test_labels_of_hierarchies(tmp_path):
    levels = HierarchySpec(levels=(("flu", ("lungs", "ill")), ("cold", ("lungs", "ill")), ("cut", ("skin", "ill"))))
    assert covered(["lungs", "ill", "cut"], ["flu", "cold", "cut"], levels) == {
        "lungs": {"flu", "cold"},
        "ill": {"flu", "cold", "cut"},
        "cut": {"cut"},
    }
    order = HierarchySpec(order=("none", "mild", "strong"), then=(2,))
    assert covered(["none to mild"], ["none", "mild", "strong"], order)["none to mild"] == {"none", "mild"}
    (tmp_path / "h.csv").write_text("a;x;*\nb;x;*\nc;y;*\n")
    file = HierarchySpec(csv="h.csv")
    assert covered(["x", "y"], ["a", "b", "c"], file, home=tmp_path) == {"x": {"a", "b"}, "y": {"c"}}
    with pytest.raises(DataError) as refused:
        covered(["x"], ["a"], HierarchySpec(csv="none.csv"), home=tmp_path)
    assert refused.value.diagnostics[0].code == "PPF878"


def test_the_voters_of_the_hospital(build, home):
    """Andre has heart disease; of the other four nobody is in the table."""
    case = build.case(HOSPITAL, HOSPITAL, "qqqs", home=home, show_values=True)
    outcome = measured(case, **PARAMS)
    found = values(outcome)
    assert found["linked"] == 1
    assert found["matched"] == found["linked_share"] == found["disease.learned"] == found["learned"] == 0.2
    texts = [f.text for f in outcome.findings]
    assert [f.code for f in outcome.findings] == ["PPF890", "PPF890"]
    assert "(Andre)" in texts[0]
    assert "(Andre: Heart Disease)" in texts[1]


def test_names_and_values_stay_closed(build, home):
    outcome = measured(build.case(HOSPITAL, HOSPITAL, "qqqs", home=home), **PARAMS)
    assert "Andre" not in repr(outcome)
    assert "Heart" not in repr(outcome)


def test_a_safe_release_gives_nobody_away(build, home):
    """Two rows or more, with two diseases, fit everybody who fits any."""
    safe = {**HOSPITAL, "born": ["*"] * 6, "sex": ["*"] * 6, "zip": ["537**"] * 6}
    case = build.case(HOSPITAL, safe, "qqqs", home=home)
    for params in (PARAMS, {}):
        outcome = measured(case, **params)
        assert not outcome.findings
        assert values(outcome)["linked"] == values(outcome)["learned"] == 0
    assert values(measured(case, **PARAMS))["matched"] == 0.2  # Andre, in a crowd of six


def test_truth_by_identity(build, home):
    """Carol's entry says something else than her row: her link is wrong, Andre's is right."""
    names = ["Andre", "Eve", "Fay", "Gus", "Carol", "Ida"]
    table = {"name": names, **HOSPITAL}
    (home / "voters.csv").write_text(VOTERS.replace("Carol,10/1/44,Female,90210", "Carol,2/28/76,Female,53706"))
    case = build.case(table, HOSPITAL, "iqqqs", home=home)
    found = values(measured(case, **PARAMS, truth="name"))
    assert found["linked"] == 2
    assert found["precision"] == found["recall"] == 0.5
    assert found["nearest_recall"] == 0.5


CELLS = st.tuples(*[st.sampled_from(["10", "11", "20", "21", None])] * 2)
LABELS = ["1*", "2*", "*", "[10, 20)", "10", "21", "⊥", None, ">= 20", "{10, 21}"]
ROWS = st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS), st.sampled_from(["a", "b", None, "⊥"]))


def plain_fits(label, value, nulls):
    if label == "⊥" or label == "*":
        return True
    if value is None or label is None:
        if nulls is Nulls.OWN_CATEGORY:
            return value is label
        return value is None or nulls is Nulls.WILDCARD
    stands = {"1*": ("10", "11"), "2*": ("20", "21"), "[10, 20)": ("10", "11"), ">= 20": ("20", "21")}
    return value in stands.get(label, ("10", "21") if label.startswith("{") else (label,))


@examples(36)
@given(st.lists(CELLS, min_size=1, max_size=12), st.lists(ROWS, min_size=1, max_size=15), st.sampled_from(list(Nulls)))
def test_looking_up_against_one_pair_at_a_time(build, people, rows, nulls):
    release = {n: [r[i] for r in rows] for i, n in enumerate("pqs")}
    case = build.case(release, release, "qqs", nulls=nulls)
    known = classes(case.candidate, ("p", "q"), ("s",))
    asked = [Column.of([p[i] for p in people]) for i in range(2)]
    codes = np.stack([c.dense.astype(np.int64) for c in asked], axis=1)
    found, looked = look_up(codes, np.ones(len(people), np.int64), known.index([c.categories for c in asked], case.ctx))
    assert (looked == 1).all()
    for i, person in enumerate(people):
        fits = [r for r in rows if all(plain_fits(r[c], person[c], nulls) for c in range(2))]
        assert found.rows[i] == len(fits)
        secrets = {r[2] for r in fits}
        assert found.certain(0)[i] == (len(secrets) == 1 and secrets <= {"a", "b"})


@pytest.mark.parametrize(("rows", "values", "marks"), [(300, 3, 0.0), (300, 3, 0.3), (900, 30, 0.1), (60, 2, 0.6)])
def test_many_people_who_share_values_go_down_one_way(build, rows, values, marks):
    """The twin: every person against every class, by which labels fit which values in each column."""
    rng = np.random.default_rng(rows + values)
    texts = {n: [f"{x:02}" for x in rng.integers(0, values, rows)] for n in "abcd"}
    draws = {n: rng.random(rows).tolist() for n in texts}
    coarse = {
        n: ["⊥" if m < marks else t if m < 0.6 else t[0] + "*" for t, m in zip(c, draws[n], strict=True)]
        for n, c in texts.items()
    }
    coarse["s"] = [str(x) for x in rng.integers(0, 3, rows)]
    roles = {**dict.fromkeys("abcd", Role.QUASI_IDENTIFIER), "s": Role.SENSITIVE}
    case = build.case(texts, coarse, roles)
    known = classes(case.candidate, tuple("abcd"), ("s",))
    asked = [Column.of([*c, *c[:50], None]) for c in texts.values()]
    codes = np.stack([c.dense.astype(np.int64) for c in asked], axis=1)
    index = known.index([c.categories for c in asked], case.ctx)
    persons = np.ones(len(codes), np.int64)
    found, looked = look_up(codes, persons, index, looks=1 << 62)
    assert (looked == 1).all()
    fits = np.ones((len(codes), len(known)), dtype=bool)
    for k, column in enumerate(asked):
        one = cover(known.categories[k], column.categories, None, Nulls.OWN_CATEGORY, None)
        table = np.zeros((len(one.unknown), len(one.wide)), dtype=bool)
        table[np.repeat(np.arange(len(one.unknown)), np.diff(one.starts)), one.labels] = True
        table |= one.wide | one.unknown[:, None]
        fits &= table[codes[:, k]][:, known.codes[:, k] + 2]
    assert found.rows.tolist() == (fits @ known.rows).tolist()
    assert found.kinds.tolist() == fits.sum(axis=1).tolist()
    assert all(fits[i, c] for i, c in enumerate(found.first) if c >= 0)
    some = fits.any(axis=1)
    high = np.where(fits, known.high[0], -9).max(axis=1)
    low = np.where(fits, known.low[0], 99).min(axis=1)
    assert found.high[0][some].tolist() == high[some].tolist()
    assert found.low[0][some].tolist() == low[some].tolist()
    few, looked = look_up(codes, persons, index, looks=1)
    assert few.rows[looked > 0].tolist() == found.rows[looked > 0].tolist()


def copies(rng, rows):
    return {n: [f"v{x}" for x in rng.integers(0, 6, rows)] for n in "abcds"}


def test_copied_rows_are_linked_rightly(build):
    table = copies(np.random.default_rng(1), 400)
    outcome = measured(build.case(table, table, "qqqqs"))
    found = values(outcome)
    singles = sum(n == 1 for n in np.unique(list(zip(*[table[c] for c in "abcd"], strict=True)), axis=0,
                                             return_counts=True)[1])  # fmt: skip
    assert found["linked"] == singles
    assert found["precision"] == found["nearest_precision"] == 1
    assert found["recall"] == pytest.approx(singles / 400)
    assert {f.code for f in outcome.findings} == {"PPF890"}


def test_perturbed_rows_are_found_by_the_nearest(build):
    """One attribute of four changed in every row: no row fits but by chance, the nearest is mostly the own one."""
    rng = np.random.default_rng(2)
    original = {n: [f"v{x}" for x in rng.integers(0, 40, 300)] for n in "abcd"}
    place = rng.integers(0, 4, 300)
    noisy = {n: [f"v{(int(v[1:]) + 7) % 40}" if p == i else v for v, p in zip(original[n], place, strict=True)]
             for i, n in enumerate("abcd")}  # fmt: skip
    changes = dict.fromkeys("abcd", (("noise", Change.PERTURBED),))
    outcome = measured(build.case(original, noisy, "qqqq", changes=changes))
    found = values(outcome)
    assert found["linked"] == 0
    assert found["nearest_recall"] > 0.95
    assert [f.subject for f in outcome.findings] == ["public.linkage.nearest"]


@pytest.mark.random
def test_fresh_rows_raise_no_alarm(build):
    """100 generated releases on fixed keys: the alarm is promised in at most 1 of 1000 each; 2 are rarer than 1 %."""
    changes = dict.fromkeys("abcds", (("generate", Change.GENERATED),))
    alarms = 0
    for key in range(100):
        rng = np.random.default_rng([3, key])
        outcome = measured(build.case(copies(rng, 150), copies(rng, 150), "qqqqs", changes=changes))
        alarms += bool(outcome.findings)
    assert alarms <= 1


def test_numbers_are_near_by_how_far_they_lie_apart(build):
    """Gower: the only row within 5 of 40 years is nearer than those 20 away."""
    original = {"age": ["20", "40", "60"], "sex": ["m", "m", "m"]}
    released = {"age": ["25", "45", "[61, 70)"], "sex": ["m", "m", "m"]}
    found = values(measured(build.case(original, released, "qq")))
    assert found["linked"] == 0
    assert found["nearest_recall"] == 1


def test_few_of_many_are_looked_up(build, monkeypatch):
    monkeypatch.setattr("ppdm_flow.audits.labels.joining.LOOKS", 1000)
    rng = np.random.default_rng(4)
    outcome = measured(build.case(copies(rng, 3000), copies(rng, 3000), "qqqqs", paired=False), sample=0)
    found = outcome.figures["linked_share"]
    assert found.sample == outcome.figures["linked"].sample == 1000
    assert found.interval[0] < found.value < found.interval[1]
    assert found.value == pytest.approx(math.exp(-3000 / 6**4) * 3000 / 6**4, abs=0.05)


@pytest.mark.parametrize(
    ("content", "params"),
    [
        (None, {}),
        ("name,x\nAndre,SECRET\n", {}),
        ("name,sex\nAndre,m\n", {"identity": "who"}),
        ("name,sex\nAndre,m\n", {"columns": {"zip": "postcode"}}),
        ("name,sex\nAndre,m,SECRET,more\n", {}),
        ("sex,sex\nm,SECRET\n", {}),
        ("", {}),
    ],
)
def test_unusable_files(build, tmp_path, content, params):
    if content is not None:
        (tmp_path / "voters.csv").write_text(content)
    case = build.case(HOSPITAL, HOSPITAL, "qqqs", home=tmp_path)
    with pytest.raises(DataError) as refused:
        measured(case, external="voters.csv", **params)
    assert refused.value.diagnostics[0].code == "PPF878"
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(build, rows):
    table = {n: v[:rows] for n, v in HOSPITAL.items()}
    for figure in measured(build.case(table, table, "qqqs")).figures.values():
        assert figure.value is not None or figure.note


def test_parameters_that_go_nowhere():
    facts = {"zip": AttributeFacts("zip", Role.QUASI_IDENTIFIER)}
    for params, code in (
        ({"identity": "name"}, "PPF782"),
        ({"external": "x.csv", "truth": "id"}, "PPF782"),
        ({"external": "x.csv", "columns": {"zap": "zip"}}, "PPF861"),
        ({"attributes": ["zap"]}, "PPF861"),
    ):
        assert [p.code for p in SPEC.effect(SPEC.params(**params), Scope("", facts, ())).problems] == [code]
