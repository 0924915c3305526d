"""Rules on what reaches a release, each at its edge."""

from __future__ import annotations

import pytest

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.plan.rules import RULES
from ppdm_flow.sdk.spec import Effect

ATTRIBUTES = """attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
"""
PRIVACY = """privacy:
  k_anonymity: {k: 3}
  sensitivities: {ill: {default: {tolerance: 3}}}
"""
RELEASE = "releases:\n  r: {path: r.csv}\n"
PERTURB = "steps:\n  p: {use: fine_grain_perturbation}\n"
TWO = "releases:\n  r: {from: X, path: r.csv}\n  s: {from: Y, path: s.csv}\n"


def two(x, y):
    return TWO.replace("X", x).replace("Y", y)


def test_a_sound_policy_has_nothing_to_say(codes):
    assert codes(ATTRIBUTES + PRIVACY + PERTURB + RELEASE) == []


@pytest.mark.parametrize(
    ("role", "step", "survives"),
    [
        ("identifier", "{use: rename, with: {attributes: {id: key}}}", True),
        ("subject", "{use: rename, with: {attributes: {id: key}}}", True),
        ("identifier", "{use: pseudonymize, with: {attributes: [id], key_env: KEY}}", False),
        ("identifier", "{use: generalize, with: {attributes: {id: {prefix: 2}}}}", True),
        ("identifier", "{use: mask, with: {attributes: {id: {first: 2}}}}", True),
        ("identifier", "{use: assign_class_id, with: {attributes: [id], name: rank}}", True),
        ("identifier", "{use: assign_class_id, with: {attributes: [age], name: rank}}", False),
        ("identifier", "{use: drop, with: {attributes: [id]}}", False),
        ("identifier", "{use: shuffle_rows}", False),
    ],
)
def test_surviving_identifiers(codes, role, step, survives):
    text = ATTRIBUTES.replace("role: identifier", f"role: {role}")
    privacy = "" if role == "subject" else PRIVACY
    steps = f"steps:\n  x: {step}\n  p: {{use: fine_grain_perturbation}}\n" if privacy else f"steps:\n  x: {step}\n"
    assert ("PPF550" in codes(text + privacy + steps + RELEASE)) == survives


def test_a_suppressed_identifier_is_still_one(compiled, fakes):
    fakes.add("hide", Effect(changes={"id": Change.SUPPRESSED}))
    steps = "steps:\n  h: {use: hide}\n  p: {use: fine_grain_perturbation}\n"
    (found,) = [d for d in compiled(ATTRIBUTES + PRIVACY + steps + RELEASE).diagnostics if d.code == "PPF550"]
    assert found.severity is Severity.ERROR
    assert found.related[0].text == "declared here"


def test_sensitive_without_protection(compiled):
    privacy = "privacy:\n  k_anonymity: {k: 3}\n"
    (found,) = compiled(ATTRIBUTES + privacy + RELEASE).diagnostics
    assert (found.code, found.severity, found.span.line) == ("PPF551", Severity.WARNING, 7)


def test_a_sensitive_attribute_that_is_dropped_needs_none(codes):
    privacy = "privacy:\n  k_anonymity: {k: 3}\n"
    steps = "steps:\n  d: {use: drop, with: {attributes: [ill]}}\n"
    assert codes(ATTRIBUTES + privacy + steps + RELEASE) == []


def test_a_template_protects(codes):
    privacy = "privacy:\n  templates: {t: {channel: [age], sensitive: {ill: [hiv]}, confidence: 0.5}}\n"
    assert codes(ATTRIBUTES + privacy + RELEASE) == []


def test_quasi_identifiers_that_nothing_counts(codes, compiled):
    text = ATTRIBUTES.replace("  ill", "  job: {role: quasi_identifier}\n  ill")
    only = PRIVACY.replace("{k: 3}", "{k: 3, attributes: [age]}")
    found = list(compiled(text + only + PERTURB + RELEASE).diagnostics)
    assert [(d.code, d.severity) for d in found] == [("PPF552", Severity.WARNING)]
    assert "`job`" in found[0].message
    channel = only + "  templates: {t: {channel: [job], sensitive: {ill: [hiv]}, confidence: 0.5}}\n"
    assert codes(text + channel + PERTURB + RELEASE) == []


