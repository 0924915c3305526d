"""Codes that were merged: nothing is reported under an old one, and each is read as what it is called now."""

from __future__ import annotations

from datetime import date

import pytest

from ppdm_flow.core.diagnostics import MERGED, Diagnostic, Severity, current_code, former_codes, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.pages import pages
from ppdm_flow.core.results import Finding
from ppdm_flow.core.waivers import AcceptedWaiver


def test_every_old_code_leads_to_a_page_in_one_step() -> None:
    assert set(MERGED.values()) <= set(pages())
    assert not set(MERGED) & set(pages())
    assert not set(MERGED) & set(MERGED.values())


def test_a_code_that_is_in_use_or_none_at_all_stays_as_it_is() -> None:
    assert [current_code(text) for text in ("PPF120", "PPF000", "privacy.k_anonymity", "")] == [
        "PPF120",
        "PPF000",
        "privacy.k_anonymity",
        "",
    ]
    assert former_codes("PPF741") == ("PPF793", "PPF813")
    assert former_codes("PPF201") == ()


@pytest.mark.parametrize("former", sorted(MERGED))
def test_what_a_plugin_reports_under_an_old_code_has_its_name_of_today(former: str) -> None:
    assert Diagnostic(former, "told").code == Finding(former, Severity.WARNING, "told").code == MERGED[former]
    assert len(in_order([Diagnostic(former, "told"), Diagnostic(MERGED[former], "told")])) == 1


@pytest.mark.parametrize("release", ["", "study"])
def test_a_waiver_of_an_old_hash_covers_the_finding(release: str) -> None:
    finding = Finding("PPF741", Severity.WARNING, "told", "disease=flu", release)
    parts = ["disease=flu", *([release] if release else [])]
    assert finding.hash == digest(["PPF741", *parts])[:16]
    for code, covered in (("PPF741", True), ("PPF793", True), ("PPF813", True), ("PPF822", False)):
        waiver = AcceptedWaiver("known", digest([code, *parts])[:16], "agreed", "dpo", date(2027, 3, 31))
        assert waiver.covers_finding(finding.code, finding.subject, finding.hashes) is covered
