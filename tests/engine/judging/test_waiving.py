"""Waivers at the verdict: only what was measured and lies beyond its bound, only for as long as was agreed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding, RequirementResult
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.engine.judging.judging import verdict
from ppdm_flow.engine.judging.results import JudgedResults, waive
from ppdm_flow.requirements.first_draw.requirement import FirstDraw

TODAY = date(2026, 11, 21)
UNTIL = date(2027, 3, 31)
NOTED = Finding("PPF860", Severity.WARNING, "rows are close to original ones", "study.closest_record")


def result(identifier: str, holds: bool = False, measured: float | None = 3.0, **more) -> RequirementResult:
    metric = more.pop("metric", f"{identifier}.k")
    return RequirementResult(identifier, "study", metric, 5.0, "at_least", measured, holds, "So.", **more)


def grant(of: str, name: str = "small", until: date = UNTIL, **more) -> AcceptedWaiver:
    return AcceptedWaiver(name, of, "agreed", "dpo", until, **more)


def laid(waivers, requirements=(), gates=(), findings=(), today: date = TODAY, asked=()) -> JudgedResults:
    plan = SimpleNamespace(waivers=tuple(waivers), requirements=tuple(asked))
    results = JudgedResults(tuple(requirements), tuple(gates), {}, (), tuple(findings), ())
    return waive(plan, results, today)  # type: ignore[arg-type]


def test_a_waived_gate_does_not_withhold_and_does_not_hold() -> None:
    found = laid([grant("gates.g")], gates=[result("gates.g", metric="a.b")])
    assert [(r.holds, r.passes, r.waived_by) for r in found.gates] == [(False, True, "small")]
    assert verdict(found.gates) == "released"
    assert found.tally == {"total": 1, "failed": 0, "waived": 1}
    assert found.waivers[0].covers == ("gates.g on study",)
    assert found.findings == ()


@pytest.mark.parametrize(
    "failing",
    [
        result("gates.g", measured=None, metric="a.b"),
        result("gates.g", verified=False, metric="a.b"),
        result("gates.g", measured=None, verified=False, metric="a.b"),
        result("gates.other", metric="a.b"),
    ],
)
def test_what_nobody_could_measure_or_verify_is_not_waived(failing: RequirementResult) -> None:
    found = laid([grant("gates.g")], gates=[failing])
    assert verdict(found.gates) == "withheld"
    assert [f.code for f in found.findings] == ["PPF685"]


@pytest.mark.parametrize(("allowed", "said"), [(False, "withheld"), (True, "released")])
@pytest.mark.parametrize(
    "failing", [result("privacy.k_anonymity"), result("gates.g", metric="study/privacy.k_anonymity.k")]
)
def test_privacy_is_waived_only_with_leave(allowed: bool, said: str, failing: RequirementResult) -> None:
    found = laid([grant(failing.id, privacy=allowed)], requirements=[failing])
    assert verdict(found.requirements) == said


def test_a_second_draw_is_never_waived() -> None:
    failing = result("ledger.repeat", metric="ledger.repeat.earlier")
    found = laid(
        [grant("ledger.repeat", privacy=True)],
        [failing],
        asked=[FirstDraw.of("ledger.repeat", attributes=("disease",))],
    )
    assert verdict(found.requirements) == "withheld"


def test_what_expired_before_the_verdict_covers_nothing() -> None:
    found = laid([grant("gates.g")], gates=[result("gates.g", metric="a.b")], today=UNTIL + timedelta(1))
    assert verdict(found.gates) == "withheld"
    assert [(f.code, f.subject) for f in found.findings] == [("PPF686", "waivers.small")]
    assert found.waivers[0].days_left == -1


def test_the_last_day_counts() -> None:
    found = laid([grant("gates.g")], gates=[result("gates.g", metric="a.b")], today=UNTIL)
    assert verdict(found.gates) == "released"
    assert found.waivers[0].days_left == 0


def test_what_holds_needs_no_waiver() -> None:
    found = laid([grant("gates.g")], gates=[result("gates.g", holds=True, measured=7.0, metric="a.b")])
    assert found.gates[0].waived_by == ""
    (told,) = found.findings
    assert told.code == "PPF685"
    assert "`gates.g` holds" in told.text


class TestFindings:
    @pytest.mark.parametrize("of", ["PPF860", NOTED.hash])
    def test_they_are_covered_by_code_or_hash(self, of: str) -> None:
        found = laid([grant(of)], findings=[NOTED])
        assert found.waivers[0].findings == (NOTED.hash,)
        assert found.waivers[0].covers == ("PPF860 study.closest_record",)
        assert found.findings == (NOTED,)

    def test_errors_are_not(self) -> None:
        found = laid([grant("PPF860")], findings=[replace(NOTED, severity=Severity.ERROR)])
        assert found.waivers[0].findings == ()
        assert [f.code for f in found.findings] == ["PPF860", "PPF685"]

    def test_nor_what_is_about_a_requirement_without_leave(self) -> None:
        noted = replace(NOTED, subject="privacy.k_anonymity")
        assert laid([grant("PPF860")], findings=[noted]).waivers[0].covers == ()
        assert laid([grant("PPF860", privacy=True)], findings=[noted]).waivers[0].covers != ()

    def test_a_hash_is_of_code_subject_and_release_alone(self) -> None:
        assert replace(NOTED, text="other figures", severity=Severity.INFO).hash == NOTED.hash
        others = replace(NOTED, code="PPF861"), replace(NOTED, subject="partner.x"), replace(NOTED, release="partner")
        assert len({f.hash for f in (*others, NOTED)}) == 4


RESULTS = st.builds(
    lambda number, holds, measured, verified: result(
        f"gates.g{number}", holds, 3.0 if measured or holds else None, verified=verified or holds, metric="a.b"
    ),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
GRANTS = st.builds(
    lambda number, days: grant(f"gates.g{number}", f"w{number}", TODAY + timedelta(days)),
    st.integers(0, 4),
    st.integers(-3, 3),
)


@examples(90)
@given(st.lists(RESULTS, max_size=6), st.lists(GRANTS, max_size=4, unique_by=lambda w: w.of))
def test_released_is_what_holds_or_was_measured_and_is_waived_today(results, waivers) -> None:
    found = laid(waivers, gates=results)
    valid = {w.of for w in waivers if w.until >= TODAY}
    passing = [r.holds or (r.id in valid and r.measured is not None and r.verified) for r in results]
    assert [r.passes for r in found.gates] == passing
    assert verdict(found.gates) == ("released" if all(passing) else "withheld")
    assert [replace(r, waived_by="") for r in found.gates] == list(results)
    assert found.tally["failed"] + found.tally["waived"] == sum(not r.holds for r in results)
    needed = {r.waived_by for r in found.gates} - {""}
    assert {w.waiver.name for w in found.waivers if w.covers} == needed
    told = {f.subject for f in found.findings}
    assert told == {f"waivers.{w.name}" for w in waivers if w.name not in needed}
