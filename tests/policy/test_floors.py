"""What a template can demand, and that nothing which extends it gets below."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Annotated

import pytest

from ppdm_flow.api.show import resolved_text
from ppdm_flow.core.model import GROUPS, Model
from ppdm_flow.core.roles import Role, no_weaker
from ppdm_flow.policy.demands import EqualTo
from ppdm_flow.policy.floors import strength
from ppdm_flow.policy.floors.grammar import demands
from ppdm_flow.policy.floors.judging import meets
from ppdm_flow.policy.floors.strength import counts_groups, groups_by_role
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    ListOf,
    MapOf,
    Number,
    SupportShape,
    at,
    policy_model,
    shape_of,
    stricter_signs,
)
from ppdm_flow.policy.text.nodes import split, written

HOUSE = """\
attributes: {disease: {role: sensitive}, "addr_*": {role: identifier}}
privacy:
  k_anonymity: {k: 5}
  templates: {t: {channel: [job, city], sensitive: {disease: [HIV, flu]}, confidence: 0.4}}
  sensitivities: {disease: {values: {HIV: {r1: 0.05, r2: 0.2}}}}
  l_diversity: {disease: {l: 3}}
gates: {g: {metric: x.y, max: 0.5}}
releases: {study: {path: study.csv, audience: partner}}
report: {values: hide}
"""
PERSON = "version: 1\nname: test\nextends: house.yaml\n"
OWN = "attributes: {job: {role: quasi_identifier}, city: {role: quasi_identifier}}\nreleases: {study: {path: a.csv}}\n"


def below(read, floors: str, policy: str, house: str = HOUSE) -> list[str]:
    """Return the paths of what is below a floor; each fault names the floor's line and one of the policy's."""
    lines = "".join(f"  {line}\n" for line in floors.splitlines())
    own = "" if policy.startswith(("attributes", "releases")) else OWN
    loaded = read(PERSON + own + policy, {"house.yaml": f"{house}floors:\n{lines}"})
    assert {d.code for d in loaded.diagnostics if d.code in ("PPF309", "PPF314")} == set()
    faults = [d for d in loaded.diagnostics if d.code == "PPF308"]
    for fault in faults:
        assert {"p.yaml", "house.yaml"} <= {fault.span.file, *(r.span.file for r in fault.related)}
    return [".".join(d.path) for d in faults]


@pytest.mark.parametrize(
    ("floor", "policy", "faults"),
    [
        ("attributes.disease.role: is sensitive", "", []),
        ("attributes.disease.role: is sensitive", ", disease: {role: insensitive}", ["attributes.disease.role"]),
        ("attributes.disease.role: is sensitive", ", disease: {role: identifier}", ["attributes.disease.role"]),
        ("attributes.*.role: not weaker", ", disease: {role: identifier}", []),
        ("attributes.*.role: not weaker", ", disease: {role: target}", ["attributes.disease.role"]),
        ("attributes.*.role: not weaker", ", disease: {role: quasi_identifier}", ["attributes.disease.role"]),
        ("attributes: not weaker", ", disease: {role: target}", ["attributes.disease.role"]),
        ("attributes.*.role: not weaker", ", disease: null", []),
        ("attributes.*.role: not weaker", ", disease: null, 'dis*': {role: insensitive}", ["attributes.dis*.role"]),
        ("attributes.*.role: not weaker", ", addr_street: {role: insensitive}", ["attributes.addr_street.role"]),
        ("attributes.*.role: not weaker", ", addr_street: {role: identifier}", []),
        ("attributes.*.role: not weaker", ", 'addr_*': null, 'ad*': {role: target}", ["attributes.ad*.role"]),
        ("attributes.*.role: one of [quasi_identifier, sensitive, identifier]", "", []),
        (
            "attributes.*.role: one of [quasi_identifier, sensitive, identifier]",
            ", r: {role: target}",
            ["attributes.r.role"],
        ),
    ],
)
def test_roles(read, floor: str, policy: str, faults: list[str]) -> None:
    text = f"attributes: {{job: {{role: quasi_identifier}}, city: {{role: quasi_identifier}}{policy}}}\n"
    assert below(read, floor, f"{text}releases: {{study: {{path: a.csv}}}}\n") == faults


def test_an_attribute_that_a_step_replaces_is_no_identifier_for_a_floor(read) -> None:
    """Generalized it may pass, and requirements on quasi-identifiers would not count it."""
    house = HOUSE.replace("attributes: {", "attributes: {age: {role: quasi_identifier}, ")
    text = "attributes: {age: {role: identifier}, job: {role: quasi_identifier}, city: {role: quasi_identifier}}\n"
    for step, faults in (("generalize, with: {attributes: {age: {}}}", 1), ("drop, with: {attributes: [age]}", 0)):
        steps = f"steps: {{s: {{use: {step}}}}}\n"
        assert len(below(read, "attributes.*.role: not weaker", text + steps, house)) == faults


@pytest.mark.parametrize(
    ("floor", "policy", "faults"),
    [
        ("privacy.k_anonymity.k: not weaker", "privacy: {k_anonymity: {k: 4}}", ["privacy.k_anonymity.k"]),
        ("privacy.k_anonymity.k: not weaker", "privacy: {k_anonymity: {k: 6}}", []),
        ("privacy.k_anonymity: present", "privacy: {k_anonymity: null}", ["privacy.k_anonymity"]),
        ("privacy.k_anonymity: present", "privacy: null", ["privacy.k_anonymity"]),
        (
            "privacy.k_anonymity.attributes: absent",
            "privacy: {k_anonymity: {attributes: [job]}}",
            ["privacy.k_anonymity.attributes"],
        ),
        ("privacy.templates.*: present", "privacy: {templates: {t: null}}", ["privacy.templates.t"]),
        ("privacy.templates.t: present", "privacy: {templates: null}", ["privacy.templates.t"]),
        (
            "privacy.templates.t.sensitive.disease: keeps all",
            "privacy: {templates: {t: {sensitive: {disease: [HIV]}}}}",
            ["privacy.templates.t.sensitive.disease"],
        ),
        (
            "privacy.templates.t.sensitive.disease: keeps all",
            "privacy: {templates: {t: {sensitive: {disease: [a, flu, HIV]}}}}",
            [],
        ),
        (
            "privacy.templates.*.sensitive.disease: contains HIV",
            "privacy: {templates: {t: {sensitive: {disease: [flu]}}}}",
            ["privacy.templates.t.sensitive.disease"],
        ),
        (
            "privacy.sensitivities.disease.values: keeps all",
            "privacy: {sensitivities: {disease: {values: {HIV: null, flu: {r1: 0.1, r2: 0.2}}}}}",
            ["privacy.sensitivities.disease.values"],
        ),
        ("privacy.templates.*.min_support: '>= 3'", "", ["privacy.templates.t.min_support"]),
        ("privacy.templates.*.min_support: '>= 3'", "privacy: {templates: {t: {min_support: 3}}}", []),
        ("privacy.sensitivities.disease.directions: is both", "", []),
        (
            "privacy.sensitivities.disease.directions: is both",
            "privacy: {sensitivities: {disease: {directions: upward}}}",
            ["privacy.sensitivities.disease.directions"],
        ),
        (
            "privacy.sensitivities.disease.directions: is both",
            "privacy: {sensitivities: null}",
            ["privacy.sensitivities.disease.directions"],
        ),
        ("steps.*.use: one of [drop, suppress]", "steps: {a: {use: suppress}, b: {use: swap}}", ["steps.b.use"]),
        ("steps.*.use: one of [drop, suppress]", "", []),
        ("privacy.k_anonymity.k: 'one of [5, 9]'", "privacy: {k_anonymity: {k: 9}}", []),
        ("privacy.k_anonymity.k: 'one of [5, 9]'", "privacy: {k_anonymity: {k: 8}}", ["privacy.k_anonymity.k"]),
        (
            "releases.*.audience: one of [internal, partner]",
            "releases: {b: {path: b.csv}, c: {path: c.csv, audience: public}}",
            ["releases.c.audience"],
        ),
        ("releases.*.audience: not weaker", "releases: {study: {audience: public}}", ["releases.study.audience"]),
        ("releases.*.audience: not weaker", "releases: {study: {audience: internal}}", []),
        ("releases.*.path: one of [study.csv]", "releases: {study: {path: x.csv}}", ["releases.study.path"]),
        ("releases.*.format: one of [csv]", "releases: {study: {path: x.csv}}", ["releases.study.format"]),
        ("undeclared: is error", "", []),
        ("recipients: is together", "", []),
        ("recipients: is together", "recipients: apart", ["recipients"]),
        ("recipients: not weaker", "recipients: apart", ["recipients"]),
        ("undeclared: is error", "undeclared: drop", ["undeclared"]),
        ("undeclared: not weaker", "undeclared: drop", ["undeclared"]),
        ("randomness.mode: is sealed", "", []),
        ("randomness.mode: is sealed", "randomness: {mode: reproducible, seed: a}", ["randomness.mode"]),
        ("nulls: is own_category", "nulls: exclude", ["nulls"]),
        ("nulls: one of [own_category, wildcard]", "nulls: wildcard", []),
        ("report.values: not weaker", "report: {values: show}", ["report.values"]),
        ("gates: not weaker", "gates: {g: {max: 0.6}}", ["gates.g.max"]),
        ("gates: not weaker", "gates: {g: null}", ["gates.g"]),
        ("gates: not weaker", "gates: {g: {releases: [study]}}", ["gates.g.releases"]),
        ("gates.g: not weaker", "gates: {g: {releases: [study]}}", ["gates.g.releases"]),
        ("gates.g.max: not weaker", "gates: {g: {releases: [study]}}", []),
        ("gates.g.releases: absent", "gates: {g: {releases: [study]}}", ["gates.g.releases"]),
        ("gates.g.releases: 'contains [study]'", "gates: {g: {releases: [other]}}", ["gates.g.releases"]),
        ("gates.g.releases: 'contains [study]'", "gates: {g: {releases: [other, study]}}", []),
        ("gates.g.releases: 'contains [study]'", "", []),
        ("gates: not weaker", "gates: {g: {max_width: 0.3}}", ["gates.g.max_width"]),
        ("gates: not weaker", "gates: {g: {max_width: 0.1}}", []),
        ("gates: not weaker", "gates: {g: {max: 0.4}, h: {metric: a.b, min: 1}}", []),
        ("gates.*.max: '<= 0.5'", "gates: {h: {metric: a.b, min: 1}, i: {metric: a.b, max: 0.6}}", ["gates.i.max"]),
        ("privacy.t_closeness.*.distance: is equal", "", []),
        ("releases: only [study]", "releases: {study: {path: a.csv}}", []),
        ("releases: only study", "releases: {study: {path: a.csv}, b: {path: b.csv}}", ["releases"]),
        ("privacy.t_closeness: only [disease]", "privacy: {t_closeness: {job: {t: 0.2}}}", ["privacy.t_closeness"]),
        ("privacy.k_anonymity.k: '>= 5 and <= 9'", "privacy: {k_anonymity: {k: 10}}", ["privacy.k_anonymity.k"]),
        (
            "steps.*.with.level: '<= 2'",
            "steps: {a: {use: x, with: {level: high}}, b: {use: x, with: {level: 2}}}",
            ["steps.a.with.level"],
        ),
    ],
)
def test_every_kind(read, floor: str, policy: str, faults: list[str]) -> None:
    attributes = OWN.splitlines()[0] + "\n" if policy.startswith("releases") else ""
    assert below(read, floor, f"{attributes}{policy}\n") == faults


@pytest.mark.parametrize(
    ("policy", "faults"),
    [
        ("privacy: {k_anonymity: {k: 9}, t_closeness: {disease: {t: 0.2}}}", []),
        ("privacy: {k_anonymity: {attributes: [job]}}", ["privacy.k_anonymity.attributes"]),
        ("privacy: {templates: {t: {negated: true}}}", ["privacy.templates.t.negated"]),
        ("privacy: {templates: {t: {channel: [job]}}}", ["privacy.templates.t.channel"]),
        ("privacy: {templates: {t: {channel: [job, age, city], min_support: 4}, u: null}}", []),
        ("privacy: {templates: {t: {confidence: 0.41}}}", ["privacy.templates.t.confidence"]),
        ("privacy: {templates: {t: {values_absent: allowed}}}", ["privacy.templates.t.values_absent"]),
        ("privacy: {templates: {t: {values_absent: error}}}", []),
        (
            "privacy: {sensitivities: {disease: {values_absent: allowed}}}",
            ["privacy.sensitivities.disease.values_absent"],
        ),
        (
            "privacy: {sensitivities: {disease: {values: {HIV: {r2: 0.3}}}}}",
            ["privacy.sensitivities.disease.values.HIV.r2"],
        ),
        (
            "privacy: {sensitivities: {disease: {values: {HIV: [{r1: 0.05, r2: 0.2}, {r1: 0.1, r2: 0.3}]}}}}",
            ["privacy.sensitivities.disease.values.HIV.1.r2"],
        ),
        ("privacy: {sensitivities: {disease: {default: {tolerance: 2}}}}", []),
        ("privacy: {sensitivities: {disease: {groups: {g: {values: [a], r1: 0.8, r2: 0.9}}}}}", []),
        ("privacy: {l_diversity: {disease: {kind: entropy}}}", ["privacy.l_diversity.disease.kind"]),
        ("privacy: {l_diversity: {disease: {l: 2}}}", ["privacy.l_diversity.disease.l"]),
        ("privacy: {l_diversity: null}", ["privacy.l_diversity.disease"]),
    ],
)
def test_privacy_not_weaker_holds_all_requirements_up(read, policy: str, faults: list[str]) -> None:
    assert below(read, "privacy: not weaker", policy + "\n") == faults


LATTICE = """\
attributes: {disease: {role: sensitive}, age: {role: quasi_identifier}}
privacy:
  k_anonymity: {k: 5, attributes: [job]}
  lkc: {l: 1, k: 3, c: 0.5, sensitive: {disease: [HIV]}}
  templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.4, min_support: 3}}
  t_closeness: {disease: {t: 0.2, distance: ordered, order: [flu, HIV], attributes: [job]}}
  sensitivities:
    disease: {default: {tolerance: 3}, values: {HIV: {r1: 0.05, r2: 0.2}}}
    job: {values: {cook: [{r1: 0.1, r2: 0.2}, {r1: 0.2, r2: 0.5, given: women}], host: [{r1: 0.2, r2: 0.3}]}}
  anonymity_score: {max: 0.5}
