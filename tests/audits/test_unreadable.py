"""What an attack cannot read gates nothing; what it can read does."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load

AGES = [str(20 + i % 40) for i in range(200)]
TOWNS = [f"town {i % 7}" for i in range(200)]
SENSITIVE = ["flu" if i % 3 else "HIV" for i in range(200)]
ORIGINAL = {"age": AGES, "town": TOWNS, "illness": SENSITIVE}


def measured(name, case, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**params)).measure(*case.args)


def nothing(outcome):
    """No figure is left, each says why, and one finding says so."""
    assert all(f.value is None and "could not read" in f.note for f in outcome.figures.values())
    assert [f.code for f in outcome.findings if f.code == "PPF856"] == ["PPF856"]
    assert "30s" not in "".join(f.text for f in outcome.findings)
    return True


def read(outcome):
    assert not [f for f in outcome.findings if f.code == "PPF856"]
    return any(f.value is not None for f in outcome.figures.values())


def bands(width=10, form="{}s"):
    return [form.format(int(a) // width * width, int(a) // width * width + width) for a in AGES]


def released(**columns):
    return ORIGINAL | columns


@pytest.mark.parametrize(
    ("labels", "readable"),
    [
        (bands(), False),  # 30s
        (bands(form="{} to {}"), False),
        (bands(form="[{}, {})"), True),
        (["*"] * 200, True),
        (["⊥", None] * 100, True),
        (AGES, True),
        ([str(int(a) + 0.5) for a in AGES], True),  # means of neighbours
    ],
)
def test_linkage_reads_every_label_of_a_release_or_gives_no_figure(build, labels, readable):
    outcome = measured("linkage", build.case(ORIGINAL, released(age=labels), "qqs"))
    assert read(outcome) if readable else nothing(outcome)


def test_a_hierarchy_makes_labels_readable(build):
    levels = HierarchySpec(levels={a: (b,) for a, b in zip(AGES, bands(), strict=True)})
    facts = {"age": AttributeFacts("age", Role.QUASI_IDENTIFIER, hierarchy=levels)}
    case = build.case(ORIGINAL, released(age=bands()), "qqs", original_attributes=facts)
    assert read(measured("linkage", case))


def test_one_label_among_many_is_enough(build):
    assert nothing(measured("linkage", build.case(ORIGINAL, released(age=["30s", *AGES[1:]]), "qqs")))


@pytest.mark.parametrize(
    ("ages", "readable"),
    [
        (["30s", "40s"], False),
        (["34", "40s"], False),
        (["34", "97"], True),  # who is 97 is just not in the data
        (["34", ""], True),
    ],
)
def test_the_values_of_a_file(build, tmp_path, ages, readable):
    """A file whose ages are decades matched nobody and linked nobody, and a gate on it held."""
    lines = [f"p{i},{age},town {i}" for i, age in enumerate(ages)]
    (tmp_path / "people.csv").write_text("\n".join(["who,age,town", *lines]))
    outcome = measured("linkage", build.case(ORIGINAL, ORIGINAL, "qqs", home=tmp_path), external="people.csv")
    assert read(outcome) if readable else nothing(outcome)


@pytest.mark.parametrize(("towns", "readable"), [(["town 1", "Zug"], True), (["Zug", "Bern"], False)])
def test_a_file_of_other_words(build, tmp_path, towns, readable):
    """Somebody from elsewhere is not in the data; a column of which nothing fits is written otherwise."""
    lines = [f"p{i},33,{town}" for i, town in enumerate(towns)]
    (tmp_path / "people.csv").write_text("\n".join(["who,age,town", *lines]))
    outcome = measured("linkage", build.case(ORIGINAL, ORIGINAL, "qqs", home=tmp_path), external="people.csv")
    assert read(outcome) if readable else nothing(outcome)


def test_singling_out(build):
    """Unique labels that nobody can read would single out nobody; labels that are not unique need not be read."""
    unique = released(age=[f"{i}s" for i in range(200)])
    assert nothing(measured("singling_out", build.case(ORIGINAL, unique, "qqs")))
    coarse = measured("singling_out", build.case(ORIGINAL, released(age=["young"] * 200), "qqs"))
    assert coarse.figures["risk"].value == 0
    assert read(measured("singling_out", build.case(ORIGINAL, ORIGINAL, "qqs")))


def test_another_release(build, tmp_path):
    for form, readable in (("{}s", False), ("[{}, {})", True)):
        lines = [f"{b};{t}" for b, t in zip(bands(form=form), TOWNS, strict=True)]
        (tmp_path / "other.csv").write_text("\n".join(["age;town", *lines]))
        case = build.case(ORIGINAL, ORIGINAL, "qqs", home=tmp_path)
        outcome = measured("complementary_release", case, other="other.csv", delimiter=";")
        assert read(outcome) if readable else nothing(outcome)


def test_the_order_is_told_by_columns_that_can_be_read(build):
    outcome = measured("unsorted_matching", build.case(ORIGINAL, released(age=bands()), "qqs"))
    assert outcome.figures["p_value"].value < 1e-6
    assert "age.agreement" not in outcome.figures
    blind = {"age": bands()}
    outcome = measured("unsorted_matching", build.case({"age": AGES}, blind, "q"))
    assert outcome.figures["p_value"].value is None
    assert outcome.figures["agreement"].value is None


@pytest.mark.parametrize("attack", ["closest_record", "membership_inference", "attribute_disclosure"])
def test_attacks_on_records(build, attack):
    rng = np.random.default_rng(1)
    order = rng.permutation(200)
    drawn = {n: [v[i] for i in order] for n, v in ORIGINAL.items()}
    case = build.case(ORIGINAL, drawn, "qqs", paired=False, holdout=Holdout(0.5))
    assert read(measured(attack, case))
    for strange in ([v + " " for v in drawn["town"]], ["elsewhere", *drawn["town"][1:]]):
        case = build.case(ORIGINAL, drawn | {"town": strange}, "qqs", paired=False, holdout=Holdout(0.5))
        assert nothing(measured(attack, case))
    hidden = build.case(ORIGINAL, drawn | {"town": ["⊥"] * 200}, "qqs", paired=False, holdout=Holdout(0.5))
    assert read(measured(attack, hidden))
