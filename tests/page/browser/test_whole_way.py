"""The whole way in a browser: from the first account to a table that a guest reads, by four people."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from actions import (
    PASSPHRASE,
    first_administrator,
    invited,
    key_made,
    opened,
    policy_made,
    run_begun,
    uploaded,
)
from served import Person, served

ROWS = 100_000
POLICY = """version: 1
name: clinic
description: Visits to a clinic, for a study of how illnesses spread between towns
source: {path: visits.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 20, 40, 60, 80, 100]}}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 20}  # as the board decided
releases:
  study: {path: visits.csv, audience: public}
approvals: {roles: [data-protection], signers: signers.yaml}
"""


def visits(file: Path) -> Path:
    """Write a table of which one class of age and town is small: of the towns, one has few people."""
    draw = random.Random(11)
    towns = ["Ashford", "Barrow", "Corby"] * 40 + ["Dale"]
    with file.open("w", encoding="utf-8") as lines:
        lines.write("patient,age,town,illness\n")
        for number in range(ROWS):
            illness = draw.choice(["flu", "cold", "none", "none", "<b>odd</b>"])
            lines.write(f"p{number},{draw.randrange(0, 100)},{draw.choice(towns)},{illness}\n")
    return file


@pytest.fixture(scope="module")
def way(chromium, tmp_path_factory):
    """Four people with accounts, keys and a list of signers, at one server."""
    folder = tmp_path_factory.mktemp("way")
    with served(folder) as server:
        people = {name: Person(chromium, server) for name in ("Ada", "Sam", "Ann", "Gus", "Olga")}
        first_administrator(people["Ada"], server, "Ada")
        roles = {"Sam": ["Steward", "Approver"], "Ann": ["Approver"], "Gus": ["Guest"], "Olga": ["Steward"]}
        for name, own in roles.items():
            people[name].page.goto(invited(people["Ada"], name, *own))
            opened(people[name])
        entries = {name: key_made(people[name]) for name in ("Sam", "Ann")}
        lines = ["version: 1", "signers:"]
        for name, entry in entries.items():
            role = "[author, data-protection]" if name == "Sam" else "[data-protection]"
            lines += re.sub(r"roles:.*", f"roles: {role}", entry).splitlines()
        (server.policies / "signers.yaml").write_text("\n".join(lines) + "\n")
        yield server, people
        for person in people.values():
            person.context.close()


@pytest.fixture(scope="module")
def walked(way, tmp_path_factory):
    """The same, once a run was withheld, edited, held, approved, released and read by a guest; and what he was sent."""
    server, people = way
    sam, ann, gus = (people[name] for name in ("Sam", "Ann", "Gus"))
    uploaded(sam, visits(tmp_path_factory.mktemp("data") / "visits.csv"))
    policy_made(sam, "clinic.yaml", POLICY)

    run_begun(sam, "clinic.yaml", data="visits.csv", sign=True)
    page = sam.page
    assert page.get_by_role("heading", name="withheld").is_visible()
    sam.picture("withheld")
    page.get_by_role("listitem").filter(has_text="mondrian").get_by_role("link", name="See the edit").click()
    sam.check()
    sam.picture("offered-edit")
    page.get_by_role("button", name="Apply this change").click()
    page.get_by_text("The file was saved.").wait_for()
    assert "# as the board decided" in (server.policies / "clinic.yaml").read_text()

    run_begun(sam, "clinic.yaml", data="visits.csv", sign=True)
    assert page.get_by_role("heading", name="held").is_visible()
    run = page.url
    page.get_by_role("link", name="See whose signatures are missing").click()
    sam.check()
    assert page.get_by_role("button", name="Release").count() == 0
    assert page.locator("select[name=role] option").all_text_contents() in ([], ["author"])  # nobody approves their own

    approval = page.url
    ann.page.goto("/approvals")
    ann.check()
    ann.page.goto(approval)
    ann.check()
    ann.picture("to-be-approved")
    ann.page.get_by_label("Passphrase of your key").fill(PASSPHRASE)
    ann.page.get_by_role("button", name="Sign", exact=True).click()
    ann.page.get_by_text("You signed it in every role that you have.").or_(
        ann.page.get_by_text("Sign again")
    ).first.wait_for()

    page.goto(approval)
    page.get_by_role("button", name="Release", exact=True).click()
    page.get_by_text("The run is released.").or_(page.get_by_role("heading", name="released")).first.wait_for()
    page.goto(run)
    assert page.get_by_role("heading", name="released").is_visible()
    sam.check()
    page.get_by_role("link", name="Share", exact=True).click()
    sam.check()
    gus.page.goto("/released")
    assert gus.page.get_by_text("No table is shared with you yet.").is_visible()
    page.get_by_label("Gus", exact=True).check()
    page.get_by_role("button", name="Share with these guests").click()
    page.get_by_text("The guests who are chosen see it now.").wait_for()

    gus.page.goto("/released")
    gus.check()
    gus.page.get_by_role("link", name="study", exact=True).click()
    gus.page.locator("table.released").wait_for()
    gus.check()
    gus.picture("guest-table")
    assert gus.page.locator("table.released tbody tr").count() == 100
    assert "<b>odd</b>" in gus.page.locator("table.released").inner_text()
    with gus.page.expect_download() as download:
        gus.page.goto(gus.page.url.split("?")[0] + "/files")
        gus.check()
        gus.page.get_by_role("link", name="visits.csv").click()
    return server, people, Path(download.value.path()).read_bytes()


def test_from_the_first_account_to_a_table_that_a_guest_reads(walked):
    server, _, sent = walked
    released = next((server.runs / "clinic").glob("*/released/study/visits.csv"))
    assert sent == released.read_bytes()


SCREENS = {"wide": ({"width": 1280, "height": 800}, "light"), "narrow": ({"width": 320, "height": 640}, "dark")}
PAGES = {
    "Ada": ("/", "/accounts", "/accounts/2", "/journal", "/journal/check", "/account"),
    "Ann": ("/", "/approvals", "/runs", "/released"),
    "Gus": ("/", "/released", "{shown}", "{shown}/sheet", "{shown}/files", "/explain", "/explain/k_anonymity"),
    "Sam": (
        "/uploads",
        "/policies",
        "/policies/new",
        "/policies/removed",
        "/policies/clinic.yaml",
        "/policies/clinic.yaml/edit",
        "/policies/clinic.yaml/form",
        "/policies/clinic.yaml/hierarchies",
        "/policies/clinic.yaml/resolved",
        "/policies/clinic.yaml/changes",
        "/policies/clinic.yaml/history",
        "/policies/clinic.yaml/run",
        "/policies/clinic.yaml/sweep",
        "/runs",
        "{released}",
        "{released}/report",
        "{withheld}",
        "/runs/compare?old={old}&new={new}",
        "/jobs",
        "/approvals",
        "/waivers",
        "/waivers/new/clinic.yaml",
        "/shown",
        "/key",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_usable_wide_and_narrow_in_light_and_dark(walked, name):
    server, people, _ = walked
    withheld, released = sorted(folder.name for folder in (server.runs / "clinic").iterdir())
    names = {
        "released": f"/runs/clinic/{released}",
        "withheld": f"/runs/clinic/{withheld}",
        "old": f"clinic/{withheld}",
        "new": f"clinic/{released}",
        "shown": f"/released/clinic/{released}/study",
    }
    person = people[name]
    for screen, (size, colors) in SCREENS.items():
        person.page.set_viewport_size(size)
        person.page.emulate_media(color_scheme=colors)
        for address in PAGES[name]:
            answer = person.page.goto(address.format(**names))
            assert answer.status == 200, address
            person.check()
            person.picture(f"{name}{address.replace('/', '-').partition('?')[0]}-{screen}")
            too_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not person.page.evaluate(too_wide), (address, screen)


@pytest.mark.parametrize("address", ["/policies", "/runs", "/jobs", "/uploads", "/accounts", "/journal", "/approvals"])
def test_a_guest_is_refused_whatever_is_not_shown(way, address):
    _, people = way
    answer = people["Gus"].page.goto(address)
    assert answer.status == 403
    people["Gus"].check()
