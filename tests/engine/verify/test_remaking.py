"""Verifying a run with its data: its releases made again by its own steps, and what nobody can make again."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.verify.verify import verify

HEAD = """version: 1
name: ward
source: {path: ward.csv}
attributes:
  person: {role: identifier}
  town: {role: quasi_identifier}
  sex: {role: quasi_identifier}
  illness: {role: sensitive}
  score: {role: insensitive}
privacy:
  k_anonymity: {k: 2}
  l_diversity: {illness: {l: 2, kind: distinct}}
"""
RECODE = (
    "  short: {use: recode, with: {attributes: {illness: {values: {HIV: viral, flu: viral}, keep_others: true}}}}\n"
)
IDS = "  ids: {use: assign_class_id, with: {attributes: [town, illness], name: cohort}}\n"
NO_ILLNESS = "  less: {use: drop, with: {attributes: [illness]}}\n"
RARE = "  rare: {use: suppress, with: {rare: {illness: 7}, small: keep}}\n"
NOISE = "  noise: {use: swap, with: {attributes: [score]}}\n"
SEED = "randomness: {mode: reproducible, seed: ward}\n"
KEYED = "  named: {use: pseudonymize, with: {attributes: [person], key_env: WARD_KEY}}\n"
ONE = "releases: {study: {path: study.csv}}\n"
RELEASES_AS_MIXED = (
    "releases: {a: {from: towns, path: a.csv, shuffle: false}, b: {from: sexes, path: b.csv, shuffle: false}}\n"
)
SAME_ROWS = "release `study`: its steps, carried out again, make the same rows, whose order is drawn"


@dataclass
class Ward:
    folder: Path

    def run(self, steps: str, releases: str = ONE, head: str = HEAD) -> Path:
        (self.folder / "ward.yaml").write_text(head + ("steps:\n" + steps if steps else "") + releases)
        ran = api.run(self.folder / "ward.yaml", out=self.folder / "runs")
        assert ran.released, [(r.id, r.measured) for r in ran.report.requirements]
        return ran.run_dir

    def verify(self, run: Path, data: str = "ward.csv", **given):
        return api.verify(run, self.folder / data, **given)

    @property
    def temporary(self) -> list[Path]:
        return list((self.folder / "temporary").iterdir())


@pytest.fixture
def ward(tmp_path, monkeypatch):
    ills = ("HIV", "flu", "cold", "cough", "HIV", "flu", "cold", "cough", "fever")
    people = [(t, s, ill) for t in "ab" for s in "xy" for ill in ills for _ in range(2)]
    lines = [f"p{i},{t},{s},{ill},{i % 3}" for i, (t, s, ill) in enumerate(people)]
    (tmp_path / "ward.csv").write_text("\n".join(["person,town,sex,illness,score", *lines, ""]))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    home = Ward(tmp_path)
    yield home
    assert home.temporary == []


def rewrite(run: Path, name: str, change) -> None:
    """Change a file of a run, and the manifest with it."""
    file = run / name
    file.write_text(change(file.read_text()))
    found = json.loads((run / "manifest.json").read_text())
    found["files"][name] = {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    (run / "manifest.json").write_text(json.dumps(found))


def exchanged(column: int):
    """Exchange a cell of the first row with that of the first row of another town and value."""

    def change(text: str) -> str:
        rows = [line.split(",") for line in text.splitlines()]
        other = next(r for r in rows[2:] if r[0] != rows[1][0] and r[column] != rows[1][column])
        rows[1][column], other[column] = other[column], rows[1][column]
        return "".join(",".join(r) + "\n" for r in rows)

    return change


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("steps", "requirements"),
    [
        (RECODE, 2),
        (IDS + NO_ILLNESS, 4),  # what ids reveal of towns and illnesses is measured besides
        (RARE, 2),
        (RECODE + IDS.replace("illness", "sex"), 2),
        (RECODE + "  mix: {use: shuffle_rows}\n", 2),
    ],
)
def test_columns_that_steps_changed_are_measured_with_their_rows_paired(ward, steps, requirements):
    run = ward.run(steps)
    found = ward.verify(run)
    assert found.holds, found.text
    assert SAME_ROWS in found.text
    assert not found.remeasured.unknown
    assert found.remeasured.requirements == requirements
    assert found.remeasured.figures == 0  # gates and figures may depend on the order of rows


@pytest.mark.slow
def test_with_a_seed_every_byte_and_every_figure_is_made_again(ward):
    releases = "gates: {risk: {metric: reidentification_risk.prosecutor_highest, max: 1}}\n" + ONE
    run = ward.run(RECODE + NOISE, SEED + releases)
    found = ward.verify(run)
    assert found.holds, found.text
    assert "release `study`: its steps, carried out again, make the same bytes" in found.text
    assert found.remeasured.figures > 10
    rewrite(run, "report.json", lambda text: _measured_as(text, "gates", 0.001))
    assert "gates.risk on study" in ward.verify(run).text
    assert not ward.verify(run).holds


@pytest.mark.slow
def test_a_forged_figure_is_found(ward):
    run = ward.run(RECODE)
    rewrite(run, "report.json", lambda text: _measured_as(text, "requirements", 9))
    found = ward.verify(run)
    assert not found.holds
    assert "measured otherwise: privacy.k_anonymity on study: 9 then, " in found.text


def _measured_as(text: str, of: str, value: float) -> str:
    report = json.loads(text)
    report[of][0]["measured"] = value
    return json.dumps(report)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("head", [HEAD, HEAD + SEED])
@pytest.mark.parametrize("steps", [RECODE, RECODE + NOISE])
def test_a_changed_file_is_found_though_the_manifest_was_adapted(ward, head, steps):
    """Two cells change places, which no distribution shows."""
    run = ward.run(steps, head=head)
    rewrite(run, "released/study/study.csv", exchanged(2))
    found = ward.verify(run)
    assert found.changed == ()
    assert not found.holds
    assert "NOT" in found.text.partition("\n")[0]
    names = {p.name: p for p in api.verification(found, data_given=True).points}
    assert names["steps of study"].holds is False
    assert names["privacy.k_anonymity on study"].holds is None
    assert "its file is not what the policy makes" in names["privacy.k_anonymity on study"].text


def test_with_a_seed_the_order_of_rows_is_held_against_the_policy_too(ward):
    run = ward.run(RECODE, SEED + ONE)
    rewrite(run, "released/study/study.csv", lambda t: "".join(sorted(t.splitlines(keepends=True), reverse=True)))
    found = ward.verify(run)
    assert not found.holds
    assert "its steps, carried out again, do NOT make the bytes of this file" in found.text


@pytest.mark.slow
def test_other_versions_may_make_another_file_and_that_is_said(ward):
    run = ward.run(RECODE)
    rewrite(run, "released/study/study.csv", exchanged(2))
    found = json.loads((run / "manifest.json").read_text())
    found["versions"]["duckdb"] = "0.1"
    (run / "manifest.json").write_text(json.dumps(found))
    again = ward.verify(run)
    assert "make NOT the rows of this file, whose order is drawn: duckdb 0.1 then, " in again.text
    assert "privacy.l_diversity.illness on study" in again.remeasured.unknown
    assert "measured again" not in _points(again)["privacy.l_diversity.illness on study"].partition("not ")[0]


def _points(found) -> dict[str, str]:
    return {p.name: p.text for p in api.verification(found, data_given=True).points}


@pytest.mark.slow
def test_other_versions_that_make_the_same_are_as_good(ward):
    run = ward.run(RECODE)
    found = json.loads((run / "manifest.json").read_text())
    found["versions"]["duckdb"] = "0.1"
    (run / "manifest.json").write_text(json.dumps(found))
    assert not ward.verify(run).remeasured.unknown


@pytest.mark.slow
def test_another_input_makes_nothing_again(ward):
    run = ward.run(RECODE)
    lines = (ward.folder / "ward.csv").read_text().splitlines(keepends=True)
    (ward.folder / "other.csv").write_text("".join([*lines, "p999,a,x,flu,1\n"]))
    found = ward.verify(run, "other.csv")
    assert not found.holds
    assert "the data given is not the data of this run" in found.text
    assert not found.remeasured.made
    assert found.remeasured.unknown["privacy.l_diversity.illness on study"] == "it is about other data"


@pytest.mark.slow
def test_without_its_key_a_release_is_not_made_again(ward, monkeypatch):
    monkeypatch.setenv("WARD_KEY", "a key of at least sixteen bytes")
    releases = "releases: {linked: {from: named, path: linked.csv}, study: {from: short, path: study.csv}}\n"
    steps = RECODE + KEYED.replace("pseudonymize,", "pseudonymize, input: short,")
    run = ward.run(steps, releases)
    found = ward.verify(run)
    assert found.holds, found.text
    assert not found.remeasured.unknown
    monkeypatch.delenv("WARD_KEY")
    found = ward.verify(run)
    assert found.holds, found.text
    assert "linked" not in found.remeasured.made
    why = found.remeasured.unknown["privacy.l_diversity.illness on linked"]
    assert "PPF790" in why
    assert "WARD_KEY is not set" in why
    assert found.remeasured.made["study"][0] is True
    monkeypatch.setenv("WARD_KEY", "another key of at least sixteen bytes")
    assert not ward.verify(run).holds


@pytest.mark.slow
def test_what_was_finished_before_the_first_draw_is_measured_again(ward):
    run = ward.run(RECODE + NOISE)
    found = ward.verify(run)
    assert found.holds, found.text
    assert (
        "its steps up to the first draw, carried out again, make the same rows in town, sex and illness" in found.text
    )
    assert not found.remeasured.unknown


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "steps",
    [
        RECODE + "  some: {use: sample, with: {size: 60}}\n",  # who was left out is drawn
        RECODE + "  swap: {use: swap, with: {attributes: [illness]}}\n",
        "  swap: {use: swap, with: {attributes: [illness], within: [town, sex]}}\n" + IDS.replace("illness", "sex"),
        NOISE + RECODE,  # finished only after the first draw
    ],
)
def test_what_was_drawn_is_left_to_the_run(ward, steps):
    run = ward.run(steps)
    found = ward.verify(run)
    assert found.holds, found.text
    assert "draw at random" in found.remeasured.unknown["privacy.l_diversity.illness on study"]


@pytest.mark.slow
def test_two_releases_are_judged_together_again(ward):
    releases = "releases: {a: {from: short, path: a.csv}, b: {from: less, path: b.csv}}\n"
    run = ward.run(RECODE + "  less: {use: drop, with: {attributes: [town]}}\n", releases)
    every = json.loads((run / "report.json").read_text())["requirements"]
    assert any("together" in r["metric"] or " + " in r["release"] for r in every)
    found = ward.verify(run)
    assert found.holds, found.text
    assert not found.remeasured.unknown
    assert found.remeasured.requirements == len(every)
    rewrite(run, "released/a/a.csv", exchanged(2))
    found = ward.verify(run)
    assert not found.holds
    assert found.remeasured.made["b"][0] is True
    together = {f"{r['id']} on {r['release']}" for r in every if "together" in r["metric"] or " + " in r["release"]}
    assert together <= found.remeasured.unknown.keys()


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_releases_whose_rows_are_in_one_order_are_joined_again_only_if_the_run_joined_them(ward, shared):
    """They are made again without the draws of their order, which says nothing of whether they share it."""
    orders = "  mix: {use: shuffle_rows, input: short}\n" + (
        "" if shared else "  own: {use: shuffle_rows, input: short}\n"
    )
    steps = (
        RECODE
        + orders
        + (
            "  towns: {use: drop, input: mix, with: {attributes: [sex, score]}}\n"
            f"  sexes: {{use: drop, input: {'mix' if shared else 'own'}, with: {{attributes: [town, score]}}}}\n"
        )
    )
    run = ward.run(steps, RELEASES_AS_MIXED)
    every = json.loads((run / "report.json").read_text())["requirements"]
    assert SAME_ROWS.replace("study", "a") in ward.verify(run).text
    assert {r["measured"] for r in every if r["metric"].endswith("together_k")} == {18 if shared else 36}
    found = ward.verify(run)
    assert found.holds, found.text
    assert not found.remeasured.unknown
    assert found.remeasured.requirements == len(every)


@pytest.mark.slow
def test_files_that_the_policy_names_are_looked_for_where_it_was(ward):
    (ward.folder / "towns.csv").write_text("a;north;*\nb;north;*\n")
    head = HEAD.replace("town: {role: quasi_identifier}", "town: {role: quasi_identifier, hierarchy: {csv: towns.csv}}")
    run = ward.run(RECODE + "  coarse: {use: generalize, with: {attributes: {town: {level: 1}}}}\n", head=head)
    found = ward.verify(run)
    assert found.holds
    assert "PPF788" in found.remeasured.unknown["privacy.l_diversity.illness on study"]
    assert not ward.verify(run, policy_folder=ward.folder).remeasured.unknown


@pytest.mark.slow
def test_draws_that_a_step_does_not_declare_are_found(bench, tools):
    """Such a step may make the same rows of other people."""
    data = bench.data(tools.rows(400))
    policy = tools.POLICY[: tools.POLICY.index("  sensitivities")] + (
        "  l_diversity: {illness: {l: 2, kind: distinct}}\n"
        "steps:\n  short: {use: recode, with: {attributes: {illness: {values: {x: y}, keep_others: true}}}}\n"
        "  bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}\n"
        "releases: {study: {path: study.csv}}\n"
    )
    plan = bench.plan(policy)
    own = plan.step("bands").bound.spec.load()

    class Drawing:
        draws_per_row = 1

        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def apply(self, part, draws):
            return self.inner.apply(part, draws)

        def describe(self):
            return self.inner.describe()

    class Sly(own):
        def fit(self, data, ctx):
            from dataclasses import replace

            fitted = super().fit(data, ctx)
            return replace(fitted, transform=Drawing(fitted.transform))

    sly = tools.swapped(plan, "bands", Sly)
    from ppdm_flow.report.run.document import document

    run = bench.run(sly, documents=lambda r: {"report.json": json.dumps(document(r))}).run_dir
    found = verify(run, data, lambda p, d: sly)
    assert found.holds, found.text
    assert "draw at random" in found.remeasured.unknown["privacy.l_diversity.illness on study"]


BASKETS = """version: 1
name: orders
source: {path: orders.dat, format: transactions}
attributes: {basket: {role: items}}
privacy: {km_anonymity: {k: 2, m: 1}}
releases: {study: {path: study.txt, format: baskets}}
"""


def test_a_format_that_its_ending_does_not_tell_is_the_policys(tmp_path):
    """`.txt` is the ending of tables, too, and would be read as one."""
    (tmp_path / "orders.dat").write_text("1 2\n1 2 3\n2 3\n1 3\n", encoding="utf-8")
    (tmp_path / "orders.yaml").write_text(BASKETS, encoding="utf-8")
    ran = api.run(tmp_path / "orders.yaml", out=tmp_path / "runs")
    assert ran.released
    outcome = api.verify(ran.run_dir, tmp_path / "orders.dat")
    assert outcome.holds
    assert (outcome.remeasured.requirements, outcome.remeasured.unknown) == (1, {})


PEOPLE = """version: 1
name: ward
source: {path: visits.csv}
attributes:
  patient: {role: subject}
  town: {role: quasi_identifier}
