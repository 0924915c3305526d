"""Days, places and permissions of waivers."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.clock import in_a_year
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.waivers import AcceptedWaiver, day, is_code, is_hash, of_privacy, within

DAYS = st.dates(date(2000, 1, 1), date(2200, 12, 31))


def waiver(until: date = date(2027, 3, 31), of: str = "gates.useful", **more) -> AcceptedWaiver:
    return AcceptedWaiver("small", of, "agreed", "dpo", until, **more)


@given(DAYS, DAYS)
def test_a_waiver_counts_on_its_last_day_and_not_after_it(until: date, today: date) -> None:
    assert waiver(until).expired(today) == (today > until)
    assert waiver(until).days_left(today) == (until - today).days
    assert (waiver(until).days_left(today) < 0) == waiver(until).expired(today)


@given(DAYS)
def test_a_year_is_never_longer_than_a_year(today: date) -> None:
    last = in_a_year(today)
    assert timedelta(365) <= last - today <= timedelta(366)
    assert last.month == today.month
    assert last.day == today.day or (today.month, today.day, last.day) == (2, 29, 28)


@given(DAYS)
def test_days_are_written_in_one_way(today: date) -> None:
    assert day(today.isoformat()) == today


@pytest.mark.parametrize(
    "text",
    ["", "2027-3-1", "20270301", "2027-W09-1", "2027-02-29", "2027-13-01", "31.3.2027", "٢٠٢٧-٠٣-٠١", "2027-03-31 "],
)
def test_what_is_no_day(text: str) -> None:
    assert day(text) is None


@pytest.mark.parametrize(
    ("place", "above", "inside"),
    [
        ("attributes.age", "attributes.age", True),
        ("attributes.age.role", "attributes.age", True),
        ("attributes.age2", "attributes.age", False),
        ("attributes", "attributes.age", False),
    ],
)
def test_a_place_and_what_is_below_it(place: str, above: str, inside: bool) -> None:
    assert within(place, above) is inside


def test_kinds_are_told_apart_by_their_form() -> None:
    assert is_code("PPF551")
    assert not is_code("PPF5511")
    assert is_hash("3da14ba1583ef4ca")
    assert not is_hash("3DA14BA1583EF4CA")
    assert of_privacy("privacy.k_anonymity")
    assert of_privacy("study/privacy.k_anonymity.k")
    assert not of_privacy("gates.privacy")
    assert not of_privacy("attack.privacy.k")


@pytest.mark.parametrize(
    ("of", "at", "allowed", "subject", "covered"),
    [
        ("PPF860", "", False, "study.closest_record", True),
        ("PPF860", "study", False, "study.closest_record", True),
        ("PPF860", "partner", False, "study.closest_record", False),
        ("PPF861", "", False, "study.closest_record", False),
        ("HASH", "", False, "study.closest_record", True),
        ("0123456789abcdee", "", False, "study.closest_record", False),
        ("PPF860", "", False, "privacy.k_anonymity", False),
        ("PPF860", "", True, "privacy.k_anonymity", True),
        ("HASH", "", False, "privacy.k_anonymity", False),
    ],
)
def test_which_findings_a_waiver_covers(of: str, at: str, allowed: bool, subject: str, covered: bool) -> None:
    finding = Finding("PPF860", Severity.WARNING, "", subject)
    found = waiver(of=finding.hash if of == "HASH" else of, at=at, privacy=allowed)
    assert found.covers_finding(finding.code, finding.subject, finding.hashes) is covered