steps: {shorten: {use: generalize, with: {attributes: {city: {prefix: 2, then: [1, 2]}}}}}
audits: {risk: {use: singling_out, with: {attributes: [job]}}, beside: {use: distributions}}
gates: {g: {metric: risk.risk, max: 0.1}}
"""


@pytest.mark.slow(quick=24)
@pytest.mark.parametrize(
    ("floor", "policy", "faults"),
    [
        ("privacy", "privacy: {k_anonymity: {attributes: [city, job]}}", []),
        ("privacy", "privacy: {k_anonymity: {attributes: [city]}}", ["privacy.k_anonymity.attributes"]),
        ("privacy", "privacy: {templates: {t: {min_support: 4}}}", []),
        ("privacy", "privacy: {templates: {t: {min_support: 2}}}", ["privacy.templates.t.min_support"]),
        ("privacy", "nulls: exclude", ["nulls"]),
        ("privacy.k_anonymity", "nulls: wildcard", ["nulls"]),
        ("privacy.k_anonymity.k", "nulls: exclude", []),
        ("privacy.lkc.sensitive", "nulls: exclude", []),
        ("privacy.lkc", "nulls: exclude", ["nulls"]),
        ("privacy", "attributes: {age: {role: insensitive}}", ["attributes.age.role"]),
        ("privacy.lkc", "attributes: {age: {role: sensitive}}", ["attributes.age.role"]),
        ("privacy", "attributes: {age: {role: identifier}}", []),
        ("privacy", "attributes: {age: null, 'a*': {role: target}}", ["attributes.a*.role"]),
        ("privacy.k_anonymity", "attributes: {age: {role: insensitive}}", []),
        ("privacy.templates", "attributes: {age: {role: insensitive}}", []),
        ("gates", "attributes: {age: {role: insensitive}}", ["attributes.age.role"]),
        ("gates.g.max", "attributes: {age: {role: insensitive}}", []),
        ("gates", "gates: {g: {releases: [a]}}", ["gates.g.releases"]),
        ("gates", "audits: {risk: {release: a}}", ["audits.risk.release"]),
        ("privacy.sensitivities", "nulls: exclude", []),
        (
            "privacy.k_anonymity.attributes",
            "nulls: exclude\nprivacy: {k_anonymity: {attributes: [city, job]}}",
            ["privacy.k_anonymity.attributes"],
        ),
        ("privacy.k_anonymity.attributes", "nulls: exclude", []),
        (
            "privacy.k_anonymity.attributes",
            "people: {known_rows: 1}\nprivacy: {k_anonymity: {attributes: [city, job]}}",
            ["privacy.k_anonymity.attributes"],
        ),
        (
            "privacy.k_anonymity.attributes",
            "people: {unit: rows}\nprivacy: {k_anonymity: {attributes: [city, job]}}",
            [],
        ),
        (
            "privacy",
            "privacy: {t_closeness: {disease: {attributes: [city, job]}}}",
            ["privacy.t_closeness.disease.attributes"],
        ),
        (
            "privacy",
            "privacy: {t_closeness: {disease: {order: [HIV, flu, cold]}}}",
            ["privacy.t_closeness.disease.order"],
        ),
        ("privacy", "privacy: {t_closeness: {disease: {t: 0.1}}}", []),
        (
            "privacy",
            "privacy: {sensitivities: {job: {values: {cook: [{r1: 0.1, r2: 0.2}]}}}}",
            ["privacy.sensitivities.job.values.cook"],
        ),
        ("privacy.sensitivities.job.values.cook.r2", "", []),
        ("privacy.sensitivities.*.values.*.r2", "", []),
        (
            "privacy.sensitivities.job.values.cook.r2",
            "privacy: {sensitivities: {job: {values: {cook: [{r1: 0.1, r2: 0.2}, {r1: 0.2, r2: 0.6}]}}}}",
            ["privacy.sensitivities.job.values.cook"],
        ),
        (
            "privacy.sensitivities.*.values.*.r2",
            "privacy: {sensitivities: {job: {values: {host: [{r1: 0.1, r2: 0.1}, {r1: 0.2, r2: 0.4}]}}}}",
            ["privacy.sensitivities.job.values.host.1.r2"],
        ),
        (
            "privacy",
            "privacy: {sensitivities: {disease: {values: {flu: {r1: 0.1, r2: 0.9}}}}}",
            ["privacy.sensitivities.disease.values"],
        ),
        (
            "privacy",
            "privacy: {sensitivities: {disease: {groups: {g: {values: [flu], r1: 0.1, r2: 0.9}}}}}",
            ["privacy.sensitivities.disease.groups"],
        ),
        ("privacy", "privacy: {sensitivities: {disease: {values: {HIV: {r2: 0.1}}, default: {tolerance: 2}}}}", []),
        (
            "privacy",
            "privacy: {sensitivities: {disease: {values: {HIV: null}}}}",
            ["privacy.sensitivities.disease.values.HIV"],
        ),
        ("steps", "steps: {also: {use: suppress}}", []),
        (
            "steps",
            "steps: {shorten: {with: {attributes: {city: {prefix: 3}}}}}",
            ["steps.shorten.with"],
        ),
        (
            "steps",
            "steps: {shorten: {with: {attributes: {city: {then: [1]}}}}}",
            ["steps.shorten.with"],
        ),
        ("steps", "steps: {shorten: {with: {attributes: {job: {prefix: 2}}}}}", ["steps.shorten.with"]),
        ("gates", "gates: {g: {max: 0.05}}", []),
        ("gates", "audits: {risk: {with: {attributes: [city]}}}", ["audits.risk.with"]),
        ("gates.g", "audits: {risk: {use: homogeneity, with: null}}", ["audits.risk.use", "audits.risk.with"]),
        ("gates", "audits: {risk: {release: study}}", ["audits.risk.release"]),
        ("gates", "audits: {beside: null}", []),
        ("gates", "nulls: exclude", ["nulls"]),
        ("gates.g.max", "nulls: exclude\naudits: {risk: {with: {attributes: [city]}}}", []),
    ],
)
def test_what_a_requirement_rests_on_is_not_weaker_either(read, floor: str, policy: str, faults: list[str]) -> None:
    assert below(read, f"{floor}: not weaker", policy + "\n", LATTICE) == faults


SHARES = {
    "t_closeness: {disease: {t: 0.2}}": False,
    "beta_likeness: {disease: {beta: 1}}": False,
    "delta_disclosure: {disease: {delta: 1}}": False,
    "l_diversity: {disease: {kind: entropy, l: 2}}": False,
    "sensitivities: {disease: {default: {tolerance: 2}}}": False,
    "special_uniques: {max_share: 0.1}": False,
    "l_diversity: {disease: {l: 2}}": True,
    "k_anonymity: {k: 5}": True,
    "alpha_k: {disease: {alpha: 0.5}}": True,
    "lkc: {l: 1, k: 3, c: 0.5, sensitive: {disease: [HIV]}}": True,
    "templates: {t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.4}}": True,
    "blend: {min_support: {count: 20}}": True,  # refused where a person has several rows
}
"""Requirements, and whether one that holds of people holds of rows."""
OF_ROWS = "attributes: {disease: {role: sensitive}}\n"
OF_PEOPLE = "attributes: {person: {role: subject}, disease: {role: sensitive}}\npeople: {known_rows: 1, unit: people}\n"
OF_THEIR_ROWS = OF_PEOPLE.replace("known_rows: 1, unit: people", "unit: rows")


@pytest.mark.parametrize("requirement", SHARES)
def test_shares_of_people_are_not_those_of_rows(read, requirement: str) -> None:
    """A group that shows one illness among its rows may be mixed by people, and the other way round."""
    faults = [] if SHARES[requirement] else ["people.unit"]
    for house in (OF_ROWS, OF_THEIR_ROWS):
        house += f"privacy: {{{requirement}}}\n"
        for floor in ("privacy", f"privacy.{requirement.partition(':')[0]}"):
            assert below(read, f"{floor}: not weaker", OF_PEOPLE, house) == faults
            assert below(read, f"{floor}: not weaker", OF_THEIR_ROWS, house) == []
            assert below(read, f"{floor}: not weaker", OF_ROWS, house) == []


@pytest.mark.parametrize("floor", ["privacy", "gates"])
@pytest.mark.parametrize(
    ("policy", "faults"),
    [
        ("people: {known_rows: 2}", []),
        ("people: {unit: rows, known_rows: null}", ["people.known_rows", "people.unit"]),
        ("attributes: {person: {role: identifier}}\npeople: null", ["attributes.person.role", "people"]),
        ("attributes: {person: null, visit: {role: subject}}", ["attributes.person"]),
    ],
)
def test_people_stay_counted(read, floor: str, policy: str, faults: list[str]) -> None:
    """Rows of one person are no crowd, nor is a visit a person: for requirements on groups, sets and values alike."""
    house = OF_PEOPLE + "privacy: {km_anonymity: {attribute: disease, k: 5, m: 2}}\n"
    house += "audits: {alike: {use: homogeneity}}\ngates: {g: {metric: alike.certain, max: 0.1}}\n"
    attributes = "" if policy.startswith("attributes") else "attributes: {job: {role: quasi_identifier}}\n"
    assert sorted(below(read, f"{floor}: not weaker", f"{attributes}{policy}\n", house)) == faults


LINKED = """\
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes: {patient: {role: subject}, age: {role: quasi_identifier}}
  visits:
    source: {path: visits.csv}
    refers: {who: patients}
    attributes: {hospital: {role: quasi_identifier}, disease: {role: sensitive}}