def test_a_renamed_attribute_is_still_covered(codes):
    steps = PERTURB + "  n: {use: rename, with: {attributes: {age: years, ill: diagnosis}}}\n"
    assert codes(ATTRIBUTES + PRIVACY + steps + RELEASE) == []


def test_a_sensitivity_without_perturbation(compiled):
    (found,) = compiled(ATTRIBUTES + PRIVACY + RELEASE).diagnostics
    assert (found.code, found.severity) == ("PPF553", Severity.WARNING)
    assert "withheld" in found.message


def test_perturbed_twice(compiled, fakes):
    fakes.add("noise", Effect(reads=("ill",), changes={"ill": Change.PERTURBED}), randomized=True)
    found = compiled(ATTRIBUTES + PRIVACY + PERTURB + "  q: {use: noise}\n" + RELEASE).diagnostics
    assert [(d.code, d.related[0].text) for d in found] == [("PPF554", "perturbed here")]


@pytest.mark.parametrize("change", [Change.GENERALIZED, Change.SUPPRESSED, Change.PSEUDONYMIZED, Change.OTHER])
def test_changed_after_the_perturbation(codes, fakes, change):
    fakes.add("edit", Effect(changes={"ill": change}))
    assert codes(ATTRIBUTES + PRIVACY + PERTURB + "  q: {use: edit}\n" + RELEASE) == ["PPF557"]
    before = "steps:\n  q: {use: edit}\n  p: {use: fine_grain_perturbation}\n"
    assert "PPF557" not in codes(ATTRIBUTES + PRIVACY + before + RELEASE)


def test_changed_after_renaming_the_perturbed(codes, fakes):
    fakes.add("edit", Effect(changes={"sick": Change.OTHER}))
    steps = PERTURB + "  n: {use: rename, with: {attributes: {ill: sick}}}\n  q: {use: edit}\n"
    assert codes(ATTRIBUTES + PRIVACY + steps + RELEASE) == ["PPF557"]


def test_two_draws(compiled):
    steps = "steps:\n  p: {use: fine_grain_perturbation}\n  q: {use: fine_grain_perturbation, input: source}\n"
    (found,) = compiled(ATTRIBUTES + PRIVACY + steps + two("p", "q")).diagnostics
    assert (found.code, found.severity) == ("PPF555", Severity.ERROR)


def test_one_draw_released_twice_is_fine(codes):
    steps = PERTURB + "  s: {use: sample, with: {fraction: 0.5}}\n"
    assert codes(ATTRIBUTES + PRIVACY + steps + two("p", "s")) == []


@pytest.mark.parametrize("truth", ["source", "g"])
def test_a_draw_and_the_truth(compiled, truth):
    steps = PERTURB + "  g: {use: generalize, input: source, with: {attributes: {ill: {prefix: 1}}}}\n"
    found = compiled(ATTRIBUTES + PRIVACY + steps + two("p", truth)).diagnostics
    assert "PPF556" in [d.code for d in found]
    (one,) = [d for d in found if d.code == "PPF556"]
    assert one.severity is Severity.ERROR
    assert one.span.line == 16


def test_a_draw_and_nothing(codes):
    steps = PERTURB + "  d: {use: drop, input: source, with: {attributes: [ill]}}\n"
    assert codes(ATTRIBUTES + PRIVACY + steps + two("p", "d")) == []


DECIDING = {
    "cells": "{use: suppress, with: {attributes: [age, BY], k: 5}}",
    "rows": "{use: suppress, with: {attributes: [BY], k: 5, small: rows}}",
    "exchanges": "{use: swap, with: {attributes: [age], within: [BY]}}",
    "ranks": "{use: rank_swap, with: {attributes: [age], within: [BY]}}",
    "records": "{use: swap_records, with: {areas: [age], key: [BY], similar: [[BY]]}}",
}


