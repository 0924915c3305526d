"""Waivers on the day that they are judged: what `check` and `run` make of them before any data is read."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.clock import in_a_year
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.plan.compile import OF_RUNS, CompileResult, check_waivers, compile_policy
from ppdm_flow.plan.document import document
from ppdm_flow.policy import load
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.params import Permission

TODAY = date(2026, 11, 21)
NOWHERE = ResolvedPlaces({}, {})
PACKAGE = Path(__file__).parents[2] / "ppdm_flow"

HEAD = """version: 1
name: waived
"""
BODY = """attributes:
  age: {role: quasi_identifier, type: integer}
  city: {role: quasi_identifier}
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: 2}
audits:
  classes: {use: classification_error, with: {target: disease}}
gates:
  useful: {metric: classes.error_increase, max: 0.1}
  large: {metric: privacy.k_anonymity.k, min: 3}
releases:
  study: {path: study.csv}
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compile the policy with one waiver, on a day; ``top`` are lines above it, ``files`` stand beside it."""

    def compile_on(
        of: str = "gates.useful",
        until: str = "2027-03-31",
        today: date = TODAY,
        top: str = "",
        files: dict[str, str] | None = None,
        more: str = "",
        body: str = BODY,
    ) -> CompileResult:
        monkeypatch.chdir(tmp_path)
        for name, text in (files or {}).items():
            Path(name).write_text(text, encoding="utf-8")
        grant = f"waivers:\n  small: {{of: {of}, reason: agreed, owner: dpo, until: {until}{more}}}\n" if of else ""
        Path("p.yaml").write_text(HEAD + top + body + grant, encoding="utf-8")
        return compile_policy(load(Path("p.yaml")), clock=lambda: today)

    return compile_on


def codes(found: CompileResult) -> list[str]:
    return [d.code for d in found.diagnostics if d.code.startswith("PPF33")]


@pytest.mark.parametrize(
    ("until", "told"),
    [
        ("2026-11-20", ["PPF333"]),
        ("2026-11-21", []),
        ("2027-11-21", []),
        ("2027-11-22", ["PPF332"]),
        ("2020-02-29", ["PPF333"]),
    ],
)
def test_a_waiver_has_to_be_of_this_day_and_within_a_year(compiled, until: str, told: list[str]) -> None:
    outcome = compiled(until=until)
    assert codes(outcome) == told
    assert (outcome.plan is None) == bool(told)


@examples(90)
@given(st.dates(date(2020, 1, 1), date(2040, 12, 31)), st.integers(-800, 800))
def test_every_day_has_one_answer(today: date, ahead: int) -> None:
    until = today + timedelta(ahead)
    found = check_waivers([AcceptedWaiver("a", "gates.g", "r", "o", until)], (), (), NOWHERE, Permission(), today)
    told = [d.code for d in found.faults]
    assert told == (["PPF333"] if until < today else ["PPF332"] if until > in_a_year(today) else [])


def test_the_same_policy_passes_today_and_not_once_its_waiver_is_over(compiled) -> None:
    assert compiled(today=date(2027, 3, 31)).plan is not None
    late = compiled(today=date(2027, 4, 1))
    assert late.plan is None
    (fault,) = (d for d in late.diagnostics if d.code == "PPF333")
    assert fault.severity is Severity.ERROR
    assert fault.span is not None
    assert fault.path == ("waivers", "small", "until")


def test_without_a_clock_nobody_asks_what_day_it_is(compiled) -> None:
    compiled(until="2020-01-01")
    plan = compile_policy(load(Path("p.yaml")), clock=None).plan
    assert plan is not None
    assert [w.name for w in plan.waivers] == ["small"]


def test_a_waiver_is_part_of_the_plan_and_of_its_digest(compiled) -> None:
    plan, longer, none = compiled().plan, compiled(until="2027-04-30").plan, compiled(of="").plan
    assert document(plan)["waivers"] == [
        {"name": "small", "of": "gates.useful", "reason": "agreed", "owner": "dpo", "until": "2027-03-31"}
    ]
    assert "waivers" not in document(none)
    assert len({plan.digest, longer.digest, none.digest}) == 3


class TestPermission:
    ALLOWS = "floors: {waivers.privacy: allowed}\n"

    @pytest.mark.parametrize("of", ["privacy.k_anonymity", "gates.large"])
    def test_privacy_is_not_waived_by_a_policy_alone(self, compiled, of: str) -> None:
        assert codes(compiled(of=of)) == ["PPF335"]

    @pytest.mark.parametrize("of", ["privacy.k_anonymity", "gates.large"])
    def test_nor_by_a_floor_of_its_own(self, compiled, of: str) -> None:
        assert codes(compiled(of=of, top=self.ALLOWS)) == ["PPF335"]

    @pytest.mark.parametrize("of", ["privacy.k_anonymity", "gates.large"])
    def test_a_template_can_allow_it(self, compiled, of: str) -> None:
        outcome = compiled(of=of, top="extends: ./org.yaml\n", files={"org.yaml": self.ALLOWS})
        assert codes(outcome) == []
        assert outcome.plan.waivers[0].privacy

    def test_one_template_that_asks_and_is_silent_is_enough_to_forbid_it(self, compiled) -> None:
        files = {"org.yaml": self.ALLOWS, "asks.yaml": "privacy: {k_anonymity: {k: 2}}\n"}
        outcome = compiled(of="privacy.k_anonymity", top="extends: [./org.yaml, ./asks.yaml]\n", files=files)
        assert codes(outcome) == ["PPF335"]
        (fault,) = (d for d in outcome.diagnostics if d.code == "PPF335")
        assert [r.span.file for r in fault.related] == ["asks.yaml"]

    def test_a_warning_about_privacy_needs_leave_too(self, compiled) -> None:
        outcome = compiled(of="PPF526")
        assert codes(outcome) == ["PPF337"]
        text = Path("p.yaml").read_text(encoding="utf-8")
        Path("p.yaml").write_text(
            text.replace("privacy:\n  k_anonymity: {k: 2}\n", "").replace("  large:", "  #"), encoding="utf-8"
        )
        assert codes(compile_policy(load(Path("p.yaml")), clock=lambda: TODAY)) == ["PPF335"]


class TestGatesOfFloors:
    GATE = "gates: {useful: {metric: classes.error_increase, max: 0.1}}\n"

    @pytest.mark.parametrize(
        ("floor", "of", "held"),
        [
            ("gates.useful.max: '<= 0.2'", "gates.useful", True),
            ("gates.useful: present", "gates.useful", True),
            ("gates.*.max: '<= 0.2'", "gates.useful", True),
            ("gates: not weaker", "gates.useful", True),
            ("gates: keeps all", "gates.useful", True),
            ("gates: contains [useful]", "gates.useful", True),
            ("gates: contains [useful]", "gates.other", False),
            ("gates.other.max: '<= 0.2'", "gates.useful", False),
            ("gates: only [useful, large, other]", "gates.useful", False),
            ("releases.useful.audience: is internal", "gates.useful", False),
            ("audits.classes.use: is classification_error", "gates.useful", False),
        ],
    )
    def test_need_leave_to_be_waived(self, compiled, floor: str, of: str, held: bool) -> None:
        own = BODY + "  useful: {path: u.csv}\n" if "releases" in floor else BODY
        own = own.replace("gates:\n", "gates:\n  other: {metric: classes.error, max: 0.2}\n")
        for leave in ("", "  waivers.privacy: allowed\n"):
            audits = "audits: {classes: {use: classification_error, with: {target: disease}}}\n"
            org = f"{self.GATE}{audits}floors:\n  {floor}\n{leave}"
            files = {"org.yaml": org}
            outcome = compiled(of=of, top="extends: ./org.yaml\n", files=files, body=own)
            assert [c for c in codes(outcome) if c == "PPF335"] == (["PPF335"] if held and not leave else [])


class TestWarnings:
    def test_a_waived_warning_is_told_apart(self, compiled) -> None:
        outcome = compiled(of="PPF551")
        assert [(d.code, w.name) for d, w in outcome.waived.items()] == [("PPF551", "small")]
        assert set(outcome.waived) <= set(outcome.diagnostics)
        assert outcome.plan.waivers[0].covers == ("PPF551 at p.yaml:6",)

    @pytest.mark.parametrize(
        ("at", "covered"),
        [("attributes.disease", True), ("attributes", True), ("attributes.dis", False), ("attributes.age", False)],
    )
    def test_it_can_be_of_one_place(self, compiled, at: str, covered: bool) -> None:
        outcome = compiled(of="PPF551", more=f", at: {at}")
        assert bool(outcome.waived) is covered
        assert codes(outcome) == ([] if covered else ["PPF337"])

    def test_an_expired_one_covers_nothing(self, compiled) -> None:
        assert compiled(of="PPF551", until="2020-01-01").waived == {}

    def test_a_place_stays_when_lines_move(self, compiled) -> None:
        outcome = compiled(of="PPF551", more=", at: attributes.disease", top="# one\n# two\n\ndescription: later\n")
        assert len(outcome.waived) == 1

    def test_an_error_is_never_waived(self, compiled) -> None:
        compiled(of="PPF615")
        text = Path("p.yaml").read_text(encoding="utf-8").replace("metric: classes.", "metric: klasses.")
        Path("p.yaml").write_text(text, encoding="utf-8")
        outcome = compile_policy(load(Path("p.yaml")), clock=lambda: TODAY)
        assert codes(outcome) == ["PPF336"]
        assert outcome.plan is None
        assert outcome.waived == {}

    def test_a_code_of_runs_is_not_said_to_be_unused_beforehand(self, compiled) -> None:
        assert codes(compiled(of="PPF830")) == []
        assert codes(compiled(of="0123456789abcdef")) == []

    def test_no_other_code_below_700_is_reported_by_a_run(self) -> None:
        found = {
            code
            for file in PACKAGE.rglob("*.py")
            for code in re.findall(
                r'(?:Finding\(\s*|^CODE = )"(PPF[0-6]\d\d)"', file.read_text(encoding="utf-8"), re.MULTILINE
            )
        }
        assert found - {"PPF652", "PPF656", "PPF685", "PPF686"} == OF_RUNS


def test_what_comes_from_the_environment_is_not_shown(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHY", "zqcanary")
    params = "params: {why: {from_env: WHY}}\n"
    grant = "waivers:\n  small: {of: gates.useful, reason: '${params.why}', owner: dpo, until: 2027-03-31}\n"
    Path("p.yaml").write_text(HEAD + params + BODY + grant, encoding="utf-8")
    plan = compile_policy(load(Path("p.yaml")), clock=lambda: TODAY).plan
    assert plan is not None
    assert plan.waivers[0].reason == "(from the environment)"
    assert "zqcanary" not in str(document(plan))


UNRANDOMIZED = """attributes:
  basket: {role: items}
privacy: {itemset_breach: {level: 0.5}}
releases: {study: {path: study.parquet}}
"""


@pytest.mark.parametrize("of", ["PPF553", "PPF578"])
def test_a_code_that_was_merged_waives_what_its_new_one_does(compiled, of) -> None:
    allowed = {"house.yaml": "floors: {waivers.privacy: allowed}\n"}
    found = compiled(of, top="extends: [house.yaml]\nsource: {path: shop.dat}\n", body=UNRANDOMIZED, files=allowed)
    assert codes(found) == []
    assert [(d.code, waiver.of) for d, waiver in found.waived.items()] == [("PPF553", "PPF553")]
    found = compiled(of, top="source: {path: shop.dat}\n", body=UNRANDOMIZED)
    assert codes(found) == ["PPF335"]


def test_one_thing_under_two_names_is_waived_twice(compiled) -> None:
    again = "}\n  again: {of: PPF578, reason: agreed, owner: dpo, until: 2027-03-31"
    found = compiled("PPF553", top="source: {path: shop.dat}\n", body=UNRANDOMIZED, more=again)
    assert "PPF338" in codes(found)