people: {known_rows: 1}
privacy: {k_anonymity: {k: 5}}
"""


@pytest.mark.parametrize(
    ("policy", "faults"),
    [
        ("tables: {visits: {attributes: {hospital: {role: identifier}, disease: {role: insensitive}}}}", []),
        (
            "tables: {visits: {attributes: {hospital: {role: insensitive}}}}",
            ["tables.visits.attributes.hospital.role"],
        ),
        (
            "tables: {patients: {attributes: {patient: null, age: {role: subject}}}}",
            ["tables.patients.attributes.age.role", "tables.patients.attributes.patient"],
        ),
    ],
)
def test_roles_in_linked_tables_are_not_weaker_either(read, policy: str, faults: list[str]) -> None:
    releases = "releases: {a: {from: visits, path: a.csv}}\n"
    assert sorted(below(read, "privacy: not weaker", f"{releases}{policy}\n", LINKED)) == faults


def test_gates_of_rows_are_no_gates_of_people(read) -> None:
    house = "audits: {alike: {use: homogeneity}}\ngates: {g: {metric: alike.certain, max: 0.1}}\n"
    assert below(read, "gates: not weaker", OF_PEOPLE, house) == ["people.unit"]
    assert below(read, "gates.g.max: not weaker", OF_PEOPLE, house) == []


ANALYSED = """attributes: {age: {role: quasi_identifier, type: integer}, pay: {role: insensitive, type: float}}
analyses:
  wage: {regression: pay, on: [age]}
  beside: {mean: pay}