@pytest.mark.parametrize("way", DECIDING)
@pytest.mark.parametrize("before", ["", "  k: {use: assign_class_id, with: {attributes: [ill], name: code}}\n"])
def test_what_the_truth_decided_tells_of_it_beside_its_draw(codes, way, before):
    hidden = ATTRIBUTES + "  job: {role: quasi_identifier}\n"
    step = DECIDING[way].replace("BY", "code" if before else "ill")
    steps = f"steps:\n{before}  z: {step}\n" + "  p: {use: fine_grain_perturbation}\n"
    if before:
        steps += "  d: {use: drop, with: {attributes: [code]}}\n"
    assert "PPF556" in codes(hidden + PRIVACY + steps + RELEASE)


@pytest.mark.parametrize("way", DECIDING)
def test_what_another_attribute_decided_tells_nothing_of_it(codes, way):
    steps = f"steps:\n  z: {DECIDING[way].replace('BY', 'job')}\n  p: {{use: fine_grain_perturbation}}\n"
    assert "PPF556" not in codes(ATTRIBUTES + "  job: {role: quasi_identifier}\n" + PRIVACY + steps + RELEASE)


def test_rows_left_out_of_another_release_by_the_truth(codes):
    steps = (
        "steps:\n  p: {use: fine_grain_perturbation, input: source}\n"
        "  c: {use: suppress, input: source, with: {attributes: [BY], k: 5, small: rows}}\n"
        "  y: {use: drop, with: {attributes: [ill]}}\n"
    )
    assert "PPF556" in codes(ATTRIBUTES + PRIVACY + steps.replace("BY", "ill") + two("p", "y"))
    assert "PPF556" not in codes(ATTRIBUTES + PRIVACY + steps.replace("BY", "age") + two("p", "y"))


def test_a_domain_that_the_data_had_is_not_for_everybody(codes):
    stated = PRIVACY.replace("{tolerance: 3}", "{r1: 0.1, r2: 0.3}")
    public = "releases:\n  r: {path: r.csv, audience: public}\n"
    undeclared = ATTRIBUTES.replace(", domain: [flu, cold, hiv]", "")
    assert "PPF658" in codes(undeclared + stated + PERTURB + public)
    assert "PPF658" not in codes(undeclared + stated + PERTURB + RELEASE)
    assert "PPF658" not in codes(ATTRIBUTES + stated + PERTURB + public)


def test_decisions_by_noise(compiled):
    privacy = PRIVACY + "  templates: {t: {channel: [age], sensitive: {ill: [hiv]}, confidence: 0.5}}\n"
    after = PERTURB + "  s: {use: progressive_disclosure}\n"
    (found,) = compiled(ATTRIBUTES + privacy + after + RELEASE).diagnostics
    assert (found.code, found.severity) == ("PPF558", Severity.WARNING)
    before = "steps:\n  s: {use: progressive_disclosure}\n  p: {use: fine_grain_perturbation}\n"
    assert compiled(ATTRIBUTES + privacy + before + RELEASE).diagnostics == ()


def test_rows_in_the_sources_order(compiled):
    release = RELEASE.replace("path: r.csv", "path: r.csv, shuffle: false")
    (found,) = compiled(ATTRIBUTES + PRIVACY + PERTURB + release).diagnostics
    assert (found.code, found.severity) == ("PPF559", Severity.WARNING)
    assert compiled(ATTRIBUTES + PRIVACY + PERTURB + release).plan.releases[0].input == "p"


def test_a_public_release_with_values_in_the_report(codes):
    release = RELEASE.replace("path: r.csv", "path: r.csv, audience: public") + "report: {values: show}\n"
    assert codes(ATTRIBUTES + PRIVACY + PERTURB + release) == ["PPF646", "PPF560"]
    assert codes(ATTRIBUTES + PRIVACY + PERTURB + release.replace("public", "partner")) == []


