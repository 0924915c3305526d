"""Percentages in place of shares: in policies, params, floors, parameters of plugins and supports."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ppdm_flow.anonymizers.full_domain_recoding.spec import RecodingParams
from ppdm_flow.core.shares import plain_share
from ppdm_flow.core.supports import SupportBound, parsed
from ppdm_flow.policy import load
from ppdm_flow.policy.demands import FigureBound
from ppdm_flow.policy.floors.grammar import demands
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.policy.language.shape import shape_of
from ppdm_flow.policy.params import number_or_percentage
from ppdm_flow.requirements.interval_disclosure.requirement import Width

POLICY = """version: 1
name: p
params: {share: {type: float, max: 1, default: 10%}, loose: {type: float, default: 0.5}}
floors: {privacy.templates.*.confidence: "<= 80%"}
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 50, 120]}}
  ill: {role: sensitive, domain: [5%, 10%]}
privacy:
  templates:
    t: {channel: [age], sensitive: {ill: [5%]}, confidence: CONFIDENCE}
steps: {recode: {use: full_domain_recoding, with: {suppression: 4%, levels: {age: {max: 1}}}}}
audits: {change: {use: distributions}}
gates: {stays: {metric: change.mean_association_change, max: "${params.share}"}}
releases: {study: {path: study.csv}}
"""


@given(st.integers(0, 100_000))
def test_a_percentage_is_its_share_exactly(thousandths):
    text = plain_share(f"{thousandths / 1000:.3f}%")
    assert Fraction(text) == Fraction(thousandths, 100_000)


@pytest.mark.parametrize(
    "text", ["400%", "100.1%", "-5%", "%", "5 percent", "5%%", "1e1%", "nan%", "\u0665%", "", "0.04", "1_0%"]
)
def test_all_else_stays(text):
    assert plain_share(text) == text


@pytest.fixture
def read(tmp_path):
    def made(confidence="70%", **sets):
        (tmp_path / "p.yaml").write_text(POLICY.replace("CONFIDENCE", confidence))
        return load(tmp_path / "p.yaml", sets)

    return made


def codes(loaded):
    return [d.code for d in loaded.diagnostics if d.severity == "error"]


def test_a_policy_takes_percentages_for_shares_and_nothing_else(read):
    loaded = read()
    assert codes(loaded) == []
    assert loaded.policy.privacy.templates["t"].confidence == 0.7
    assert loaded.policy.attributes["ill"].domain == ("5%", "10%")
    assert loaded.policy.privacy.templates["t"].sensitive == {"ill": ("5%",)}
    assert loaded.policy.gates["stays"].max == 0.1


@pytest.mark.parametrize("text", ["400%", "100%", "0%", "-4%", "70 per cent"])
def test_nonsense_is_refused(read, text):
    assert {"PPF203", "PPF204"} & set(codes(read(text)))


def test_floors_hold_for_percentages(read):
    assert codes(read("81%")) == ["PPF308"]
    assert codes(read("0.81")) == ["PPF308"]
    assert codes(read("80%")) == []


@pytest.mark.parametrize(
    ("floor", "met"), [("privacy.dominance.age.p: '>= 10%'", False), ("privacy.dominance.age.p: '>= 10'", True)]
)
def test_a_floor_in_percent_is_about_shares_alone(tmp_path, floor, met):
    """`p` of dominance is in percent itself: 10 % of it would be 0.1."""
    text = POLICY.replace("CONFIDENCE", "70%").replace("privacy:", "privacy:\n  dominance: {age: {p: 12}}", 1)
    (tmp_path / "floor.yaml").write_text(f"version: 1\nfloors: {{{floor}}}\n")
    (tmp_path / "p.yaml").write_text(text + "extends: [floor.yaml]\n")
    assert ("PPF308" not in codes(load(tmp_path / "p.yaml"))) is met


def test_counts_have_no_percentage():
    assert demands(">= {count: 50%}") is None
    assert demands(">= {ratio: 50%}") == (FigureBound(">=", Decimal("0.5"), "ratio", percentage=True),)


def test_params_that_are_shares(read):
    assert read(share="4%").policy.gates["stays"].max == 0.04
    assert codes(read(share="400%")) == ["PPF306"]
    assert codes(read(loose="4%")) == ["PPF306"]  # nothing says that it is at most 1


def test_parameters_of_plugins():
    assert RecodingParams.model_validate({"suppression": "4%"}).suppression == 0.04
    with pytest.raises(ValueError, match="suppression"):
        RecodingParams.model_validate({"suppression": "104%"})
    with pytest.raises(ValueError, match="most_nodes"):
        RecodingParams.model_validate({"most_nodes": "50%"})


def test_supports():
    assert parsed("2%") == SupportBound(ratio=0.02)
    assert parsed("100%") == SupportBound(ratio=1.0)
    assert parsed({"ratio": "2.5%"}) == SupportBound(ratio=0.025)
    for wrong in ("200%", "0%", {"count": "5%"}, {"ratio": "200%"}):
        with pytest.raises(ValueError, match="must be"):
            parsed(wrong)


@pytest.mark.parametrize("text", ["50%", "0.5", "12.5 %"])
@pytest.mark.parametrize(
    ("kind", "name"), [("alpha_k", "alpha"), ("dominance", "share"), ("interval_disclosure", "relative")]
)
def test_shares_whose_bounds_do_not_say_so(kind, name, text):
    """More than 1 is judged in words of its own, so that the fields have no upper bound."""
    model = spec_of(kind).requirement
    model = Width if name == "relative" else model
    assert getattr(model.model_validate({name: text}), name) == float(Fraction(plain_share(text)))
    with pytest.raises(ValidationError):
        model.model_validate({name: "150%"})
    assert shape_of(model).keys[name].shape.share
    assert not shape_of(spec_of("dominance").requirement).keys["p"].shape.share


def test_floors_in_percent_on_them(tmp_path):
    text = POLICY.replace("CONFIDENCE", "70%").replace("privacy:", "privacy:\n  alpha_k: {ill: {alpha: 50%}}", 1)
    (tmp_path / "p.yaml").write_text(text + "extends: [floor.yaml]\n")
    for bound, met in (("60%", True), ("0.6", True), ("40%", False)):
        (tmp_path / "floor.yaml").write_text(f"version: 1\nfloors: {{privacy.alpha_k.ill.alpha: '<= {bound}'}}\n")
        assert ("PPF308" not in codes(load(tmp_path / "p.yaml"))) is met


@pytest.mark.parametrize("text", ["\uff15", "\u0665", "1e2%", "\uff10.5", "150%"])
def test_numbers_of_other_scripts_are_none(text):
    assert number_or_percentage(text) is None
    with pytest.raises(ValueError, match="must be"):
        parsed(text)
