"""The first rows of an upload: as they were read, to the uploader alone, and kept nowhere."""

from __future__ import annotations

import pytest
from sites import PASSWORD, PATIENCE, Server, send_upload

from ppdm_flow.page.services.accounts.roles import PageRole

STEWARD = PageRole.STEWARD
TABLE = "name;town;age\n" + "".join(
    f"Köln {number};{'?' if number % 2 else 'Ulm'};{20 + number}\n" for number in range(30)
)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def steward(server):
    return server.browser(STEWARD)


def _written(server: Server) -> bytes:
    """Return all that the server keeps, but for the uploads themselves."""
    state = server.site.settings.state
    files = (file for file in state.rglob("*") if file.is_file() and server.site.settings.uploads not in file.parents)
    return b"".join(file.read_bytes() for file in files)


def test_the_first_rows_are_shown_with_how_they_were_read(server, steward, caplog):
    upload = server.upload(STEWARD, "towns.csv", TABLE.encode("cp1252"))
    answer = steward.get(f"/uploads/{upload.id}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert '<th scope="col">town</th>' in answer.text
    assert "<td>Köln 0</td>" in answer.text
    assert '<td class="quiet">missing</td>' in answer.text
    assert "Köln 20" not in answer.text, "only the first rows"
    for found in ("semicolons", "cp1252", "names the columns"):
        assert f"found out: {found}" in answer.text
    assert "Found out: ?." in answer.text
    assert "Köln".encode() not in _written(server)
    assert "Köln" not in caplog.text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"delimiter": ","}, "<td>Köln 0;Ulm;20</td>"),
        ({"header": "no"}, "<td>name</td>"),
        ({"encoding": "latin-1"}, "<td>KÃ¶ln 0</td>"),
        ({"missing": "Ulm"}, "<td>?</td>"),
        ({"header": "--out", "delimiter": "x", "encoding": "y"}, "<td>Köln 0</td>"),
    ],
)
def test_what_the_owner_says_is_how_it_is_read(server, steward, said, shown):
    upload = server.upload(STEWARD, "towns.csv", TABLE.encode())
    answer = steward.send(f"/uploads/{upload.id}", **said)
    assert answer.status_code == 200
    assert shown in answer.text


@pytest.mark.slow
def test_what_was_said_is_how_the_policy_reads_it(server, steward):
    upload = server.upload(STEWARD, "towns.csv", TABLE.replace("?", "n.k.").encode("latin-1"))
    steward.send("/form/new", upload=upload.id, header="yes", delimiter=";", encoding="latin-1", missing="n.k., -9")
    job = server.site.jobs.finished(server.site.jobs.of(server.users[STEWARD])[0], PATIENCE)
    assert job.exit_code == 0, job.talk
    steward.send(job.leads_to, name="towns")
    text = server.site.policies.read("towns.yaml").text
    assert 'missing: ["", "n.k.", "-9"]' in text
    assert "Köln" not in job.output + job.talk + text


def test_nobody_else_sees_them(server, steward):
    upload = server.upload(STEWARD, "towns.csv", TABLE.encode())
    server.users[PageRole.GUEST] = server.site.accounts.add("other", [STEWARD], PASSWORD)
    other = server.browser(PageRole.GUEST)
    for browser, status in ((other, 404), (server.browser(PageRole.APPROVER), 403), (server.browser(), None)):
        for answer in (browser.get(f"/uploads/{upload.id}"), browser.send(f"/uploads/{upload.id}")):
            assert "Köln" not in answer.text
            assert answer.status_code == status or status is None
    assert steward.client.post(f"/uploads/{upload.id}").status_code == 403, "a form without its token"


def test_values_and_names_are_only_text(server, steward):
    data = f'a,{HOSTILE}\n"{HOSTILE}",{"x" * 5000}\n1,2\n'.encode()
    upload = server.upload(STEWARD, "odd.csv", data)
    page = steward.send(f"/uploads/{upload.id}", header="yes").text
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert "x" * 100 not in page


@pytest.mark.parametrize(
    ("data", "row", "control"),
    [
        (b"a,b,c\n1,2,3\n1,2\n3,4,5\n", "row 2", "What parts cells"),
        (b"a,b\n" + "é,2\n".encode() * 3 + b"\x81\x8d,2\n", "line 5", "Encoding"),
        (b"a,a\n1,2\n", "columns 1 and 2", "The first line"),
    ],
)
def test_a_refused_file_names_the_row_and_the_control_that_mends_it(server, steward, data, row, control):
    answer = send_upload(steward, "odd.csv", data)
    assert answer.status_code == 400
    assert row in answer.text
    assert f"<code>{control}</code>" in answer.text
    assert control in steward.get("/uploads").text
    assert server.site.uploads.all_of(server.users[STEWARD]) == []


def test_a_control_mends_a_refused_file(server, steward):
    upload = server.upload(STEWARD, "towns.csv", TABLE.encode("cp1252"))
    answer = steward.send(f"/uploads/{upload.id}", encoding="utf-8")
    assert answer.status_code == 422
    assert "is not text in the encoding utf-8" in answer.text
    assert "This control mends it." in answer.text
    assert "This is right, go on" not in answer.text
    assert "<td>Köln 0</td>" in steward.send(f"/uploads/{upload.id}", encoding="latin-1").text
