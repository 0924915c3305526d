"""Several templates side by side: the nearer value wins, and ties are reported."""

from __future__ import annotations

import itertools

import pytest

from ppdm_flow.core.diagnostics import Severity

BASE = "nulls: exclude\nprivacy: {k_anonymity: {k: 5}, t_closeness: {disease: {t: 0.3}}}\n"
OVER = "extends: base.yaml\nprivacy: {k_anonymity: {k: 10}}\n"
PLAIN = "extends: base.yaml\nowner: me\n"


def conflicts(loaded):
    return [d for d in loaded.diagnostics if d.code == "PPF315"]


def k_of(loaded) -> str:
    return loaded.tree["privacy"]["k_anonymity"]["k"]


@pytest.mark.parametrize(
    "entry", ["[a.yaml, b.yaml]", "[b.yaml, a.yaml]", "[base.yaml, a.yaml]", "[a.yaml, base.yaml]"]
)
def test_the_nearer_value_holds_in_any_order(read, start, entry: str) -> None:
    loaded = read(f"{start}extends: {entry}\n", {"base.yaml": BASE, "a.yaml": OVER, "b.yaml": PLAIN})
    assert k_of(loaded) == "10"
    assert conflicts(loaded) == []


@pytest.mark.parametrize("order", list(itertools.permutations(["a.yaml", "b.yaml", "c.yaml"])))
def test_nearness_reaches_over_several_files(read, start, order: tuple[str, ...]) -> None:
    """As in the C3 order of base classes: c extends a extends base, so c goes before both."""
    files = {"base.yaml": BASE, "a.yaml": OVER, "b.yaml": PLAIN}
    files["c.yaml"] = "extends: [a.yaml, b.yaml]\nprivacy: {k_anonymity: {k: 20}}\n"
    loaded = read(f"{start}extends: [{', '.join(order)}]\n", files)
    assert k_of(loaded) == "20"
    assert conflicts(loaded) == []


def test_two_that_know_nothing_of_each_other_conflict(read, start) -> None:
    files = {"a.yaml": "nulls: exclude\n", "b.yaml": "nulls: wildcard\n", "base.yaml": BASE}
    loaded = read(f"{start}extends: [a.yaml, b.yaml]\n", files)
    (fault,) = conflicts(loaded)
    assert fault.severity is Severity.WARNING
    assert (fault.span.file, fault.path) == ("p.yaml", ("nulls",))
    assert [r.span.file for r in fault.related] == ["b.yaml", "a.yaml"]
    assert loaded.tree["nulls"] == "wildcard"


def test_two_branches_of_a_diamond_conflict(read, start) -> None:
    files = {"base.yaml": BASE, "a.yaml": OVER, "b.yaml": OVER.replace("10", "20")}
    (fault,) = conflicts(read(f"{start}extends: [a.yaml, b.yaml]\n", files))
    assert {r.span.file for r in fault.related} == {"a.yaml", "b.yaml"}
    same = {**files, "b.yaml": OVER}
    assert conflicts(read(f"{start}extends: [a.yaml, b.yaml]\n", same)) == []


@pytest.mark.parametrize("settled", ["nulls: own_category\n", "nulls: null\n"])
def test_the_policy_settles_a_conflict(read, start, settled: str) -> None:
    files = {"a.yaml": "nulls: exclude\n", "b.yaml": "nulls: wildcard\n", "m.yaml": "extends: [a.yaml, b.yaml]\n"}
    assert len(conflicts(read(f"{start}extends: m.yaml\n", files))) == 1
    assert conflicts(read(f"{start}extends: m.yaml\n{settled}", files)) == []
    assert conflicts(read(f"{start}extends: [a.yaml, b.yaml]\n{settled}", files)) == []