def test_people_with_several_rows(codes):
    text = ATTRIBUTES.replace("role: identifier", "role: subject")
    steps = "steps:\n  d: {use: drop, with: {attributes: [id]}}\n  p: {use: fine_grain_perturbation}\n"
    people = "people: {known_rows: 1}\n"
    assert codes(text + people + PRIVACY + steps + RELEASE) == ["PPF561"]  # draws by row
    assert codes(text + "people: {unit: rows}\n" + PRIVACY + steps + RELEASE) == ["PPF561"]


def test_draws_of_a_person_need_its_subject(codes):
    text = ATTRIBUTES.replace("role: identifier", "role: subject")
    privacy = PRIVACY.replace("  k_anonymity: {k: 3}\n", "")
    first = "steps:\n  p: {use: fine_grain_perturbation}\n"
    assert "PPF561" not in codes(text + privacy + first + RELEASE)
    renamed = "steps:\n  n: {use: rename, with: {attributes: {id: who}}}\n  p: {use: fine_grain_perturbation}\n"
    assert "PPF561" not in codes(text + privacy + renamed + RELEASE)
    dropped = "steps:\n  d: {use: drop, with: {attributes: [id]}}\n  p: {use: fine_grain_perturbation}\n"
    assert "PPF561" in codes(text + privacy + dropped + RELEASE)
    assert "PPF561" not in codes(ATTRIBUTES + privacy + dropped + RELEASE)


def test_every_rule_has_a_sentence():
    assert all(rule.__doc__ for rule in RULES)
    assert len(set(RULES)) == len(RULES)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [("", ["PPF564"]), ("steps:\n  bare: {use: drop, with: {attributes: [basket]}}\n", [])],
)
def test_items_as_they_are_are_warned_of(codes, steps, expected):
    text = "attributes:\n  age: {role: quasi_identifier}\n  basket: {role: items}\nprivacy: {k_anonymity: {k: 3}}\n"
    head = "version: 1\nname: example\nsource: {path: t.parquet}\n"
    assert codes(text + steps + RELEASE.replace(".csv", ".parquet"), head=head) == expected


@pytest.mark.parametrize(("k", "expected"), [("5", []), ("3", ["PPF564"])])
def test_items_that_a_requirement_on_sets_is_kept_of_are_not(codes, k, expected):
    text = "attributes:\n  basket: {role: items}\nprivacy: {km_anonymity: {k: 5}}\nsteps:\n"
    step = f"  frequent: {{use: apriori_anonymization, with: {{k: {k}, by: [leave_out]}}}}\n"
    head = "version: 1\nname: example\nsource: {path: t.parquet}\n"
    assert codes(text + step + RELEASE.replace(".csv", ".parquet"), head=head) == expected


SETS = "attributes:\n  basket: {role: items}\n"
SETS_HEAD = "version: 1\nname: example\nsource: {path: t.dat}\n"


@pytest.mark.parametrize(
    ("path", "expected"), [("t.parquet", []), ("t.dat", ["PPF574"]), ("t.baskets", ["PPF574"]), ("t.csv", ["PPF571"])]
)
def test_randomized_sets_are_no_lines_of_text(codes, fakes, path, expected):
    fakes.add("noise", Effect(changes={"basket": Change.PERTURBED}), randomized=True, sets="column")
    release = f"releases:\n  r: {{path: {path}}}\n"
    found = codes(SETS + "steps:\n  n: {use: noise}\n" + release, head=SETS_HEAD)
    assert [c for c in found if c != "PPF526"] == expected


@pytest.mark.parametrize("effect", [Effect(reads=("basket",)), Effect(changes={"basket": Change.SUPPRESSED})])
@pytest.mark.parametrize("sets", ["", "column"])
def test_steps_on_values_are_given_no_sets(codes, fakes, effect, sets):
    fakes.add("edit", effect, sets=sets)
    release = RELEASE.replace(".csv", ".parquet")
    assert ("PPF573" in codes(SETS + "steps:\n  e: {use: edit}\n" + release, head=SETS_HEAD)) is (not sets)