gates:
  g: {metric: analyses.wage.least_overlap, min: 0.5}
"""
ALL_ANALYSED = ANALYSED.replace("analyses.wage.least_overlap", "analyses.worst_overlap")


@pytest.mark.parametrize(
    ("template", "policy", "faults"),
    [
        (ANALYSED, "gates: {g: {min: 0.6}}", []),
        (ANALYSED, "gates: {g: {min: 0.4}}", ["gates.g.min"]),
        (ANALYSED, "analyses: {more: {table: [age]}}", []),
        (ANALYSED, "analyses: {beside: {by: [age]}}", []),
        (ANALYSED, "analyses: {wage: {weighted: false}}", ["analyses.wage.weighted"]),
        (ALL_ANALYSED, "analyses: {beside: {by: [age]}}", ["analyses.beside.by"]),
        (ALL_ANALYSED, "analyses: {beside: null}", ["analyses.beside"]),
    ],
)
def test_a_gate_rests_on_the_analysis_that_it_bounds(read, template: str, policy: str, faults: list[str]) -> None:
    assert below(read, "gates: not weaker", policy + "\n", template) == faults


@pytest.mark.parametrize(
    ("policy", "faults"),
    [
        ("owner: me", []),
        ("ledger: null", ["ledger"]),
        ("ledger: {path: other.ledger}", ["ledger.path"]),
        ("ledger: {repeat: warn}", ["ledger.repeat"]),
        ("ledger: {subject: job}", ["ledger.subject"]),
        ("attributes: {age: {role: insensitive}}", ["attributes.age.role"]),
    ],
)
def test_all_releases_together_are_held_as_well(read, policy: str, faults: list[str]) -> None:
    """With a ledger, a requirement on groups is on what all releases tell, by all that others may know."""
    house = "attributes: {person: {role: identifier}, age: {role: quasi_identifier}}\n"
    house += "ledger: {path: a.ledger, subject: person}\nprivacy: {k_anonymity: {k: 5, attributes: [job]}}\n"
    assert below(read, "privacy: not weaker", policy + "\n", house) == faults


@pytest.mark.parametrize(
    ("floor", "support", "faults"),
    [
        ("{count: 10}", "{count: 10}", 0),
        ("{count: 10}", "9", 1),
        ("{count: 10}", "12", 0),
        ("{count: 10}", "{ratio: 0.5}", 1),
        ("{ratio: 0.02}", "0.02", 0),
        ("{ratio: 0.02}", "0.019", 1),
        ("{ratio: 0.02}", "{ratio: 0.03}", 0),
        ("{ratio: 0.02}", "1000", 1),
    ],
)
def test_supports_are_held_in_their_unit(read, floor: str, support: str, faults: int) -> None:
    text = f"privacy: {{blend: {{min_support: {support}}}}}\n"
    assert len(below(read, f'privacy.blend.min_support: ">= {floor}"', text)) == faults


def test_a_support_is_not_weaker(read) -> None:
    house = HOUSE.replace("gates:", "  blend: {min_support: {count: 20}}\ngates:")
    for support, faults in (("20", 0), ("{count: 20}", 0), ("19", 1), ("21", 1), ("{count: null, ratio: 0.9}", 1)):
        text = f"privacy: {{blend: {{min_support: {support}}}}}\n"
        assert len(below(read, "privacy.blend: not weaker", text, house)) == faults


def test_floors_of_several_templates_add_up(read, codes) -> None:
    files = {
        "a.yaml": "floors: {privacy.k_anonymity.k: '>= 5', privacy: not weaker}\nprivacy: {k_anonymity: {k: 7}}\n",
        "b.yaml": "floors: {privacy.k_anonymity.k: '>= 6'}\n",
    }
    for k, faults in ((5, 2), (6, 1), (7, 0)):
        text = f"version: 1\nname: t\nextends: [a.yaml, b.yaml]\n{OWN}privacy: {{k_anonymity: {{k: {k}}}}}\n"
        assert codes(read(text, files)).count("PPF308") == faults
    loaded = read(text, files)
    assert loaded.tree["floors"]["privacy.k_anonymity.k"] == ">= 5 and >= 7 and >= 6"


def test_a_floor_binds_what_templates_in_between_say(read, codes) -> None:
    """An organization's ``not weaker`` is about every file below it, whether it knows the attribute or not."""
    org = "floors: {attributes.*.role: not weaker}\nowner: org\n"
    policy = f"version: 1\nname: t\nextends: ENTRY\n{OWN}"
    policy = policy.replace("city: {role: quasi_identifier}", "city: {role: insensitive}")
    mid = "attributes: {city: {role: quasi_identifier}}\n"
    for entry, files in (
        ("mid.yaml", {"org.yaml": org, "mid.yaml": f"extends: org.yaml\n{mid}"}),
        ("[org.yaml, mid.yaml]", {"org.yaml": org, "mid.yaml": mid}),
        ("[mid.yaml, org.yaml]", {"org.yaml": org, "mid.yaml": mid}),
    ):
        assert codes(read(policy.replace("ENTRY", entry), files)).count("PPF308") == 1


