"""The light halves: what a plan learns of each plugin, and the faults that it draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.diagnostics import current_code
from ppdm_flow.core.pages import pages
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope

BUILT_IN = (
    "add_noise", "apriori_anonymization", "assign_class_id", "drop", "fine_grain_perturbation",
    "full_domain_recoding", "generalize", "genetic_encode", "interval_bounds", "krimp_generator", "limit_items",
    "limit_rows", "lossy_join", "mask", "microaggregation", "mondrian", "one_row_each", "pram",
    "progressive_disclosure",
    "pseudonymize", "randomize_transactions", "rank_swap", "recode", "rename", "roll_up", "round_values",
    "sample", "shift_dates", "shuffle_rows", "shuffle_values", "suppress", "swap", "swap_records",
    "top_bottom_code", "truncate_zip_codes", "vertical_partition",
)  # fmt: skip

FACTS = {
    "job": AttributeFacts("job", Role.QUASI_IDENTIFIER),
    "country": AttributeFacts("country", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(csv="c.csv")),
    "disease": AttributeFacts("disease", Role.SENSITIVE),
    "rating": AttributeFacts("rating", Role.TARGET),
    "addr_*": AttributeFacts("addr_*", Role.INSENSITIVE),
}
BOUND = Sensitivity.of_bounds("disease", (BoundOfValue("HIV", 0.1, 0.2),), Directions.BOTH)
CHANNEL = InferenceTemplate.of(
    "privacy.templates.t",
    "t",
    channel=("job", "country"),
    sensitive=by_attribute((("disease", "HIV"),)),
    confidence=0.5,
)


def effect(name, params, requirements=(BOUND, CHANNEL), facts=FACTS):
    spec = registry.load("anonymizers", name)
    return spec.effect(spec.params.model_validate(params), Scope("s", facts, requirements))


def codes(found) -> list[str]:
    return [p.code for p in found.problems]


def test_the_built_ins_are_listed_and_importable():
    listed = {p.name for p in registry.listed("anonymizers") if p.built_in}
    assert listed == set(BUILT_IN)
    for name in BUILT_IN:
        spec = registry.load("anonymizers", name)
        assert spec.info.name == name
        assert callable(spec.load())
        assert spec.info.summary.endswith(".")


@pytest.mark.slow
def test_specs_are_light():
    names = "".join(f"registry.load('anonymizers', {name!r});" for name in BUILT_IN)
    heavy = "('numpy', 'pandas', 'pyarrow', 'scipy', 'networkx', 'duckdb', 'numba', 'sklearn')"
    code = f"import sys; from ppdm_flow.sdk import registry; {names} print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_code_of_the_room_has_a_page():
    known = pages()
    assert {current_code(f"PPF{n}") for n in range(780, 800)} <= set(known)


def test_perturbation_takes_its_attributes_from_the_requirements():
    found = effect("fine_grain_perturbation", {})
    assert found.changes == {"disease": Change.PERTURBED}
    assert found.reads == ("disease",)
    assert found.serves == ("privacy.sensitivities.disease",)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("params", "expected", "path"),
    [
        ({"attribute": "diseas"}, "PPF606", ("attribute",)),
        ({"attributes": ["disease", "job"]}, "PPF780", ("attributes", "1")),
        ({"attribute": "disease", "attributes": ["disease"]}, "PPF782", ("attribute",)),
    ],
)
def test_perturbation_problems(params, expected, path):
    (problem,) = effect("fine_grain_perturbation", params).problems
    assert (problem.code, problem.path) == (expected, path)


def test_perturbation_without_any_requirement():
    assert codes(effect("fine_grain_perturbation", {}, ())) == ["PPF780"]


@pytest.mark.parametrize(("change", "expected"), [(Change.GENERALIZED, ["PPF783"]), (Change.OTHER, [])])
def test_a_sensitive_attribute_with_other_values_than_the_requirement_names(change, expected):
    facts = {**FACTS, "disease": FACTS["disease"].changed("coarse", change)}
    assert codes(effect("fine_grain_perturbation", {}, facts=facts)) == expected
    assert codes(effect("progressive_disclosure", {}, facts=facts)) == expected
    tolerant = Sensitivity.of_bounds("disease", (), Directions.BOTH, tolerance=5.0)
    assert codes(effect("fine_grain_perturbation", {}, (tolerant,), facts)) == []  # it names no value


def test_disclosure_reads_channels_sensitive_and_target():
    found = effect("progressive_disclosure", {})
    assert found.reads == ("job", "country", "disease", "rating")
    assert found.changes == {"job": Change.SUPPRESSED, "country": Change.GENERALIZED}  # country has a hierarchy
    flat = effect("progressive_disclosure", {"hierarchies": "ignore"})
    assert flat.changes == dict.fromkeys(("job", "country"), Change.SUPPRESSED)
    assert found.serves == ("privacy.templates.t",)
    assert effect("progressive_disclosure", {"score": "entropy"}).reads == ("job", "country", "disease")
    assert set(effect("progressive_disclosure", {"attributes": ["job"]}).changes) == {"job"}


@pytest.mark.parametrize(
    ("params", "requirements", "expected"),
    [
        ({}, (BOUND,), ["PPF780"]),
        ({"templates": ["u"]}, (CHANNEL,), ["PPF796"]),
        ({"attributes": ["disease"]}, (CHANNEL,), ["PPF798"]),
        ({"attributes": ["jbo"]}, (CHANNEL,), ["PPF606"]),
    ],
)
def test_disclosure_problems(params, requirements, expected):
    assert codes(effect("progressive_disclosure", params, requirements)) == expected


def test_disclosure_by_information_gain_needs_a_target():
    without = {k: v for k, v in FACTS.items() if k != "rating"}
    assert codes(effect("progressive_disclosure", {"score": "information_gain"}, facts=without)) == ["PPF780"]


def test_drop_and_rename():
    assert effect("drop", {"attributes": ["job", "addr_*", "addr_7"]}).drops == ("job", "addr_*", "addr_7")
    assert codes(effect("drop", {"attributes": ["jobb", "z_*"]})) == ["PPF606"] * 2
    assert effect("rename", {"attributes": {"job": "work"}}).renames == {"job": "work"}
    assert codes(effect("rename", {"attributes": {"job": "country"}})) == ["PPF607"]
    assert codes(effect("rename", {"attributes": {"job": "country", "country": "job"}})) == []
    assert codes(effect("rename", {"attributes": {"jbo": "work"}})) == ["PPF606"]


def test_generalize():
    found = effect("generalize", {})
    assert found.changes == {"country": Change.GENERALIZED}
    assert codes(effect("generalize", {}, facts={"job": FACTS["job"]})) == ["PPF780"]
    assert codes(effect("generalize", {"attributes": {"job": {"round": "5"}}})) == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"round": "5", "prefix": "1"}, "PPF782"),
        ({"intervals": ["5", "5"]}, "PPF782"),
        ({"bottom": "5", "top": "4"}, "PPF782"),
        ({}, "PPF780"),
    ],
)
def test_generalize_problems(rule, expected):
    (problem,) = effect("generalize", {"attributes": {"job": rule}}).problems
    assert problem.code == expected
    assert problem.path[:2] == ("attributes", "job")


def test_pseudonymize_and_sample():
    found = effect("pseudonymize", {"attributes": ["job"], "key_env": "K"})
    assert (found.changes, codes(found)) == ({"job": Change.PSEUDONYMIZED}, [])
    assert codes(effect("pseudonymize", {"attributes": ["job"]})) == ["PPF790"]
    assert effect("sample", {"fraction": "0.5"}).rows == "fewer"
    assert codes(effect("sample", {})) == ["PPF782"]
    assert effect("shuffle_rows", {}).rows == "reordered"


def test_renaming_before_a_step_keeps_its_requirements():
    facts = {
        "work": AttributeFacts("work", Role.QUASI_IDENTIFIER, source="job"),
        "illness": AttributeFacts("illness", Role.SENSITIVE, source="disease"),
    }
    assert effect("fine_grain_perturbation", {}, facts=facts).changes == {"illness": Change.PERTURBED}
    found = effect("progressive_disclosure", {}, facts=facts)
    assert found.reads == ("work", "illness")  # country was dropped: the channel is what is left of it
    assert codes(found) == []


def test_a_name_taken_over_by_another_attribute_is_not_mistaken():
    facts = {"disease": AttributeFacts("disease", Role.INSENSITIVE, source="note")}
    assert codes(effect("fine_grain_perturbation", {}, facts=facts)) == ["PPF780"]
    assert effect("fine_grain_perturbation", {}, facts={"d*": AttributeFacts("d*", Role.SENSITIVE)}).reads == (
        "disease",
    )


@pytest.mark.parametrize(
    ("params", "problems"),
    [
        ({"attribute": "disease", "retain": "0.5"}, []),
        ({"attribute": "job", "retain": "0.5"}, []),  # no requirement needs to say anything about it
        ({}, []),
        ({"attribute": "job"}, ["PPF780"]),
        ({"attribute": "jbo", "retain": "0.5"}, ["PPF606"]),
        ({"attribute": "disease", "attributes": ["job"], "retain": "0.5"}, ["PPF782"]),
        ({"attribute": "disease", "retain": "0.5", "matrix_file": "m.csv"}, ["PPF782"]),
        ({"attribute": "disease", "spread": "frequency"}, ["PPF782"]),
        ({"attribute": "disease", "invariant": "true"}, ["PPF782"]),
        ({"attribute": "disease", "retain": "0.5", "optimum": "general"}, ["PPF782"]),
        ({"attributes": ["disease", "job"], "matrix_file": "m.csv"}, ["PPF782"]),
        ({"attribute": "disease", "matrix": {"a": {"a": "0.5", "b": "0.5"}, "b": {"b": "1"}}}, []),
        ({"attribute": "disease", "matrix": {"a": {"a": "0.5", "b": "0.5"}}}, ["PPF885"]),
        ({"attribute": "disease", "matrix": {"a": {"a": "0.5"}}}, ["PPF885"]),
        ({"attribute": "disease", "matrix": {"⊥": {"⊥": "1"}}}, ["PPF885"]),
    ],
)
def test_what_is_wrong_with_parameters_of_pram(params, problems):
    assert codes(effect("pram", params)) == problems


def test_pram_says_what_it_does_and_what_its_operator_tells():
    said = effect("pram", {"attribute": "disease", "retain": "0.5"})
    assert said.changes == {"disease": Change.PERTURBED}
    assert said.derivations["disease"].drawn
    assert said.tells_frequencies == ()
    for more in ({"invariant": "true"}, {"spread": "frequency"}):
        told = effect("pram", {"attribute": "disease", "retain": "0.5", **more})
        assert told.tells_frequencies == ("disease",)
    assert effect("pram", {}).guarantee
    assert not said.guarantee
    declared = {"disease": AttributeFacts("disease", Role.SENSITIVE, domain=("a", "b", "c"))}
    stated = {"attribute": "disease", "matrix": {"a": {"a": "1"}, "b": {"b": "1"}}}
    assert codes(effect("pram", stated, facts=declared)) == ["PPF885"]  # c has no row
    weights = {"w": AttributeFacts("w", Role.WEIGHT)}
    assert codes(effect("pram", {"attribute": "w", "retain": "0.5"}, (), weights)) == ["PPF885"]