@pytest.mark.parametrize(
    ("path", "attributes", "expected"),
    [
        ("t.dat", "basket: {role: items}", []),
        ("t.dat", "town: {role: insensitive}", ["PPF570"]),
        ("t.baskets", "{basket: {role: items}, town: {role: insensitive}}", ["PPF570"]),
        ("t.jsonl", "basket: {role: items}", ["PPF571"]),
        ("t.parquet", "{basket: {role: items}, town: {role: insensitive}}", []),
    ],
)
def test_what_files_of_sets_have(codes, path, attributes, expected):
    body = attributes if attributes.startswith("{") else f"{{{attributes}}}"
    text = f"attributes: {body}\n" + RELEASE.replace(".csv", ".parquet")
    found = codes(text, head=f"version: 1\nname: example\nsource: {{path: {path}}}\n")
    assert [c for c in found if c not in ("PPF526", "PPF564")] == expected


def test_text_of_sets_has_room_for_nothing_else(codes):
    text = "attributes: {basket: {role: items}, town: {role: insensitive}}\n"
    head = "version: 1\nname: example\nsource: {path: t.parquet}\n"
    release = "releases:\n  r: {path: r.baskets}\n"
    assert "PPF570" in codes(text + release, head=head)
    bare = "steps:\n  d: {use: drop, with: {attributes: [town]}}\n"
    assert "PPF570" not in codes(text + bare + release, head=head)
    bare = "steps:\n  d: {use: drop, with: {attributes: [basket]}}\n"
    assert "PPF570" in codes(text + bare + release, head=head)


@pytest.mark.parametrize(
    ("privacy", "source", "warned"),
    [
        ("{k_anonymity: {k: 3}}", "", True),
        ("{k_anonymity: {k: 3}}", ", incomplete_rows: drop", False),
        ("{sensitivities: {ill: {default: {tolerance: 3}}}}", "", False),
    ],
)
def test_rows_that_groups_leave_out_are_released(codes, privacy, source, warned):
    head = f"version: 1\nname: example\nsource: {{path: table.csv{source}}}\nnulls: exclude\n"
    text = ATTRIBUTES + f"privacy: {privacy}\n" + RELEASE
    assert ("PPF565" in codes(text, head=head)) is warned
    assert "PPF565" not in codes(text, head=head.replace("exclude", "wildcard"))


@pytest.mark.parametrize(
    ("privacy", "more", "refused"),
    [
        ("templates: {t: {channel: [age], sensitive: {ill: [hiv]}, confidence: 0.5}}", "", True),
        ("l_diversity: {ill: {l: 2}}", "", True),
        ("l_diversity: {ill: {l: 2, attributes: [sex]}}", "", False),  # age forms no group
        ("k_anonymity: {k: 3}", "", False),  # equal released rows stay equally likely
        ("l_diversity: {ill: {l: 2}}", "  d: {use: drop, with: {attributes: [ill]}}\n", False),
        ("l_diversity: {ill: {l: 2}}", "  d: {use: drop, with: {attributes: [age]}}\n", False),
    ],
)
@pytest.mark.parametrize("name", ["age", "years"])
def test_secrets_are_not_judged_on_groups_by_a_randomized_attribute(codes, privacy, more, refused, name):
    attributes = ATTRIBUTES.replace(", type: integer", "") + "  sex: {role: quasi_identifier}\n"
    rename = "  n: {use: rename, with: {attributes: {age: years}}}\n" if name == "years" else ""
    steps = f"steps:\n{rename}  p: {{use: pram, with: {{attribute: {name}, retain: 0.7}}}}\n{more.replace('age', name)}"
    assert ("PPF569" in codes(attributes + f"privacy:\n  {privacy}\n" + steps + RELEASE)) is refused