def test_a_conflict_under_a_floor_is_an_error(read, start) -> None:
    files = {"a.yaml": "privacy: {k_anonymity: {k: 6}}\n", "b.yaml": "privacy: {k_anonymity: {k: 7}}\n"}
    text = f"{start}extends: [c.yaml, a.yaml, b.yaml]\n"
    for floor in ("privacy.k_anonymity.k: '>= 5'", "privacy.k_anonymity: present", "privacy: not weaker"):
        files["c.yaml"] = f"floors: {{{floor}}}\n" + ("" if "not" not in floor else "privacy: {k_anonymity: {k: 6}}\n")
        (fault,) = conflicts(read(text, files))
        assert fault.severity is Severity.ERROR
    files["c.yaml"] = "floors: {nulls: is own_category}\n"
    (fault,) = conflicts(read(text, files))
    assert fault.severity is Severity.WARNING


def test_what_one_takes_away_and_another_brings_in_stays(read, start) -> None:
    files = {"base.yaml": BASE, "a.yaml": "extends: base.yaml\nprivacy: {t_closeness: null}\n", "b.yaml": PLAIN}
    for entry in ("[a.yaml, b.yaml]", "[b.yaml, a.yaml]"):
        loaded = read(f"{start}extends: {entry}\n", files)
        (fault,) = conflicts(loaded)
        assert "it stays" in fault.message
        assert {r.span.file for r in fault.related} == {"base.yaml", "a.yaml"}
        assert "t_closeness" in loaded.tree["privacy"]
        gone = read(f"{start}extends: {entry}\nprivacy: {{t_closeness: null}}\n", files)
        assert conflicts(gone) == []
        assert "t_closeness" not in gone.tree["privacy"]
    alone = read(f"{start}extends: a.yaml\n", files)
    assert conflicts(alone) == []
    assert "t_closeness" not in alone.tree["privacy"]


def test_a_later_null_deletes_what_an_earlier_template_says(read, start) -> None:
    files = {"a.yaml": "owner: a\n", "b.yaml": "owner: null\n"}
    loaded = read(f"{start}extends: [a.yaml, b.yaml]\n", files)
    assert "owner" not in loaded.tree
    assert conflicts(loaded) == []


def test_one_template_with_two_values(read, start) -> None:
    files = {"t.yaml": "params: {k: {default: 5}}\nprivacy: {k_anonymity: {k: '${params.k}'}}\n"}
    entry = "[{template: t.yaml, with: {k: 6}}, {template: t.yaml, with: {k: 7}}]"
    (fault,) = conflicts(read(f"{start}extends: {entry}\n", files))
    assert {(r.span.file, r.text) for r in fault.related} >= {("p.yaml", "its value comes from here")}
    same = entry.replace("7", "6")
    assert conflicts(read(f"{start}extends: {same}\n", files)) == []


def test_a_param_with_two_values_is_told_where_it_is_used(read, start) -> None:
    files = {"a.yaml": "params: {k: {default: 5}}\n", "b.yaml": "params: {k: {default: 6}}\n"}
    text = f"{start}extends: [a.yaml, b.yaml]\n"
    assert conflicts(read(text, files)) == []
    (fault,) = conflicts(read(text + "description: '${params.k}'\n", files))
    assert [r.span.file for r in fault.related] == ["b.yaml", "a.yaml"]
    assert conflicts(read(text + "description: '${params.k}'\n", files, {"k": "9"})) == []
    assert conflicts(read(text + "params: {k: {default: 7}}\ndescription: '${params.k}'\n", files)) == []


def test_descriptions_are_no_conflict(read, start) -> None:
    files = {"a.yaml": "description: one\n", "b.yaml": "description: other\n"}
    assert conflicts(read(f"{start}extends: [a.yaml, b.yaml]\n", files)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("source: {missing: [a]}", "source: {missing: [b]}"),
        ("privacy: {blend: {min_support: 20}}", "privacy: {blend: {min_support: {count: 20}}}"),
        ("attributes: {job: {role: sensitive}}", "attributes: {job: {role: target}}"),
    ],
)
def test_lists_and_values_of_another_kind(read, one: str, other: str) -> None:
    text = "version: 1\nname: a\nextends: [a.yaml, b.yaml]\n"
    assert len(conflicts(read(text, {"a.yaml": one + "\n", "b.yaml": other + "\n"}))) == 1
    assert conflicts(read(text, {"a.yaml": one + "\n", "b.yaml": one.replace(": {", ":  {") + "\n"})) == []