def test_no_child_takes_a_floor_away(read, codes) -> None:
    files = {
        "a.yaml": "floors: {attributes.*.role: not weaker, nulls: is exclude}\nattributes: {city: {role: sensitive}}\n"
    }
    text = f"version: 1\nname: t\nextends: a.yaml\n{OWN}nulls: wildcard\n"
    text += "floors: {attributes.city.role: is quasi_identifier, nulls: is wildcard, privacy: absent}\n"
    assert codes(read(text, files)).count("PPF308") == 2


def test_set_does_not_get_below(read, codes) -> None:
    org = "params: {r: {default: sealed}}\nfloors: {randomness.mode: is sealed}\n"
    files = {"a.yaml": org + "randomness: {mode: '${params.r}'}\n"}
    text = f"version: 1\nname: t\nextends: a.yaml\n{OWN}"
    assert "PPF308" not in codes(read(text, files))
    assert "PPF308" in codes(read(text, files, {"r": "reproducible"}))


def test_a_template_below_its_own_floor_is_told_once_and_there(read, codes) -> None:
    house = "floors: {privacy.k_anonymity.k: '>= 5'}\nparams: {k: {type: integer, default: 5}}\n"
    house += "privacy: {k_anonymity: {k: K}}\n"
    text = f"version: 1\nname: t\nextends: a.yaml\n{OWN}"
    (fault,) = [d for d in read(text, {"a.yaml": house.replace("K}}", "3}}")}).diagnostics if d.code[:4] == "PPF3"]
    assert (fault.code, fault.span.file) == ("PPF314", "a.yaml")
    given = text.replace("a.yaml", "[{template: a.yaml, with: {k: 3}}]")
    loaded = read(given, {"a.yaml": house.replace("K}}", "'${params.k}'}}")})
    assert [c for c in codes(loaded) if c[:4] == "PPF3"] == ["PPF308"]