people: {known_rows: 1}
privacy: {k_anonymity: {k: 2}}
steps: {few: {use: limit_rows, with: {rows: 1}}}
releases: {study: {path: study.csv}}
"""


def test_whose_rows_were_drawn_only_the_run_can_tell(tmp_path):
    """Nothing is said to be otherwise where people cannot be counted again."""
    rows = [f"p{i},{town}" for i in range(4) for town in ("a", "a", "b")]
    (tmp_path / "visits.csv").write_text("patient,town\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "ward.yaml").write_text(PEOPLE, encoding="utf-8")
    ran = api.run(tmp_path / "ward.yaml", out=tmp_path / "runs", keep_withheld=True)
    outcome = api.verify(ran.run_dir, tmp_path / "visits.csv")
    assert outcome.holds
    assert outcome.remeasured.differences == ()
    assert "privacy.k_anonymity on study" in outcome.remeasured.unknown


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("here", [".", "elsewhere"])
def test_own_data_is_found_beside_the_policy(ward, monkeypatch, here):
    (ward.folder / "policies").mkdir()
    (ward.folder / "elsewhere").mkdir()
    (ward.folder / "ward.csv").rename(ward.folder / "policies" / "ward.csv")
    (ward.folder / "policies" / "ward.yaml").write_text(HEAD + ONE)
    monkeypatch.chdir(ward.folder)
    run = api.run(Path("policies/ward.yaml"), out=Path("runs")).run_dir.absolute()
    monkeypatch.chdir(ward.folder / here)
    again = api.verify(run, own_data=True)
    assert again.holds
    assert again.remeasured is not None
    (ward.folder / "policies" / "ward.csv").rename(ward.folder / "elsewhere" / "ward.csv")
    monkeypatch.chdir(ward.folder)
    assert api.verify(run, own_data=True, policy_folder=ward.folder / "elsewhere").remeasured
    for folder in (None, ward.folder / "policies"):
        with pytest.raises(DataError) as caught:
            api.verify(run, own_data=True, policy_folder=folder)
        assert caught.value.diagnostics[0].code == "PPF701"
        assert "--policy-folder" in caught.value.diagnostics[0].help


def test_other_data_beside_the_policy_is_not_that_of_the_run(ward, monkeypatch):
    monkeypatch.chdir(ward.folder)
    run = ward.run("")
    table = ward.folder / "ward.csv"
    table.write_text(table.read_text() + "p99,a,x,flu,1\n")
    assert not api.verify(run, own_data=True).holds


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("how", "drawn"), [("nearest", False), ("random", True), ("controlled", True)])
def test_rounding_is_made_again_where_it_draws_nothing(ward, how, drawn):
    head = HEAD.replace("score: {role: insensitive}", "score: {role: insensitive, type: integer}")
    run = ward.run(f"  round: {{use: round_values, with: {{attributes: [score], base: 2, how: {how}}}}}\n", head=head)
    (step,) = (s for s in json.loads((run / "plan.json").read_text())["steps"] if s["name"] == "round")
    assert step["randomized"] is drawn
    outcome = ward.verify(run)
    assert outcome.holds
    assert (SAME_ROWS in outcome.text) is not drawn
