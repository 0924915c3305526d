"""Uploading in a browser: with the script, and without any."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import PASSWORD, Person, opened, served_here

from ppdm_flow.core.texts import visible
from ppdm_flow.page.services.accounts.roles import PageRole

ROWS = 100_000
TABLE = b"age,job\n" + b"".join(b"%d,job %d\n" % (number % 90, number % 700) for number in range(ROWS))


@pytest.fixture
def server(tmp_path: Path):
    site = opened(tmp_path, upload_bytes=3 * 2**20)
    site.accounts.add("steward", [PageRole.STEWARD], PASSWORD)
    with served_here(site) as server:
        yield server


def choose(person: Person, name: str, data: bytes) -> None:
    person.page.get_by_label("File", exact=True).set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": data}]
    )


def files(server) -> list[bytes]:
    return [file.read_bytes() for file in (server.folder / "state" / "uploads").glob("*/*")]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_table_is_sent_listed_and_removed(chromium, server, scripts):
    person = Person(chromium, server, java_script_enabled=scripts)
    person.sign_in("steward")
    person.page.goto("/uploads")
    if scripts:
        person.check()
    choose(person, "clinic.csv", TABLE)
    person.page.get_by_role("button", name="Upload").click()
    person.page.get_by_text("The table is here.").wait_for()
    assert person.page.get_by_role("cell", name="job 1", exact=True).is_visible()
    person.page.get_by_role("link", name="All your tables").click()
    assert person.page.get_by_role("rowheader", name="clinic.csv").is_visible()
    assert files(server) == [TABLE]
    if scripts:
        person.check()
    person.picture(f"uploads-{'with' if scripts else 'without'}-scripts")
    person.page.get_by_role("button", name="Remove clinic.csv").click()
    person.page.get_by_text("The table was removed.").wait_for()
    assert files(server) == []
    person.context.close()


def test_what_is_refused_is_told_beside_the_form(chromium, server):
    person = Person(chromium, server)
    person.sign_in("steward")
    person.page.goto("/uploads")
    choose(person, "<img src=x>.csv", b"%PDF-1.7")
    person.page.get_by_role("button", name="Upload").click()
    told = person.page.locator("form [role=alert]")
    told.get_by_text("the upload is refused").wait_for()
    assert "PPF995" in told.inner_text()
    assert person.page.url.endswith("/uploads")
    assert person.page.get_by_role("button", name="Upload").is_enabled()
    person.check()
    choose(person, "large.csv", b"0" * (4 * 2**20))
    person.page.get_by_role("button", name="Upload").click()
    person.page.get_by_text("The file is larger than the server takes. Nothing was sent.").wait_for()
    assert files(server) == []
    person.context.close()


def test_a_hostile_file_name_is_shown_as_it_is(chromium, server):
    person = Person(chromium, server)
    person.sign_in("steward")
    person.page.goto("/uploads")
    name = "<img src=x onerror=alert(1)>{{7*7}}\u202e.csv"
    choose(person, name, b"age\n30\n")
    person.page.get_by_role("button", name="Upload").click()
    person.page.get_by_text("The table is here.").wait_for()
    assert person.page.locator("h1").inner_text() == visible(name)
    person.page.goto("/uploads")
    assert person.page.get_by_role("rowheader").inner_text() == visible(name)
    assert person.page.locator("main img").count() == 0
    person.check()
    person.context.close()


def test_a_person_stops_it(chromium, server):
    person = Person(chromium, server)
    person.sign_in("steward")
    person.page.goto("/uploads")
    session = person.context.new_cdp_session(person.page)
    session.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 10_000}
    session.send("Network.emulateNetworkConditions", slow)
    choose(person, "clinic.csv", TABLE)
    person.page.get_by_role("button", name="Upload").click()
    person.page.get_by_role("button", name="Stop").click()
    person.page.get_by_text("Stopped. Nothing was kept.").wait_for()
    assert person.page.get_by_role("button", name="Upload").is_enabled()
    person.page.goto("/uploads")
    assert person.page.get_by_text("There is no table of yours here.").is_visible()
    person.context.close()


def test_a_row_is_filled_in(chromium, server):
    person = Person(chromium, server)
    person.sign_in("steward")
    person.page.goto("/uploads")
    choose(person, "clinic.csv", b"age,job\n30,nurse\n")
    person.page.get_by_role("button", name="Upload").click()
    person.page.get_by_role("link", name="All your tables").click()
    person.page.get_by_role("link", name="Add a row to clinic.csv").click()
    person.check()
    person.page.get_by_label("age").fill("52")
    person.page.get_by_label("job").fill('cook, "chef"')
    person.picture("uploads-row")
    person.page.get_by_role("button", name="Add the row").click()
    person.page.get_by_text("The row was added.").wait_for()
    person.check()
    assert files(server) == [b'age,job\n30,nurse\n52,"cook, ""chef"""\n']