def test_a_template_may_leave_to_policies_what_its_floor_wants(read, codes) -> None:
    files = {"a.yaml": "floors: {privacy.k_anonymity.k: '>= 5', nulls: is exclude}\nnulls: exclude\n"}
    text = f"version: 1\nname: t\nextends: a.yaml\n{OWN}privacy: {{k_anonymity: {{k: 5}}}}\n"
    assert [c for c in codes(read(text, files)) if c[:4] == "PPF3"] == []


@pytest.mark.parametrize(
    "floor",
    [
        "undeclared: is eror",
        "nulls: not weaker",
        "source.path: not weaker",
        "attributes.*.role: not weaker than secret",
        "attributes.*.role: '>= 2'",
        "privacy.k_anonymity.k: contains [1]",
        "privacy.k_anonymity.k: '>= {count: 2}'",
        "privacy.blend.min_support: '>= 20'",
        "privacy.k_anonymity.k: only [1]",
        "privacy.templates.t.sensitive: not weaker than [a, b]",
        "releases: only []",
        "privacy.k_anonymity.k: '>= 5 and'",
        "privacy.k_anonymity.k: ''",
        "privacy.k_anonymity.k: is",
        "privacy.k_anonymity.k: '=> 5'",
        "privacy.t_closeness.*: oneof [a]",
        "releases.*.audience: one of partner",
        "releases.*.audience: 'one of [a, {b: c}]'",
        "waivers.privacy: perhaps",
        "privacy.t_closeness.disease.t: not weaker",
    ],
)
def test_unreadable_floors(read, codes, floor: str) -> None:
    """The last one has nothing to compare with."""
    house = f"{HOUSE}floors:\n  {floor}\n"
    assert "PPF309" in codes(read(PERSON + OWN, {"house.yaml": house}))


