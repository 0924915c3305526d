"""Reading a released table in a browser: by mouse and by keyboard, wide and narrow, light and dark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prepared_runs import prepared_run
from served import PASSWORD, Person, Served, opened, served_here

from ppdm_flow.page.services.accounts.roles import PageRole

POLICY = """
version: 1
name: clinic
source: {path: clinic.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 40, 80, 120]}}
  town: {role: quasi_identifier}
  illness: {role: sensitive, description: What was found}
privacy: {k_anonymity: {k: 3}}
steps:
  recoded: {use: full_domain_recoding}
releases:
  study: {path: study.csv, from: recoded, description: For a study of illnesses}
randomness: {mode: reproducible, seed: 7}
"""
SIZES = {"wide": (1280, 900), "narrow": (320, 640)}
SCREENSHOTS = os.environ.get("PPDM_SCREENSHOTS")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server that shows one table of 260 rows to guests, with its report."""
    folder = tmp_path_factory.mktemp("served")
    site = opened(folder)
    made = prepared_run(folder / "runs", POLICY, 260)
    steward = site.accounts.add("steward", [PageRole.STEWARD], PASSWORD)
    guest = site.accounts.add("guest", [PageRole.GUEST], PASSWORD)
    assert site.shown.show(steward, "clinic", made.name, "study", [guest], report=True) is None
    with served_here(site) as running:
        yield running


@pytest.fixture
def guest(chromium: Any, server: Served) -> Iterator[Person]:
    """Return a guest who is signed in."""
    person = Person(chromium, server)
    person.sign_in("guest")
    yield person
    person.context.close()


def _open_table(person: Person) -> None:
    person.page.goto("/released")
    person.page.get_by_role("link", name="study").click()
    person.page.get_by_role("table").wait_for()  # the first time the page waits for the copy by itself


def test_a_guest_filters_orders_and_turns_pages(guest: Person):
    _open_table(guest)
    page = guest.page
    assert page.get_by_role("row").count() == 101
    page.get_by_role("link", name="Next").click()
    assert "page=2" in page.url
    assert page.get_by_role("rowheader").first.inner_text() == "101"
    page.get_by_role("columnheader").get_by_role("link", name="illness").click()
    assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("illness")
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("town").select_option(index=1)
    page.get_by_role("button", name="Show these rows").click()
    assert re.search(r"\d+ of 260 rows", page.get_by_role("status").inner_text())
    assert {row.inner_text() for row in page.locator("tbody td:nth-child(3)").all()} == {"north"}
    guest.check()
    page.get_by_role("link", name="Remove the filter of town").click()
    assert page.get_by_role("status").inner_text() == "260 rows"


def test_sheet_report_and_files_are_there(guest: Person):
    _open_table(guest)
    for name, heading in (("Data sheet", "Data sheet"), ("Report", "clinic")):
        guest.page.get_by_role("link", name=name, exact=True).click()
        frame = guest.page.frame_locator("iframe")
        assert heading in frame.get_by_role("heading").first.inner_text()
        guest.check()
    guest.page.get_by_role("link", name="Files", exact=True).click()
    guest.check()
    with guest.page.expect_download() as download:
        guest.page.get_by_role("link", name="Download all as a zip archive").click()
    assert download.value.suggested_filename == "study.zip"


def test_a_table_is_read_by_keyboard(guest: Person):
    _open_table(guest)
    page = guest.page
    page.locator("main").focus()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText || document.activeElement.getAttribute('name')"))
        if reached[-1] == "Next":
            break
    assert reached[-1] == "Next", reached
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("page=2"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page_of_a_guest_fits_any_screen(chromium: Any, server: Served, size: str, scheme: str):
    width, height = SIZES[size]
    person = Person(chromium, server, viewport={"width": width, "height": height}, color_scheme=scheme)
    person.sign_in("guest")
    _open_table(person)
    address = person.page.url
    for name, place in (
        ("list", "/released"),
        ("table", address),
        ("filtered", f"{address}?c1=0&by=0&page=2"),
        ("sheet", f"{address}/sheet"),
        ("files", f"{address}/files"),
    ):
        person.page.goto(place)
        if name == "filtered":
            for closed in person.page.locator("details").all():
                closed.evaluate("each => each.open = true")
        person.check()
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width, name
        if SCREENSHOTS:
            person.page.screenshot(path=Path(SCREENSHOTS) / f"guests-{name}-{size}-{scheme}.png", full_page=True)
    person.context.close()
