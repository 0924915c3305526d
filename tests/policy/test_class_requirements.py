"""Requirements on classes and sets as core values, with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.policy import declared_values, load, requirements_of
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.special_uniques.requirement import FewUniques
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness

HEAD = """\
version: 1
name: test
attributes:
  age: {role: quasi_identifier, type: integer}
  zip: {role: quasi_identifier}
  disease: {role: sensitive, domain: [flu, HIV, cancer]}
  income: {role: sensitive, type: float}
  rating: {role: sensitive}
  basket: {role: items}
privacy:
"""
TAIL = "releases:\n  study: {path: study.parquet}\n"
BOTH = ("age", "zip")


def _declared(loaded):
    return declared_values(loaded.policy, requirements_of(loaded.policy, loaded.places))


def one(read, text):
    loaded = read(f"{HEAD}  {text}\n{TAIL}")
    assert not [d for d in loaded.diagnostics if d.severity == "error"], loaded.diagnostics
    (found,) = requirements_of(loaded.policy, loaded.places)
    assert found.span.line == 11
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "l_diversity: {disease: {l: 3}}",
            LDiversity.of("privacy.l_diversity.disease", "disease", l=3.0, attributes=BOTH),
        ),
        (
            "l_diversity: {disease: {l: 2, kind: recursive, c: 3, attributes: [zip]}}",
            LDiversity.of(
                "privacy.l_diversity.disease", "disease", l=2.0, attributes=("zip",), variant=Diversity.RECURSIVE, c=3.0
            ),
        ),
        (
            "t_closeness: {disease: {t: 0.2}}",
            TCloseness.of("privacy.t_closeness.disease", "disease", t=0.2, attributes=BOTH),
        ),
        (
            "t_closeness: {disease: {t: 0.2, distance: ordered}}",
            TCloseness.of(
                "privacy.t_closeness.disease",
                "disease",
                t=0.2,
                attributes=BOTH,
                distance=Distance.ORDERED,
                order=("flu", "HIV", "cancer"),
            ),
        ),
        (
            "t_closeness: {income: {t: 0.2, distance: ordered}}",
            TCloseness.of("privacy.t_closeness.income", "income", t=0.2, attributes=BOTH, distance=Distance.ORDERED),
        ),
        (
            "t_closeness: {rating: {t: 0.2, distance: ordered, order: [C, B, A]}}",
            TCloseness.of(
                "privacy.t_closeness.rating",
                "rating",
                t=0.2,
                attributes=BOTH,
                distance=Distance.ORDERED,
                order=("C", "B", "A"),
            ),
        ),
        (
            "alpha_k: {disease: {alpha: 0.5, values: [HIV]}}",
            AlphaK.of("privacy.alpha_k.disease", "disease", alpha=0.5, attributes=BOTH, values=("HIV",)),
        ),
        (
            "delta_disclosure: {disease: {delta: 1.5}}",
            DeltaDisclosure.of("privacy.delta_disclosure.disease", "disease", delta=1.5, attributes=BOTH),
        ),
        (
            "beta_likeness: {disease: {beta: 2}}",
            BetaLikeness.of("privacy.beta_likeness.disease", "disease", beta=2.0, attributes=BOTH),
        ),
        (
            "k_map: {k: 5, population: {path: voters.csv, columns: {zip: ZIP}}}",
            KMap.of(
                "privacy.k_map",
                k=5,
                attributes=BOTH,
                population=PopulationFile(
                    path="voters.csv",
                    columns={
                        "zip": "ZIP",
                    },
                ),
            ),
        ),
        (
            "special_uniques: {size: 2, max_share: 0.01}",
            FewUniques.of("privacy.special_uniques", size=2, max_share=0.01, attributes=BOTH),
        ),
        (
            "lkc: {l: 2, k: 5, c: 0.5, sensitive: {disease: [HIV, flu]}}",
            LKC.of(
                "privacy.lkc",
                l=2,
                k=5,
                attributes=BOTH,
                c=0.5,
                sensitive=by_attribute((("disease", "HIV"), ("disease", "flu"))),
            ),
        ),
        ("km_anonymity: {k: 5}", KmAnonymity.of("privacy.km_anonymity", attribute="basket", k=5, m=2)),
    ],
)
def test_each(read, text, expected):
    assert one(read, text) == expected


def test_values_that_the_policy_writes_may_be_shown(read):
    text = (
        "alpha_k: {rating: {alpha: 0.5, values: [D]}}\n  k_anonymity: {k: 5}\n"
        "  t_closeness: {rating: {t: 0.1, distance: ordered, order: [C, B]}}\n"
        "  lkc: {l: 1, k: 2, c: 0.5, sensitive: {rating: [F]}}"
    )
    loaded = read(f"{HEAD}  {text}\n{TAIL}")
    assert _declared(loaded)["rating"] == {"B", "C", "D", "F"}


def test_the_population_of_a_template_is_beside_the_template(tmp_path):
    (tmp_path / "office").mkdir()
    parent = f"{HEAD}  k_map: {{k: 5, population: {{path: voters.csv}}}}\n{TAIL}"
    (tmp_path / "office" / "parent.yaml").write_text(parent, encoding="utf-8")
    child = tmp_path / "child.yaml"
    child.write_text("version: 1\nname: child\nextends:\n  - {template: office/parent.yaml}\n", encoding="utf-8")
    loaded = load(child)
    assert loaded.policy is not None, loaded.diagnostics
    assert loaded.policy.privacy.entries("k_map")
    assert Path(loaded.policy.privacy.entries("k_map")[""].population.path) == Path("office/voters.csv")


def test_a_child_overrides_one_attribute(tmp_path):
    both = "l_diversity: {disease: {l: 2}, rating: {l: 2}}"
    (tmp_path / "parent.yaml").write_text(f"{HEAD}  {both}\n{TAIL}", encoding="utf-8")
    child = tmp_path / "child.yaml"
    text = "version: 1\nname: child\nextends:\n  - {template: parent.yaml}\nprivacy: {l_diversity: {disease: {l: 3}}}\n"
    child.write_text(text, encoding="utf-8")
    policy = load(child).policy
    assert policy is not None
    assert {name: entry.l for name, entry in policy.privacy.entries("l_diversity").items()} == {
        "disease": 3.0,
        "rating": 2.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "l_diversity: {disease: {l: 1}}",
        "l_diversity: {disease: {l: 3, kind: entropic}}",
        "t_closeness: {disease: {t: 0}}",
        "alpha_k: {disease: {alpha: -1}}",
        "delta_disclosure: {disease: {delta: .nan}}",
        "k_map: {k: 5}",
        "k_map: {k: 1, population: {path: x.csv}}",
        "lkc: {l: 0, k: 5}",
        "special_uniques: {size: 0}",
        "special_uniques: {size: 6}",
        "special_uniques: {max_share: 1}",
        "special_uniques: {max_share: .nan}",
        "km_anonymity: {k: 5, m: 5}",
    ],
)
def test_out_of_shape(read, text):
    loaded = read(f"{HEAD}  {text}\n{TAIL}")
    assert {d.code[:4] for d in loaded.diagnostics if d.severity == "error"} == {"PPF2"}