def test_a_resolved_policy_reads_back_with_its_floors(read, codes, tmp_path) -> None:
    floors = "floors: {attributes.*.role: not weaker, privacy: not weaker, gates: not weaker, report.values: is hide}\n"
    house = HOUSE.replace(
        "disease: {role: sensitive}", '"home.town": {role: quasi_identifier}, disease: {role: sensitive}'
    )
    loaded = read(PERSON + OWN, {"house.yaml": house + floors})
    assert loaded.policy is not None, loaded.diagnostics
    again = read(resolved_text(loaded.tree))
    assert again.tree == loaded.tree
    assert [d for d in again.diagnostics if d.code[:4] == "PPF3"] == []
    assert again.tree["floors"]['attributes."home.town".role'] == "not weaker than quasi_identifier"


def test_floors_that_could_not_be_judged_say_nothing(read, codes) -> None:
    """Where a template cannot be read, what it may hold is not called missing."""
    files = {"a.yaml": "floors: {privacy.k_anonymity: present}\n"}
    assert codes(read(f"version: 1\nname: t\nextends: [a.yaml, gone.yaml]\n{OWN}", files)).count("PPF308") == 0
    assert codes(read(f"version: 1\nname: t\nextends: [a.yaml]\n{OWN}", files)).count("PPF308") == 1


