"""What guests read: the released tables that are shown to them, and nothing else."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from prepared_runs import prepared_run
from signed_runs import BEGIN
from sites import PATIENCE, Browser, Server

from ppdm_flow import api
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.texts import visible
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.bounded import LimitExceededError
from ppdm_flow.page.services.places import PERSON
from ppdm_flow.page.services.released import files
from ppdm_flow.page.services.tables import shown_tables
from ppdm_flow.page.serving.server import upkeep
from ppdm_flow.page.views import guests
from ppdm_flow.page.views import guests as table_view
from ppdm_flow.page.views.guests import described

POLICY = f"""{BEGIN}\
  study: {{path: study.csv, from: recoded, description: For a study}}
  office: {{path: office.parquet, from: recoded}}
randomness: {{mode: reproducible, seed: 7}}
description: Visits of a clinic
"""


class _Cells(HTMLParser):
    """Collects the rows of the released table, with the classes of their cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, str]]] = []
        self.sorts: list[str] = []
        self._cell: tuple[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self._cell = (words.get("class") or "", "")
        if tag == "th" and "aria-sort" in words:
            self.sorts.append(str(words["aria-sort"]))

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell = (self._cell[0], self._cell[1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "td" and self._cell is not None:
            self.rows[-1].append(self._cell)
            self._cell = None


def _cells(text: str) -> list[list[tuple[str, str]]]:
    parser = _Cells()
    parser.feed(text)
    return [row for row in parser.rows if row]


def _texts(text: str) -> list[list[str]]:
    return [[told for _, told in row] for row in _cells(text)]


def _shown(server: Server, release: str = "study", *, report: bool = False, **words: object) -> str:
    """Show one release of a run to guests, and return its address."""
    run = prepared_run(server.site.settings.runs, POLICY, **words)
    steward, guest = server.users[PageRole.STEWARD], server.users[PageRole.GUEST]
    assert server.site.shown.show(steward, "clinic", run.name, release, [guest], report=report) is None
    return f"/released/clinic/{run.name}/{release}"


def _read(browser: Browser, server: Server, address: str, **query: str) -> str:
    """Return a page of a table, whose copy is made first."""
    browser.get(address)
    assert server.site.tables.finished(PATIENCE)
    answer = browser.get(address, **query)
    assert answer.status_code == 200
    return answer.text


def _released(server: Server, address: str) -> list[list[str]]:
    file = (
        server.site.settings.runs / address.removeprefix("/released/").rpartition("/")[0] / "released/study/study.csv"
    )
    return [line.replace('"', "").rsplit(",", 2) for line in file.read_text().splitlines()[1:]]


@pytest.mark.slow
def test_a_guest_reads_the_rows_of_a_released_table_as_they_are_in_its_file(server: Server):
    address, guest = _shown(server, rows=260), server.browser(PageRole.GUEST)
    listed = guest.get("/released").text
    assert f'href="{address}"' in listed
    assert "For a study" in listed
    waiting = guest.get(address)
    assert waiting.status_code == 200
    assert _cells(waiting.text) == []
    assert 'hx-trigger="load delay:2s"' in waiting.text
    rows = _released(server, address)
    pages = [_texts(_read(guest, server, address, page=str(page))) for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [100, 100, 60]
    assert [row for page in pages for row in page] == rows
    assert _texts(_read(guest, server, address, page="99")) == pages[2]


@pytest.mark.slow
def test_the_list_of_releases_has_the_beginning_of_long_descriptions(server: Server, monkeypatch):
    """Each may have a megabyte, and all guests read the list."""
    long = f"begin {'x' * 5_000} end"
    run = prepared_run(server.site.settings.runs, POLICY.replace("For a study", long))
    steward, invited = server.users[PageRole.STEWARD], server.users[PageRole.GUEST]
    assert server.site.shown.show(steward, "clinic", run.name, "study", [invited]) is None
    address = f"/released/clinic/{run.name}/study"
    guest = server.browser(PageRole.GUEST)
    listed, table = guest.get("/released").text, guest.get(address).text
    assert ("begin x" in listed, "x end" in listed, long in listed, long in table) == (True, True, False, True)
    assert guest.get(f"{address}/sheet.html").status_code == 200
    monkeypatch.setattr(guests, "_DOCUMENTS_LONGEST", 1_000)
    assert guest.get(f"{address}/sheet.html").status_code == 413
    assert guest.get(f"{address}/files").status_code == 200


@pytest.mark.slow
def test_of_many_shown_releases_those_of_one_page_are_read(server: Server, monkeypatch):
    """Documents of thousands take minutes, and every guest begins with this page."""
    addresses = {_shown(server), _shown(server, "office")}
    monkeypatch.setattr(guests, "_EACH", 1)
    read = []
    monkeypatch.setattr(guests, "described", lambda shown: read.append(shown) or described(shown))
    guest = server.browser(PageRole.GUEST)
    texts = [guest.get("/released", page=number).text for number in ("1", "2", "99", "x")]
    listed = [{each for each in addresses if f'href="{each}"' in text} for text in texts]
    assert [len(each) for each in listed] == [1, 1, 1, 1]
    assert (listed[0] | listed[1], listed[2]) == (addresses, listed[1])
    assert len(read) == 4


@pytest.mark.slow
def test_the_list_of_releases_waits_for_few_descriptions_and_goes_on_with_the_others(server: Server, monkeypatch):
    """Fifty manifests of 8 MB took half a minute."""
    addresses = {_shown(server), _shown(server, "office")}
    monkeypatch.setattr(guests, "_SECONDS", -1.0)
    guest = server.browser(PageRole.GUEST)
    listed = guest.get("/released").text
    assert all(f'href="{each}"' in listed for each in addresses)
    assert listed.count("was not read yet") == 1
    assert "A file of this release" not in listed
    monkeypatch.setattr(guests, "_SECONDS", PATIENCE)
    assert "was not read yet" not in guest.get("/released").text


@pytest.mark.slow
def test_documents_that_take_too_long_are_not_read_for_each_list(server: Server, monkeypatch):
    address, guest, asked = _shown(server), server.browser(PageRole.GUEST), []

    def exceed(*words):
        asked.append(words)
        raise LimitExceededError(Diagnostic("PPF997", "too long"))

    shown_tables._described.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(shown_tables, "LARGE", 0)
        patched.setattr(shown_tables.CHECKS, "run", exceed)
        for _ in range(3):
            assert f'href="{address}"' not in guest.get("/released").text
        assert guest.get(address).status_code == 409
    assert len(asked) == 1
    monkeypatch.setattr(shown_tables, "_later", {})
    assert f'href="{address}"' in guest.get("/released").text


@pytest.mark.slow
def test_copies_of_tables_stay_where_it_takes_long_to_find_out_which_are_shown(server: Server, monkeypatch):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    _read(guest, server, address)
    tables, shown = server.site.tables, server.site.shown
    (copy,) = (server.site.settings.tables).iterdir()
    monkeypatch.setattr(shown_tables, "_SECONDS", -1.0)
    shown.hide("clinic", address.split("/")[3], "study")
    _shown(server, "office")
    shown_tables.keep_shown(tables, shown.releases())
    assert copy.is_dir()
    monkeypatch.setattr(shown_tables, "_SECONDS", PATIENCE)
    shown_tables.keep_shown(tables, shown.releases())
    assert not copy.exists()


@pytest.mark.slow
def test_rows_are_filtered_and_ordered_by_what_the_address_says(server: Server):
    address, guest = _shown(server, rows=260), server.browser(PageRole.GUEST)
    rows = _released(server, address)
    towns = sorted({row[1] for row in rows})
    by_town = _texts(_read(guest, server, address, c1="1"))
    assert by_town == [row for row in rows if row[1] == towns[1]][:100]
    ordered = _read(guest, server, address, by="2", down="1", page="2")
    assert [row[2] for row in _texts(ordered)] == sorted((row[2] for row in rows), reverse=True)[100:200]
    assert 'aria-sort="descending"' in ordered
    both = _read(guest, server, address, c1="0", c2="1", by="0")
    illness = sorted({row[2] for row in rows})[1]
    assert sorted(_texts(both)) == sorted(row for row in rows if row[1:] == [towns[0], illness])[:100]
    assert both.count('class="active"') == 1


@pytest.fixture(scope="module")
def address(shared_server: Server) -> str:
    """Return the address of a table on the server that tests share."""
    return _shown(shared_server)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "query",
    [
        {"page": "0"},
        {"page": "-1"},
        {"page": "9" * 40},
        {"page": "x"},
        {"by": "99"},
        {"by": "٣"},
        {"c1": "9"},
        {"c1": "' OR 1=1 --"},
        {"c7": "1"},
        {"first": "77"},
        {"c0is": "nothing"},
    ],
    ids=str,
)
def test_words_that_fit_nothing_are_left_out(shared_server: Server, address, query):
    guest = shared_server.signed_in(PageRole.GUEST)
    assert _texts(_read(guest, shared_server, address, **query)) == _released(shared_server, address)


def test_what_was_generalized_or_suppressed_is_told_by_words_and_marks(server: Server):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    text = _read(guest, server, address)
    assert all(kind.split() == ["choice", "generalized"] for (kind, _), *_ in _cells(text))
    assert all(kind == "choice" for *_, (kind, _) in _cells(text))
    assert '<span class="change generalized">generalized</span>' in text
    assert "covers several values" in text


def test_suppressed_and_missing_cells_are_not_told_apart_by_colour_alone(server: Server):
    run = _hand_made(server, [["a", "⊥"], ["", "x"], ["b", None]])
    cells = _cells(_read(server.browser(PageRole.GUEST), server, f"/released/clinic/{run}/study"))
    assert cells == [
        [("choice", "a"), ("suppressed", "⊥suppressed")],
        [("choice", ""), ("choice", "x")],
        [("choice", "b"), ("missing", "missing")],
    ]


def _hand_made(server: Server, rows: list[list[str | None]], names: tuple[str, ...] = ("one", "two")) -> str:
    """Put rows in the place of those of a released run, its documents with them, and return the run's name."""
    address = _shown(server)
    run = server.site.settings.runs / "clinic" / address.split("/")[3]
    file = run / "released/study/study.csv"
    quoted = [['""' if c == "" else "" if c is None else '"' + c.replace('"', '""') + '"' for c in row] for row in rows]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    file.write_text("\n".join([head, *(",".join(row) for row in quoted)]) + "\n", encoding="utf-8")
    dictionary = run / "released/study/dictionary.json"
    document = json.loads(dictionary.read_text())
    about = {"type": "text", "role": "insensitive", "computed_from": [], "how": "unchanged", "done": []}
    document["attributes"] = [{"name": name, **about} for name in names]
    dictionary.write_text(json.dumps(document))
    manifest = run / "manifest.json"
    listing = json.loads(manifest.read_text())
    for path in (file, dictionary):
        about_file = {"bytes": path.stat().st_size, "sha256": sha256(path)}
        listing["files"][path.relative_to(run).as_posix()] = about_file
    manifest.write_text(json.dumps(listing))
    return run.name


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "=cmd|' /C calc'!A0",
    "\u202etxt",
    "'\";--",
)


def test_hostile_names_and_values_are_texts_and_nothing_else(server: Server):
    names = tuple(f"{word} {number}" for number, word in enumerate(HOSTILE))
    run = _hand_made(server, [list(HOSTILE), list(reversed(HOSTILE))], names)
    guest = server.browser(PageRole.GUEST)
    text = _read(guest, server, f"/released/clinic/{run}/study")
    shown = [visible(word) for word in HOSTILE]
    assert _texts(text) == [shown, shown[::-1]]
    assert shown != list(HOSTILE)
    assert "<script>alert" not in text
    assert "<img" not in text
    filtered = _read(guest, server, f"/released/clinic/{run}/study", c0="0", c1="1")
    assert "<script>alert" not in filtered


def test_a_choice_that_no_row_has_is_not_asked_for(server: Server):
    run = _hand_made(server, [["x", "a"], ["y", "b"], ["⊥", "c"]])
    guest, address = server.browser(PageRole.GUEST), f"/released/clinic/{run}/study"
    assert len(_texts(_read(guest, server, address, c0="3"))) == 3  # the code of missing cells: there are none
    assert len(_texts(_read(guest, server, address, c1="3"))) == 3  # the code of suppressed ones
    for words in ({"c0": "2"}, {"c1": "2"}):
        assert _texts(_read(guest, server, address, **words)) == [["⊥suppressed", "c"]]


def test_a_bound_that_is_no_value_is_told_beside_its_field(server: Server):
    run = _hand_made(server, [["1", "a"], ["2", "b"], ["30", "c"]])
    folder = server.site.settings.runs / "clinic" / run
    _retyped(folder, "integer")
    guest, address = server.browser(PageRole.GUEST), f"/released/clinic/{run}/study"
    assert _texts(_read(guest, server, address, c0from="2", c0to="30.5")) == [["2", "b"], ["30", "c"]]
    wrong = _read(guest, server, address, c0from="two")
    assert _cells(wrong) == []
    assert 'role="alert"' in wrong
    assert 'aria-invalid="true"' in wrong


def _retyped(run: Path, kind: str) -> None:
    dictionary, manifest = run / "released/study/dictionary.json", run / "manifest.json"
    document = json.loads(dictionary.read_text())
    document["attributes"][0]["type"] = kind
    dictionary.write_text(json.dumps(document))
    listing = json.loads(manifest.read_text())
    listing["files"]["released/study/dictionary.json"]["sha256"] = sha256(dictionary)
    manifest.write_text(json.dumps(listing))


def test_many_columns_are_shown_some_at_a_time_and_filters_on_others_stay(server: Server, monkeypatch):
    monkeypatch.setattr(table_view, "COLUMNS", 2)
    names = tuple(f"n{number}" for number in range(5))
    run = _hand_made(server, [[f"{row}{column}" for column in range(5)] for row in range(3)], names)
    guest, address = server.browser(PageRole.GUEST), f"/released/clinic/{run}/study"
    assert _texts(_read(guest, server, address, first="3")) == [["02", "03"], ["12", "13"], ["22", "23"]]
    kept = _read(guest, server, address, first="4", c0="1")
    assert _texts(kept) == [["14"]]
    assert '<input type="hidden" name="c0" value="1">' in kept


def test_only_what_is_shown_can_be_asked_for_by_name(server: Server):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    run = address.split("/")[3]
    for place in (
        f"/released/clinic/{run}/office",
        f"/released/clinic/{run}/..",
        f"/released/clinic/{run}/study%2f..%2foffice",
        f"/released/..%2f..%2fpolicies/{run}/study",
        f"/released/clinic/{run}/study/files/..%2foffice%2foffice.parquet",
        f"/released/clinic/{run}/study/files/../../../report.json",
        f"/released/clinic/{run}/study/files/%2fetc%2fpasswd",
        f"/released/clinic/{run}/study/files/nothing.csv",
        f"/released/clinic/{run}/study/report",
        f"/released/clinic/{run}/study/report.html",
    ):
        assert guest.client.get(place).status_code == 404, place
    assert guest.get(f"{address}/files/study.csv").status_code == 200
    server.site.shown.hide("clinic", run, "study")
    for page in ("", "/sheet", "/sheet.html", "/files", "/files.zip", "/files/study.csv"):
        assert guest.get(address + page).status_code == 404


def test_what_is_taken_back_leaves_the_servers_folder_too(server: Server):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    _read(guest, server, address)
    assert any(server.site.settings.tables.iterdir())
    server.site.shown.hide("clinic", address.split("/")[3], "study")
    assert "No table is shared" in guest.get("/released").text
    until = time.monotonic() + PATIENCE
    with upkeep(server.site, 0.05):
        while any(server.site.settings.tables.iterdir()):
            assert time.monotonic() < until
            time.sleep(0.02)


def test_sheet_and_report_are_framed_without_rights(server: Server):
    address, guest = _shown(server, "office", report=True), server.browser(PageRole.GUEST)
    for page in ("sheet", "report"):
        around = guest.get(f"{address}/{page}")
        assert f'<iframe class="report" sandbox src="{address}/{page}.html"' in around.text
        framed = guest.get(f"{address}/{page}.html")
        policy = framed.headers["content-security-policy"]
        assert policy.startswith("sandbox;")
        assert "script-src" not in policy
        assert "frame-ancestors 'self'" in policy
        assert framed.headers["x-frame-options"] == "SAMEORIGIN"
        assert guest.get("/released").headers["x-frame-options"] == "DENY"
    assert "Do not share" not in framed.text
    assert "may be shared" in framed.text


def test_a_public_report_speaks_of_its_release_alone(server: Server):
    address, guest = _shown(server, "office", report=True), server.browser(PageRole.GUEST)
    report = guest.get(f"{address}/report.html").text
    digest = hashlib.sha256(
        (server.site.settings.runs / "clinic" / address.split("/")[3] / "released/study/study.csv").read_bytes()
    ).hexdigest()
    for told in ("study", "For a study", digest[:12]):
        assert told not in report
    assert "office.parquet" in report
    assert "k_anonymity" in report


def test_files_are_sent_as_they_were_released_and_the_archive_verifies(server: Server, tmp_path: Path):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    run = server.site.settings.runs / "clinic" / address.split("/")[3]
    listed = guest.get(f"{address}/files").text
    for file in sorted((run / "released/study").iterdir()):
        assert f'href="{address}/files/{quote(file.name)}"' in listed
        sent = guest.get(f"{address}/files/{file.name}")
        assert sent.content == file.read_bytes()
        assert sent.headers["content-disposition"] == f"attachment; filename*=utf-8''{file.name}"
        assert sent.headers["content-type"] == "application/octet-stream"
    packed = guest.get(f"{address}/files.zip")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "unpacked")
    same = {p.name: p.read_bytes() for p in (run / "released/study").iterdir()}
    assert {p.name: p.read_bytes() for p in (tmp_path / "unpacked/study").iterdir()} == same
    told = api.verify_folder(tmp_path / "unpacked/study")
    assert "NOTHING vouches" in told.text  # nobody signed it, but it is the folder of a release
    entries = [(e.account, e.action, e.outcome) for e in server.site.journal.newest(10)]
    assert entries.count(("guest", "guests.download", "done")) == len(same) + 1


def test_a_file_that_was_changed_after_its_release_is_not_sent(server: Server):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    run = server.site.settings.runs / "clinic" / address.split("/")[3]
    file = run / "released/study/study.csv"
    assert guest.get(f"{address}/files/study.csv").status_code == 200
    file.write_text(file.read_text().replace("flu", "xyz"))
    for page in ("/files/study.csv", "/files.zip"):
        answer = guest.get(address + page)
        assert answer.status_code == 409
        assert "xyz" not in answer.text
    guest.get(address)
    assert server.site.tables.finished(PATIENCE)
    assert "changed after its release" in guest.get(address).text
    (run / "released/study/dictionary.json").write_text("{}")
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text() + " ")
    assert "not as they were released" in guest.get("/released").text
    assert guest.get(address).status_code == 409


