"""Requirements of another package: wherever a policy, a run or a person meets them, they are like built-in ones.

One is on classes of rows (p-sensitive k-anonymity), one is on words, and neither is known to the program.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
POLICY = """version: 1
name: clinic
source: {path: clinic.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  disease: {role: sensitive}
  note: {role: insensitive}
privacy:
  acme_p_sensitive: {p: 3, k: 10}
  acme_rare_words: {note: {max: 0.05, min_count: 3}}
releases: {study: {path: study.csv}}
"""
P_LINE = "  acme_p_sensitive: {p: 3, k: 10}\n"
NOTES = ("feels well today", "needs more rest", "pain in the knee", "no change at all")
ILLS = tuple(word[::-1] for word in ("asohcys", "sitinolp", "amevurg", "sisotlez"))
HOSPITAL = """privacy:
  acme_p_sensitive: {p: 3, k: 10}
floors:
  privacy.acme_p_sensitive.k: ">= 10"
  privacy.acme_rare_words.note.max: "<= 0.02"
"""
WAIVED = """waivers:
  names: {of: privacy.acme_rare_words.note, until: %s, owner: ann@example.org, reason: these are the doctors}
"""
TESTS = """policy: policy.yaml
data: {csv: clinic.csv}
tests:
  alike: {expect: {verdict: released, metrics: {privacy.acme_p_sensitive.k: 20}}}
  few-values:
    expect: {verdict: withheld}
    set: {}
"""


def table(rare=4, values=4):
    """A table of 10 classes with 20 rows and ``values`` values each; ``rare`` notes have words of their own."""
    rows = []
    for i in range(200):
        note = f"met Xa{i} Ya{i}" if i % 50 == 7 and rare > i // 50 else NOTES[i % 4]
        rows.append(f"{20 + i % 5},{('east', 'west')[i % 2]},{ILLS[i // 10 % values]},{note}")
    random.Random(5).shuffle(rows)
    return "\n".join(["age,town,disease,note", *rows, ""])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "clinic.csv").write_text(table())
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def flow(acme, forked, folder):
    """Run `ppdm-flow` in the folder of the policy, where the plugin is installed; returns exit status and output."""

    def run(*words, env=acme):
        done = forked("-m", "ppdm_flow", *words, env=env, check=False, cwd=folder)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    return run


def changed(folder, *pairs, name="other.yaml"):
    text = POLICY
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (folder / name).write_text(text)
    return name


def report(folder):
    (run,) = (folder / "runs").glob("*/*/report.json")
    return json.loads(run.read_text())


@pytest.mark.slow
def test_a_policy_can_ask_for_them(flow):
    assert flow("check", "policy.yaml") == (0, "1 policy checked: 0 errors, 0 warnings\n")
    status, text = flow("plan", "policy.yaml")
    assert (status, "k ≥ 10, p ≥ 3; rare words of note ≤ 0.05" in text) == (0, True)
    assert "k ≥ 10, p ≥ 3" in flow("plan", "policy.yaml", "--format", "svg")[1]
    status, text = flow("plan", "policy.yaml", "--format", "json")
    kinds = {r["kind"]: r for r in json.loads(text)["requirements"]}
    assert kinds["acme_p_sensitive"]["attributes"] == ["age", "town"]
    assert (kinds["acme_p_sensitive"]["sensitive"], kinds["acme_rare_words"]["max"]) == (["disease"], 0.05)


def test_what_keeps_them_is_released_and_verified(flow, folder):
    status, text = flow("run", "policy.yaml", "--out", "runs")
    assert (status, "3 requirements hold" in text) == (0, True)
    found = report(folder)
    metrics = {name: figure["value"] for name, figure in found["metrics"].items()}
    assert metrics["privacy.acme_p_sensitive.k"] == 20
    assert metrics["privacy.acme_p_sensitive.disease.p"] == 4
    assert metrics["privacy.acme_rare_words.note.rare"] == 0.02
    assert all(result.get("verified", True) for result in found["requirements"])  # by the second route, too
    (run,) = (folder / "runs").glob("clinic/*")
    assert flow("verify", str(run), "--data", "clinic.csv")[0] == 0


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("old", "new", "broken"),
    [
        ("p: 3", "p: 5", "privacy.acme_p_sensitive"),
        ("k: 10", "k: 21", "privacy.acme_p_sensitive"),
        ("max: 0.05", "max: 0.01", "privacy.acme_rare_words.note"),
    ],
)
def test_what_breaks_them_is_withheld(flow, folder, old, new, broken):
    status, text = flow("run", changed(folder, (old, new)), "--out", "runs")
    assert (status, "WITHHELD" in text) == (1, True)
    failed = [r for r in report(folder)["requirements"] if not r["holds"]]
    assert [r["id"] for r in failed] == [broken]
    assert not list((folder / "runs").rglob("released"))
    assert not any(ill in text for ill in ILLS)


def test_mirror_images_are_released(flow, folder):
    """The same tables without what broke the bound: notes that many have, and one value more."""
    (folder / "clinic.csv").write_text(table(rare=0))
    assert flow("run", changed(folder, ("max: 0.05", "max: 0")), "--out", "runs")[0] == 0


def test_a_class_of_one_value_is_withheld(flow, folder):
    (folder / "clinic.csv").write_text(table(values=1))
    assert flow("run", changed(folder, ("p: 3", "p: 2")), "--out", "runs")[0] == 1


@pytest.mark.slow
def test_a_step_that_makes_classes_enforces_what_it_has_never_heard_of(flow, folder):
    name = changed(folder, ("k: 10", "k: 30"), ("releases:", "steps: {classes: {use: mondrian}}\nreleases:"))
    assert "for privacy.acme_p_sensitive" in flow("plan", name)[1]
    status, text = flow("run", name, "--out", "runs")
    assert status == 0, text
    assert report(folder)["metrics"]["privacy.acme_p_sensitive.k"]["value"] >= 30


@pytest.mark.slow
def test_gates_bound_their_figures(flow, folder):
    gates = "gates: {few: {metric: privacy.acme_rare_words.note.rare_cells, max: %d}}\nreleases:"
    assert flow("run", changed(folder, ("releases:", gates % 4)), "--out", "a")[0] == 0
    assert flow("run", changed(folder, ("releases:", gates % 3)), "--out", "b")[0] == 1


def test_templates_floor_them(flow, folder):
    (folder / "hospital.yaml").write_text(HOSPITAL)
    extends = ("privacy:", "extends: hospital.yaml\nprivacy:")
    assert flow("check", changed(folder, extends, ("max: 0.05", "max: 0.02")))[0] == 0
    status, text = flow("check", changed(folder, extends, ("k: 10", "k: 9")))
    assert (status, text.count("error[PPF308]")) == (1, 2)
    assert "`privacy.acme_p_sensitive.k` must be at least 10; it is 9" in text
    assert "`privacy.acme_rare_words.note.max` must be at most 0.02; it is 0.05" in text


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("named", "codes"),
    [("[disease, note]", 0), ("[note, disease, age]", 0), ("[disease]", 1), ("null", 1)],
)
def test_of_lists_that_they_mark_more_is_stricter(flow, folder, named, codes):
    """The kind marks its list of protected attributes with `MORE`: floors let an heir add, and not take out."""
    parent = "privacy:\n  acme_p_sensitive: {p: 3, k: 10, sensitive: [disease, note]}\nfloors:\n  privacy: not weaker\n"
    (folder / "hospital.yaml").write_text(parent)
    heir = changed(folder, ("privacy:", "extends: hospital.yaml\nprivacy:"), ("k: 10}", f"k: 10, sensitive: {named}}}"))
    text = flow("check", heir)[1]
    assert text.count("error[PPF308]") == codes


@pytest.mark.slow(quick=4)
@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([("p: 3", "p: 4")], "STRICTER"),
        ([("k: 10", "k: 9")], "WEAKER"),
        ([("max: 0.05", "max: 0.01")], "STRICTER"),
        ([("min_count: 3", "min_count: 2")], "WEAKER"),
        ([("p: 3", "p: 4"), ("max: 0.05", "max: 0.06")], "INCOMPARABLE"),
        ([("max: 0.05", "max: 0.01"), ("min_count: 3", "min_count: 2")], "INCOMPARABLE"),
        # what it promises is what two built-in kinds promise together, and the rules of these say so
        ([(P_LINE, "  k_anonymity: {k: 10}\n  l_diversity: {disease: {l: 3}}\n")], "EQUAL:"),
    ],
)
def test_policies_are_compared(flow, folder, pairs, verdict):
    text = flow("diff", "policy.yaml", changed(folder, *pairs))[1]
    assert verdict in text


@pytest.mark.slow
def test_they_are_swept(flow):
    over = ["--over", "privacy.acme_p_sensitive.p=2,5", "--over", "privacy.acme_rare_words.note.max=0.01,0.05"]
    status, text = flow("sweep", "policy.yaml", *over, "--out", "sweeps")
    assert (status, "rare: privacy.acme_rare_words.note.rare, smaller is better" in text) == (0, True)
    assert "withheld because of: privacy.acme_p_sensitive, privacy.acme_rare_words.note" in text


@pytest.mark.slow
def test_policy_tests_expect_them(flow, folder):
    (folder / "clinic.test.yaml").write_text(TESTS.partition("  few-values")[0])
    assert flow("test", "clinic.test.yaml")[0] == 0
    (folder / "clinic.test.yaml").write_text(TESTS.partition("  few-values")[0].replace(": 20", ": 21"))
    assert flow("test", "clinic.test.yaml")[0] == 1


@pytest.mark.slow
def test_they_are_waived_with_leave_alone(flow, folder):
    waivers = ("releases:", WAIVED % "2099-01-01" + "releases:")
    name = changed(folder, ("max: 0.05", "max: 0.01"), waivers)
    assert "PPF335" in flow("check", name)[1]
    from datetime import UTC, datetime, timedelta

    until = (datetime.now(UTC) + timedelta(days=20)).date()
    (folder / "leave.yaml").write_text("floors: {waivers.privacy: allowed}\n")
    extends = ("privacy:\n", "extends: leave.yaml\nprivacy:\n")
    name = changed(folder, ("max: 0.05", "max: 0.01"), ("releases:", WAIVED % until + "releases:"), extends)
    status, text = flow("run", name, "--out", "runs")
    assert (status, "RELEASED UNDER WAIVERS" in text) == (0, True)


def test_they_are_locked(flow, folder):
    status, text = flow("lock", "policy.yaml")
    assert (status, "audits/acme_p_sensitive: acme-rounding 2.1.0" in text) == (0, True)
    assert flow("lock", "policy.yaml", "--check")[0] == 0


@pytest.mark.slow
def test_they_are_listed_and_explained(flow):
    text = " ".join(flow("list", "requirements")[1].split())  # columns are as wide as the longest name
    for part in (
        "acme_p_sensitive everybody is one of at least",
        "Truta, Vinay",
        "acme-rounding 2.1.0",
        "k_anonymity",
    ):
        assert part in text
    cards = json.loads(flow("list", "requirements", "--format", "json")[1])
    assert {"name": "acme_rare_words", "kind": "requirement"}.items() <= cards[1].items()
    page = flow("explain", "acme_rare_words")[1]
    assert page.startswith("# acme_rare_words\n\nAt most the share `max`")
    for heading in ("Why it matters", "Formula", "Reference", "Example", "Not so", "What to do"):
        assert f"## {heading}\n" in page
    page = flow("explain", "min_count")[1]
    assert "`min_count` of `acme_rare_words`: a word of fewer rows of the original than this is rare." in page
    assert "```yaml\nmin_count: 5\n```" in page
    assert "released cells with a rare word" in flow("explain", "privacy.acme_rare_words.note.rare")[1]
    assert "`acme_p_sensitive`" in flow("explain")[1]
    assert "ok    requirement acme_p_sensitive: of acme-rounding 2.1.0" in flow("doctor")[1]


def test_the_schema_has_them_only_where_it_is_asked_for_what_is_installed(flow):
    published = json.loads(flow("schema", "policy")[1])
    installed = json.loads(flow("schema", "policy", "--installed")[1])
    assert "acme" not in json.dumps(published)
    added = set(installed["definitions"]) - set(published["definitions"])
    assert {name.partition(".")[0] for name in added} == {"PSensitive", "RareWords"}
    fields = installed["definitions"]["RareWords"]["properties"]
    assert fields["min_count"]["description"] == "A word of fewer rows of the original than this is rare."
    assert fields["min_count"]["examples"] == [5]
    entry = installed["definitions"]["Privacy"]["properties"]["acme_p_sensitive"]
    assert entry["examples"] == [{"p": "3", "k": "5"}]
    assert flow("schema", "plan", "--installed")[0] == 2


@pytest.mark.slow
def test_the_plan_of_one_fits_the_published_schema(flow):
    jsonschema = pytest.importorskip("jsonschema")
    plan = json.loads(flow("plan", "policy.yaml", "--format", "json")[1])
    schema = json.loads(flow("schema", "plan")[1])
    jsonschema.validate(plan, schema)


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("acme_p_sensitive:", "acme_p_sensitve:", "^^^^^^^^^^^^^^^ did you mean `acme_p_sensitive`?"),
        ("acme_p_sensitive:", "bobs_kind:", "`ppdm-flow list requirements` shows what is installed"),
        ("k: 10", "kk: 10", "^^ did you mean `k`?"),
        ("p: 3", "p: 1", "`p` of `acme_p_sensitive` must be a whole number of at least 2, not `1`"),
        ("k: 10", "k: 10, attributes: [agee]", "did you mean `age`?"),
        ("disease: {role: sensitive}", "disease: {role: insensitive}", "ACME11"),
        ("max: 0.05", "max: 1", "ACME20"),
        ("note: {max", "nota: {max", "did you mean `note`?"),
    ],
)
def test_what_is_wrong_is_drawn_at_its_place(flow, folder, old, new, told):
    status, text = flow("check", changed(folder, (old, new)))
    assert (status, told in text, "^" in text) == (1, True, True), text


def test_what_cannot_hold_is_foreseen(flow, folder):
    text = flow("check", changed(folder, ("p: 3", "p: 5")), "--data", "clinic.csv")[1]
    assert "ACME13" in text


@pytest.mark.slow
def test_where_it_is_no_longer_installed_old_runs_can_still_be_read(flow, folder):
    assert flow("run", "policy.yaml", "--out", "runs")[0] == 0
    (run,) = (folder / "runs").glob("clinic/*")
    plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    assert flow("report", str(run), env=plain)[0] == 0
    assert flow("verify", str(run), env=plain)[0] == 0
    status, text = flow("check", "policy.yaml", env=plain)
    assert (status, text.count("error[PPF201]")) == (1, 2)
    assert "acme_p_sensitive: {p: 3, k: 10}\n" in text


@pytest.fixture(scope="module")
def unsound(install):
    return install("acme_plugin", "broken_plugin", "clashing_plugin")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("broken_kind", "PPF403"),
        ("no_kind", "PPF404"),
        ("wrong_kind", "PPF404"),
        ("raising_judge", "PPF405"),
        ("raising_bind", "PPF405"),
        ("km_anonymity", "PPF402"),
        ("acme_rare_words", "PPF402"),
    ],
)
def test_a_kind_that_cannot_be_used_is_told_at_its_place(flow, folder, unsound, kind, code):
    text = POLICY.partition("  acme_p_sensitive")[0] + f"  {kind}: {{k: 2}}\nreleases: {{study: {{path: study.csv}}}}\n"
    (folder / "policy.yaml").write_text(text)
    for verb in ("check", "plan", "run"):
        status, told = flow(verb, "policy.yaml", env=unsound)
        assert (status, f"error[{code}]" in told) == (1 if verb == "check" else 2, True), told
        assert f"10 |   {kind}: {{k: 2}}\n   |   {'^' * len(kind)}" in told
        assert "secret value" not in told


def test_what_raises_later_is_told_as_its_fault(flow, folder, unsound):
    for kind in ("raising_words", "raising_order"):
        (folder / f"{kind}.yaml").write_text(
            POLICY.partition("  acme_p_sensitive")[0]
            + f"  {kind}: {{k: 2}}\n"
            + "releases: {study: {path: study.csv}}\n"
        )
    (folder / "later.yaml").write_text((folder / "raising_order.yaml").read_text().replace("k: 2", "k: 3"))
    for words in (["plan", "raising_words.yaml"], ["diff", "raising_order.yaml", "later.yaml"]):
        status, told = flow(*words, env=unsound)
        assert (status, "PPF405" in told, "secret value" in told) == (2, True, False), told


@pytest.mark.slow
def test_others_still_work_where_some_cannot_be_used(flow, folder, unsound):
    (folder / "policy.yaml").write_text(
        POLICY.replace("  acme_rare_words: {note: {max: 0.05, min_count: 3}}\n", "  k_anonymity: {k: 2}\n")
    )
    assert flow("check", "policy.yaml", env=unsound)[0] == 0
    told = flow("doctor", env=unsound)[1]
    for kind in ("broken_kind", "no_kind", "wrong_kind", "km_anonymity", "acme_rare_words"):
        assert f"FAULT requirement {kind}:" in told
    assert "ok    requirement acme_p_sensitive" in told
    assert flow("explain", "k_anonymity", env=unsound)[0] == 0
    assert flow("list", "requirements", env=unsound)[0] == 0
    assert flow("schema", "policy", "--installed", env=unsound)[0] == 2
