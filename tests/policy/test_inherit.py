"""Templates, the merge rule, params and floors."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy import load, requirements_of

ORG = """\
params:
  k: {type: integer, default: 10, min: 2, max: 100}
owner: org
privacy: {k_anonymity: {k: "${params.k}"}}
"""


def k_of(loaded) -> int:
    assert loaded.policy is not None, loaded.diagnostics
    return loaded.policy.privacy.entries("k_anonymity")[""].k


def extending(start: str, entry: str) -> str:
    return start + f"extends: {entry}\n"


@pytest.mark.parametrize("entry", ["org.yaml", "[org.yaml]", "[./org.yaml]", "[{template: org.yaml}]"])
def test_a_template_is_inherited(read, start, codes, entry: str) -> None:
    loaded = read(extending(start, entry), {"org.yaml": ORG})
    assert codes(loaded) == []
    assert k_of(loaded) == 10
    assert loaded.policy.owner == "org"
    assert set(loaded.sources) == {"p.yaml", "org.yaml"}


def test_places_of_inherited_parts_are_in_the_template(read, start) -> None:
    loaded = read(extending(start, "org.yaml"), {"org.yaml": ORG})
    (requirement,) = requirements_of(loaded.policy, loaded.places)
    assert (requirement.span.file, requirement.span.line) == ("org.yaml", 4)


def test_values_for_params(read, start) -> None:
    assert k_of(read(extending(start, "[{template: org.yaml, with: {k: 7}}]"), {"org.yaml": ORG})) == 7


def test_the_command_line_goes_before_all(read, start) -> None:
    text = extending(start, "[{template: org.yaml, with: {k: 7}}]")
    assert k_of(read(text, {"org.yaml": ORG}, {"k": "9"})) == 9


def test_a_child_may_use_an_inherited_param(read, start, codes) -> None:
    text = extending(start, "[{template: org.yaml, with: {k: 7}}]") + "description: at least ${params.k}, ${params.k}\n"
    assert read(text, {"org.yaml": ORG}).policy.description == "at least 7, 7"


def test_a_child_may_declare_another_default(read, start) -> None:
    text = extending(start, "org.yaml") + "params: {k: {default: 12}}\n"
    assert k_of(read(text, {"org.yaml": ORG})) == 12


def test_a_redeclared_default_keeps_the_templates_range(read, start, codes) -> None:
    text = extending(start, "org.yaml") + "params: {k: {default: 1}}\n"
    loaded = read(text, {"org.yaml": ORG})
    assert set(codes(loaded)) == {"PPF306"}
    assert loaded.diagnostics[0].span.file == "p.yaml"


def test_values_pass_through_a_template_in_between(read, start) -> None:
    files = {"org.yaml": ORG, "mid.yaml": "extends: org.yaml\nnulls: wildcard\n"}
    loaded = read(extending(start, "[{template: mid.yaml, with: {k: 8}}]"), files)
    assert k_of(loaded) == 8
    assert loaded.policy.nulls == "wildcard"


def test_one_merge_rule(read, start) -> None:
    base = "attributes: {a: {role: sensitive, type: integer}, b: {role: sensitive}}\nsource: {missing: [x, y]}\n"
    text = extending(start, "base.yaml") + "source: {missing: [z]}\nprivacy: {k_anonymity: {k: 2}}\n"
    text = text.replace("attributes:\n", "attributes:\n  a: {role: quasi_identifier}\n  b: null\n")
    policy = read(text, {"base.yaml": base}).policy
    assert policy.attributes["a"].role == "quasi_identifier"
    assert policy.attributes["a"].type == "integer"
    assert "b" not in policy.attributes
    assert policy.source.missing == ("z",)


def test_later_templates_lie_over_earlier_ones(read, start) -> None:
    files = {"a.yaml": "owner: a\nnulls: exclude\n", "b.yaml": "owner: b\n"}
    policy = read(extending(start, "[a.yaml, b.yaml]"), files).policy
    assert (policy.owner, policy.nulls) == ("b", "exclude")


def test_a_diamond_is_no_circle(read, start, codes) -> None:
    files = {"base.yaml": ORG, "a.yaml": "extends: base.yaml\n", "b.yaml": "extends: base.yaml\n"}
    loaded = read(extending(start, "[a.yaml, b.yaml]"), files)
    assert codes(loaded) == []
    assert k_of(loaded) == 10


def test_a_template_used_twice_has_its_own_values(read, start) -> None:
    files = {"t.yaml": "params: {n: {}}\nattributes: {'x_${params.n}': {role: sensitive}}\n"}
    entry = "[{template: t.yaml, with: {n: one}}, {template: t.yaml, with: {n: two}}]"
    assert {"x_one", "x_two"} <= set(read(extending(start, entry), files).policy.attributes)


def test_a_circle_names_every_place(read, start, codes) -> None:
    files = {"a.yaml": "extends: b.yaml\n", "b.yaml": "extends: a.yaml\n"}
    loaded = read(extending(start, "a.yaml") + "privacy: {k_anonymity: {k: 2}}\n", files)
    assert codes(loaded) == ["PPF302"]
    (fault,) = loaded.diagnostics
    assert {fault.span.file, *(r.span.file for r in fault.related)} == {"a.yaml", "b.yaml", "p.yaml"}


def test_a_file_that_extends_itself(read, start, codes) -> None:
    assert "PPF302" in codes(read(extending(start, "p.yaml")))


def test_a_chain_of_more_than_sixteen_files(read, start, codes) -> None:
    files = {f"t{i}.yaml": f"extends: t{i + 1}.yaml\n" for i in range(20)} | {"t20.yaml": "owner: x\n"}
    assert codes(read(extending(start, "t0.yaml"), files)) == ["PPF313"]


def test_exponential_diamonds_end(read, start) -> None:
    files = {f"t{i}.yaml": f"extends: [t{i + 1}.yaml, t{i + 1}.yaml]\n" for i in range(14)} | {"t14.yaml": "owner: x\n"}
    loaded = read(extending(start, "t0.yaml"), files)
    assert loaded.policy is None
    assert [d.code for d in loaded.diagnostics] == ["PPF313"]


def test_a_missing_template_does_not_make_its_keys_missing(read, codes) -> None:
    loaded = read("version: 1\nname: a\nextends: orgg.yaml\n", {"org.yaml": ORG})
    assert codes(loaded) == ["PPF301"]
    assert loaded.diagnostics[0].hint == "did you mean `org.yaml`?"


def test_a_fault_in_a_template_is_drawn_there_with_the_way_to_it(read, start) -> None:
    files = {"a.yaml": "extends: b.yaml\n", "b.yaml": "undeclared: dorp\n"}
    (fault,) = [d for d in read(extending(start, "a.yaml"), files).diagnostics if d.code == "PPF205"]
    assert fault.span.file == "b.yaml"
    assert [r.span.file for r in fault.related] == ["a.yaml", "p.yaml"]


def test_a_template_that_is_no_yaml(read, start) -> None:
    (fault,) = [
        d for d in read(extending(start, "a.yaml"), {"a.yaml": "privacy: {a\n"}).diagnostics if d.code == "PPF104"
    ]
    assert fault.span.file == "a.yaml"
    assert fault.related[-1].span.file == "p.yaml"


def test_a_template_too_large(read, start, codes) -> None:
    assert "PPF101" in codes(read(extending(start, "a.yaml"), {"a.yaml": "#" * 1_000_001}))


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("builtin:nothing", "PPF301"),
        ("pkg:nothing/x", "PPF301"),
        ("pkg:../x", "PPF312"),
        ("https://x.example/t.yaml", "PPF312"),
        ("./sub", "PPF301"),
        ("/nowhere/at/all.yaml", "PPF301"),
    ],
)
def test_references_that_lead_nowhere(read, start, codes, reference: str, code: str) -> None:
    assert code in codes(read(extending(start, f"'{reference}'"), {"sub/t.yaml": "owner: x\n"}))


def test_required_params_are_reported_together(read, start) -> None:
    files = {"t.yaml": "params: {a: {}, b: {help: the b}, c: {default: x}}\nowner: ${params.a}${params.b}\n"}
    (fault,) = [d for d in read(extending(start, "t.yaml"), files).diagnostics if d.code == "PPF305"]
    assert "`a`, `b`" in fault.message
    assert fault.span.file == "p.yaml"
    assert fault.notes == ("`b`: the b",)


def test_required_params_of_a_template_in_between_fall_to_the_policy(read, start) -> None:
    files = {"org.yaml": "params: {who: {}}\nowner: ${params.who}\n", "mid.yaml": "extends: org.yaml\n"}
    assert read(extending(start, "[{template: mid.yaml, with: {who: me}}]"), files).policy.owner == "me"
    (fault,) = [d for d in read(extending(start, "mid.yaml"), files).diagnostics if d.code == "PPF305"]
    assert fault.span.file == "p.yaml"


def test_values_from_the_environment_are_used_and_never_quoted(read, start, monkeypatch) -> None:
    text = start + "params: {who: {from_env: PPDM_TEST_WHO, default: me}}\nowner: ${params.who}\n"
    assert read(text).policy.owner == "me"
    monkeypatch.setenv("PPDM_TEST_WHO", "canary-4711")
    assert read(text).policy.owner == "canary-4711"
    assert read(text).hidden == {("owner",)}
    text = text.replace("owner:", "undeclared:").replace("who: {", "who: {choices: [a, canary-4712], ")
    for fault in read(text).diagnostics:
        assert "canary-4711" not in repr(fault)
    text = start + "params: {who: {from_env: PPDM_TEST_WHO}}\nundeclared: ${params.who}\n"
    (fault,) = [d for d in read(text).diagnostics if d.code == "PPF205"]
    assert "canary-4711" not in repr(fault)
    assert "PPDM_TEST_WHO" in fault.notes[0]


def test_rules_do_not_quote_the_environment_either(read, start, monkeypatch) -> None:
    monkeypatch.setenv("PPDM_TEST_WHO", "/canary-4713/x")
    text = (
        start + "params: {who: {from_env: PPDM_TEST_WHO}}\nreleases: {a: {path: '${params.who}', '${params.who}': 1}}\n"
    )
    text = text.replace("releases:\n  study: {path: study.csv}\n", "")
    text += "privacy: {k_anonymity: {k: 2, attributes: ['${params.who}', job]}}\nextends: '${params.who}'\n"
    loaded = read(text)
    assert {"PPF201", "PPF301", "PPF516"} <= {d.code for d in loaded.diagnostics}
    assert "canary-4713" not in repr(loaded.diagnostics)


@pytest.mark.parametrize(
    ("declaration", "value", "good"),
    [
        ("type: integer", "5", True),
        ("type: integer", "5.0", True),
        ("type: integer", "5.5", False),
        ("type: integer", "five", False),
        ("type: float", "1e-3", True),
        ("type: float", "nan", False),
        ("type: float", "inf", False),
        ("type: float, min: 0, max: 1", "0.5", True),
        ("type: float, min: 0, max: 1", "1.01", False),
        ("type: boolean", "true", True),
        ("type: boolean", "yes", False),
        ("choices: [a, b]", "a", True),
        ("choices: [a, b]", "c", False),
        ("min: 3", "anything", True),
    ],
)
def test_typed_params(read, start, codes, declaration: str, value: str, good: bool) -> None:
    loaded = read(start + f"params: {{x: {{{declaration}}}}}\ndescription: '${{params.x}}'\n", sets={"x": value})
    assert ("PPF306" not in codes(loaded)) == good
    if not good:
        assert any("--set x" in n for d in loaded.diagnostics for n in d.notes)


def test_a_default_out_of_range_is_drawn_at_the_default(read, start) -> None:
    loaded = read(start + "params: {x: {type: integer, min: 5, default: 3}}\ndescription: '${params.x}'\n")
    (fault,) = [d for d in loaded.diagnostics if d.code == "PPF306"]
    line = loaded.sources["p.yaml"].splitlines()[fault.span.line - 1]
    assert line[fault.span.column - 1 : fault.span.end_column - 1] == "3"


def test_a_fault_in_a_substituted_value_shows_use_and_origin(read, start) -> None:
    text = start + "params: {k: {default: one}}\nprivacy: {k_anonymity: {k: '${params.k}'}}\n"
    (fault,) = read(text).diagnostics
    assert fault.code == "PPF203"
    lines = text.splitlines()
    assert "k_anonymity" in lines[fault.span.line - 1]
    assert "params:" in lines[fault.related[0].span.line - 1]


def test_unknown_params_on_the_command_line(read, start) -> None:
    loaded = read(start + "params: {kk: {default: x}}\n", sets={"k": "5"})
    (fault,) = [d for d in loaded.diagnostics if d.code == "PPF310"]
    assert fault.hint == "did you mean `kk`?"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a $${params.x} b", "a ${params.x} b"),
        ("${params.x}-${params.x}", "X-X"),
        ("${ params.x }", "X"),
        ("$x {y}", "$x {y}"),
    ],
)
def test_interpolation(read, start, text: str, value: str) -> None:
    loaded = read(start + f"params: {{x: {{default: X}}}}\ndescription: '{text}'\n")
    assert loaded.policy.description == value


@pytest.mark.parametrize("text", ["${x}", "${env.HOME}", "${params.y}", "${}", "${params.}"])
def test_references_to_nothing(read, start, codes, text: str) -> None:
    loaded = read(start + f"params: {{x: {{default: X}}}}\nundeclared: '{text}'\n")
    assert [c for c in codes(loaded) if c != "PPF526"] == ["PPF304"]


def test_values_are_not_substituted_again(read, start) -> None:
    loaded = read(
        start + "params: {x: {default: a}, y: {default: b}}\ndescription: ${params.x}\n", sets={"x": "${params.y}"}
    )
    assert loaded.policy.description == "${params.y}"


def test_keys_that_become_the_same(read, start, codes) -> None:
    text = start + "params: {n: {default: job}}\nsource: {with: {'${params.n}': 1, job: 2}}\n"
    assert "PPF107" in codes(read(text))


OPEN = "{channel: [job], sensitive: {disease: [a]}, confidence:"
FLOORED = "floors: {privacy.k_anonymity.k: '>= 5', privacy.templates.*.confidence: '<= 0.8'}\n"


@pytest.mark.parametrize(
    ("privacy", "violations"),
    [
        ("privacy: {k_anonymity: {k: 5}}", 0),
        ("privacy: {k_anonymity: {k: 4}}", 1),
        ("privacy: {k_anonymity: null}", 1),
        ("privacy: null", 1),
        ("floors: null\nprivacy: {k_anonymity: {k: 4}}", 1),
        ("floors: {privacy.k_anonymity.k: '>= 2'}\nprivacy: {k_anonymity: {k: 4}}", 1),
        (f"privacy: {{k_anonymity: {{k: 5}}, templates: {{t: {OPEN} 0.9}}}}}}", 1),
        (f"privacy: {{k_anonymity: {{k: 5}}, templates: {{t: {OPEN} 0.8}}}}}}", 0),
    ],
)
def test_no_child_goes_below_a_floor(read, start, codes, privacy: str, violations: int) -> None:
    files = {"org.yaml": FLOORED + "privacy: {k_anonymity: {k: 6}}\n"}
    loaded = read(extending(start, "org.yaml") + privacy + "\n", files)
    assert codes(loaded).count("PPF308") == violations
    for fault in loaded.diagnostics:
        if fault.code == "PPF308":
            assert {fault.span.file, *(r.span.file for r in fault.related)} == {"p.yaml", "org.yaml"}


def test_no_set_goes_below_a_floor(read, start, codes) -> None:
    files = {"org.yaml": "floors: {privacy.k_anonymity.k: '>= 5'}\n" + ORG}
    loaded = read(extending(start, "org.yaml"), files, {"k": "3"})
    assert "PPF308" in codes(loaded)


def test_floors_hold_over_two_generations(read, start, codes) -> None:
    files = {"org.yaml": FLOORED + "privacy: {k_anonymity: {k: 6}}\n", "mid.yaml": "extends: org.yaml\nfloors: null\n"}
    assert "PPF308" in codes(read(extending(start, "mid.yaml") + "privacy: {k_anonymity: {k: 4}}\n", files))


@pytest.mark.parametrize(
    ("child", "code"),
    [("jobb: null", "PPF311"), ("job: null", None)],
)
def test_null_deletes_what_is_inherited(read, start, codes, child: str, code: str | None) -> None:
    text = f"version: 1\nname: a\nextends: base.yaml\nattributes: {{{child}}}\nprivacy: {{k_anonymity: {{k: 2}}}}\n"
    base = start.replace("name: test\n", "")
    loaded = read(text, {"base.yaml": base})
    assert codes(loaded) == ([code] if code else [])
    assert ("job" in loaded.policy.attributes) == (code is not None)


def test_null_without_a_template_is_a_forgotten_value(read, start, codes) -> None:
    loaded = read(start + "privacy:\n  k_anonymity:\nowner:\n")
    assert codes(loaded) == ["PPF210", "PPF210"]
    assert loaded.policy is None


def test_paths_of_a_template_are_meant_from_its_folder(read, start) -> None:
    base = "source: {path: data/x.csv}\n"
    base += "attributes: {job: {hierarchy: {csv: ../h/job.csv}}, city: {hierarchy: {csv: /h.csv}}}\n"
    policy = read(extending(start, "lib/t/base.yaml"), {"lib/t/base.yaml": base}).policy
    assert policy.source.path == "lib/t/data/x.csv"
    assert policy.attributes["job"].hierarchy.csv == "lib/h/job.csv"
    assert policy.attributes["city"].hierarchy.csv == "/h.csv"


def test_packaged_templates(read, start, codes, tmp_path: Path, monkeypatch) -> None:
    site = tmp_path / "site"
    (site / "acme_policies").mkdir(parents=True)
    (site / "acme_policies" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (site / "acme_policies" / "hospital.yaml").write_text("privacy: {k_anonymity: {k: 11}}\n")
    info = site / "acme_policies-1.4.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-policies\nVersion: 1.4.2\n")
    (info / "entry_points.txt").write_text("[ppdm_flow.templates]\nhospital = acme_policies\n")
    monkeypatch.syspath_prepend(str(site))
    for reference in (
        "pkg:acme-policies/hospital",
        "pkg:acme_policies/hospital@1.4",
        "pkg:Acme.Policies/hospital@1.4.2",
    ):
        loaded = read(extending(start, f"'{reference}'"))
        assert codes(loaded) == []
        assert k_of(loaded) == 11
    loaded = read(extending(start, "pkg:acme-policies/hospitl"))
    assert loaded.diagnostics[0].hint == "did you mean `hospital`?"
    assert "1.4.2" in read(extending(start, "'pkg:acme-policies/hospital@2'")).diagnostics[0].message


def test_the_digest_is_of_what_holds(read, start) -> None:
    plain = read(start + "privacy: {k_anonymity: {k: 10}}\nowner: org\n").digest
    assert read("# a comment\n" + start + "owner: org\nprivacy:\n  k_anonymity:\n    k: '10'\n").digest == plain
    assert read(extending(start, "org.yaml"), {"org.yaml": ORG}).digest == plain
    assert read(extending(start, "org.yaml"), {"org.yaml": ORG}, {"k": "11"}).digest != plain


def test_a_policy_in_another_folder(tmp_path: Path, start) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "org.yaml").write_text(ORG)
    file = tmp_path / "policies" / "p.yaml"
    file.write_text(extending(start, "../org.yaml"))
    loaded = load(file)
    assert k_of(loaded) == 10
    assert str(tmp_path / "org.yaml") in loaded.sources


BLEND = "privacy: {blend: {min_support: {count: 20}, max: 0.1}}\n"


def test_a_child_may_give_a_support_in_another_unit(read, start, codes) -> None:
    """Maps merge, so the other unit has to be taken back; a bare number replaces both."""
    files = {"org.yaml": BLEND}
    for written, meant in (
        ("0.02", SupportBound(ratio=0.02)),
        ("{count: null, ratio: 0.02}", SupportBound(ratio=0.02)),
        ("{count: 30}", SupportBound(count=30)),
    ):
        text = extending(start, "org.yaml") + f"privacy: {{blend: {{min_support: {written}}}}}\n"
        loaded = read(text, files)
        assert codes(loaded) == []
        assert loaded.policy.privacy.entries("blend")[""].min_support == meant
        assert loaded.policy.privacy.entries("blend")[""].max == 0.1
    both = read(extending(start, "org.yaml") + "privacy: {blend: {min_support: {ratio: 0.02}}}\n", files)
    assert codes(both) == ["PPF529"]


def test_floors_on_generated_data(read, start, codes) -> None:
    floors = "floors: {privacy.blend.min_support.count: '>= 10', privacy.anonymity_score.max: '<= 0.5'}\n"
    files = {"org.yaml": floors + BLEND + "params: {nas: {type: float, default: 0.4}}\n"}
    files["org.yaml"] = files["org.yaml"].replace("max: 0.1}}", "max: 0.1}, anonymity_score: {max: '${params.nas}'}}")
    assert codes(read(extending(start, "org.yaml"), files)) == []
    for weaker in ("blend: {min_support: {count: 5}}", "blend: {min_support: 0.001}", "anonymity_score: {max: 0.6}"):
        assert codes(read(extending(start, "org.yaml") + f"privacy: {{{weaker}}}\n", files)) == ["PPF308"]