def test_who_waits_too_long_for_others_is_told_to_come_again(server: Server):
    address, guest = _shown(server), server.browser(PageRole.GUEST)
    _read(guest, server, address)
    server.site.tables._patience = 0.01
    with ExitStack() as held:
        for number in range(server.site.settings.table_readers):
            PERSON.set(str(number))
            held.enter_context(server.site.tables.reading())
        assert guest.get(address).status_code == 503
    PERSON.set("")
    assert guest.get(address).status_code == 200


def test_an_administrator_reads_no_table(server: Server):
    address, administrator = _shown(server), server.browser(PageRole.ADMINISTRATOR)
    for page in ("", "/sheet", "/files", "/files.zip", "/files/study.csv"):
        assert administrator.get(address + page).status_code == 403
    assert administrator.get("/released").status_code == 403
    for role in (PageRole.STEWARD, PageRole.APPROVER):
        assert server.browser(role).get(f"{address}/files").status_code == 200


def test_long_documents_of_a_release_are_parsed_by_processes_of_their_own(server: Server, monkeypatch):
    address = _shown(server, report=True)

    def not_here(*_told: object) -> None:
        raise AssertionError("parsed by the server itself")

    monkeypatch.setattr(files, "_json", not_here)
    monkeypatch.setattr(shown_tables, "LARGE", 0)
    guest = server.browser(PageRole.GUEST)
    assert guest.get("/released").status_code == 200
    page = guest.get(f"{address}/report.html")
    assert page.status_code == 200
    assert "study" in page.text
    assert "study.csv" in guest.get(f"{address}/files").text
    assert guest.get(f"{address}/sheet.html").status_code == 200
    assert guest.get(f"{address}/files/study.csv").status_code == 200
    (server.site.settings.runs / address.split("/", 2)[2].rpartition("/")[0] / "manifest.json").write_text("{}")
    assert guest.get(f"{address}/files").status_code == 409