@pytest.mark.parametrize("text", ["a.b", 'a."b.c".d', "a.*.b", "x"])
def test_paths_come_back(text: str) -> None:
    assert written(split(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        ">= 5",
        "<= {ratio: 0.02}",
        "is error",
        'is "a and b"',
        'is {"a": ["b"]}',
        "one of [a, b]",
        'contains ["x, y", "and", z]',
        "present",
        "absent",
        "only [a, b]",
        "not weaker than sensitive",
        "not weaker than [a, b]",
        "not weaker",
        "keeps all",
    ],
)
def test_demands_come_back(text: str) -> None:
    (demand,) = demands(text) or ()
    assert demand.text == text
    assert demands(f"{text} and >= 2") == (demand, *(demands(">= 2") or ()))


def figures(shape, path: tuple[str, ...]):
    if isinstance(shape, Number | SupportShape):
        yield path
    elif isinstance(shape, FixedKeys):
        for name, key in shape.keys.items():
            yield from figures(key.shape, (*path, name))
        if shape.named:
            yield from figures(replace(shape, named=False), (*path, "*"))
    elif isinstance(shape, MapOf):
        yield from figures(shape.value, (*path, "*"))
    elif isinstance(shape, ListOf) and shape.single:
        yield from figures(shape.item, path)


def test_every_figure_of_a_requirement_has_a_weaker_side() -> None:
    """A new requirement has to say here which side of its figures is weaker, or that they are no bounds."""
    known = {path for path in stricter_signs(policy_model()) if path[0] == "privacy"}
    one = {("itemset_breach", "pool"), ("blend", "min_support"), ("numeric_linkage", "sample")}
    one = {("privacy", *path) for path in one}
    without = one | {(*path[:2], "*", *path[2:]) for path in one}
    without |= {("privacy", "templates", "*", "chosen_by", name) for name in ("top", "rarest")}
    assert set(figures(at(("privacy",)), ("privacy",))) == known | without


def test_requirements_on_groups_are_known_by_what_groups_them() -> None:
    found = {kind for kind in at(("privacy",)).keys if counts_groups(kind)}
    assert found >= {"k_anonymity", "templates", "l_diversity", "t_closeness", "k_map", "lkc", "cumulative_k"}
    assert not found & {"sensitivities", "anonymity_score", "blend", "itemset_breach", "km_anonymity"}


def test_groups_of_models_within_an_entry_are_known(monkeypatch) -> None:
    class Crowd(Model):
        by: Annotated[tuple[str, ...], GROUPS] = ()

    class Entry(Model):
        crowd: Crowd = Crowd()
        several: dict[str, Crowd] | None = None

    monkeypatch.setattr(strength, "at", lambda _path: shape_of(Entry))
    assert counts_groups("any")
    assert groups_by_role("any", {"crowd": {"by": ["a"]}, "several": {"x": {}}})
    assert not groups_by_role("any", {"crowd": {"by": ["a"]}, "several": {"x": {"by": ["a"]}}})


def test_roles_are_a_preorder() -> None:
    for a, b, c in itertools.product(Role, repeat=3):
        assert no_weaker(a, a)
        if no_weaker(a, b) and no_weaker(b, c):
            assert no_weaker(a, c)
    assert no_weaker(Role.IDENTIFIER, Role.SENSITIVE)
    assert no_weaker(Role.QUASI_IDENTIFIER, Role.INSENSITIVE)
    assert not no_weaker(Role.INSENSITIVE, Role.SENSITIVE)
    assert not no_weaker(Role.SENSITIVE, Role.QUASI_IDENTIFIER)
    assert not no_weaker(Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def test_a_map_is_another_one_with_other_values():
    wanted = EqualTo.of({"age": "1", "zip": {"level": "2"}})
    path = ("steps", "s", "with")
    assert meets(wanted, path, {"age": "1", "zip": {"level": "2"}})
    for other in (
        {"age": "2", "zip": {"level": "2"}},
        {"age": "1", "zip": {"level": "3"}},
        {"age": "1"},
        {"age": "1", "sex": "2"},
    ):
        assert not meets(wanted, path, other)
