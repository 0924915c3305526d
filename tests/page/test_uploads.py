"""Uploads: private, limited, what their names say, gone in time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import stat
import struct
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter
from sites import PASSWORD, Server, send_upload

from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.uploads.arriving import UploadLimits
from ppdm_flow.page.services.uploads.kinds import kind_of
from ppdm_flow.page.services.uploads.uploads import Uploads, look
from ppdm_flow.page.settings import Settings

TABLE = b"age,job\n30,nurse\n41,clerk\n"
MEGABYTE = 2**20


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"age": [30, 41]}), file)
    return file.getvalue()


def workbook(rows=(("age", "job"), (30, "nurse"))) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate(rows):
            sheet.write_row(row, 0, cells)
    return file.getvalue()


@pytest.fixture
def steward(server: Server):
    return server.browser(PageRole.STEWARD)


def kept(server: Server, role: PageRole = PageRole.STEWARD):
    return server.site.uploads.all_of(server.users[role])


def left(server: Server) -> list[str]:
    return sorted(each.name for each in server.site.settings.uploads.iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("new_pythons")
def test_a_table_is_kept_privately_and_shown_to_its_owner(server, steward):
    answer = send_upload(steward, "clinic.csv", TABLE)
    (upload,) = kept(server)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/uploads/{upload.id}?said=uploads.added")
    assert (upload.name, upload.format, upload.bytes) == ("clinic.csv", "csv", len(TABLE))
    assert upload.path.read_bytes() == TABLE
    assert stat.S_IMODE(upload.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(upload.path.parent.stat().st_mode) == 0o700
    for served in (server.site.settings.policies, server.site.settings.runs):
        assert not upload.path.resolve().is_relative_to(served.resolve())
    page = steward.get("/uploads").text
    assert "clinic.csv" in page
    assert "nurse" not in page


@pytest.mark.slow
def test_nobody_else_sees_or_removes_it(server, steward):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", TABLE)
    other = server.site.accounts.add("other", [PageRole.STEWARD], None)
    assert server.site.uploads.of(other, upload.id) is None
    assert server.site.uploads.all_of(other) == []
    assert not server.site.uploads.remove(other, upload.id)
    assert server.site.uploads.of(server.users[PageRole.STEWARD], upload.id) == upload


@pytest.mark.slow
def test_its_owner_removes_it(server, steward):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", TABLE)
    answer = steward.send(f"/uploads/{upload.id}/remove")
    assert answer.headers["location"] == "/uploads?said=uploads.removed"
    assert left(server) == []
    assert steward.send(f"/uploads/{upload.id}/remove").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "cells", "line"),
    [
        (TABLE, ["52", "cook"], b"52,cook\n"),
        (TABLE[:-1], ["52", "cook"], b"\n52,cook\n"),
        (b"age;job\r\n30;nurse\r\n", ["52", 'cook; "chef"'], b'52;"cook; ""chef"""\r\n'),
        ("age,job\n30,Köchin\n".encode("latin-1"), ["", "Bäcker"], ",Bäcker\n".encode("latin-1")),
    ],
)
def test_its_owner_adds_a_row(server, steward, table, cells, line):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", table)
    page = steward.get(f"/uploads/{upload.id}/row").text
    assert (">age</label>" in page, ">job</label>" in page, "nurse" in page) == (True, True, False)
    answer = steward.send(f"/uploads/{upload.id}/row", **{f"cell-{n}": cell for n, cell in enumerate(cells)})
    assert answer.headers["location"] == f"/uploads/{upload.id}/row?said=uploads.row_added"
    assert upload.path.read_bytes() == table + line
    assert kept(server)[0].bytes == len(table + line)
    text = io.StringIO(upload.path.read_bytes().decode("latin-1"), newline="")
    assert list(csv.reader(text, delimiter=";" if b";" in table else ","))[-1] == cells


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "status"),
    [([], 409), (["1"], 409), (["1", "2", "3"], 409), (["", " "], 400), (["1", "a\nb"], 400), (["1", "Ł"], 400)],
)
def test_a_row_that_the_table_cannot_have_is_refused(server, steward, cells, status):
    table = "age,job\n30,Köchin\n".encode("latin-1")
    upload = server.upload(PageRole.STEWARD, "clinic.csv", table)
    answer = steward.send(f"/uploads/{upload.id}/row", **{f"cell-{n}": cell for n, cell in enumerate(cells)})
    assert (answer.status_code, upload.path.read_bytes()) == (status, table)


@pytest.mark.slow
def test_rows_are_added_by_the_owner_alone_and_to_text(server, steward):
    other = server.site.accounts.add("other", [PageRole.STEWARD], None)
    with server.site.uploads.arriving(other, len(TABLE)) as arrived:
        arrived.write(TABLE)
        theirs = server.site.uploads.keep(other, arrived, "clinic.csv")
    packed = server.upload(PageRole.STEWARD, "clinic.csv.gz", gzip.compress(TABLE))
    for upload in (theirs, packed, server.upload(PageRole.STEWARD, "clinic.parquet", parquet())):
        before = upload.path.read_bytes()
        assert steward.get(f"/uploads/{upload.id}/row").status_code == 404
        assert steward.send(f"/uploads/{upload.id}/row", **{"cell-0": "1", "cell-1": "2"}).status_code == 404
        assert upload.path.read_bytes() == before
    assert steward.get("/uploads").text.count('/row"') == 0


@pytest.mark.slow
def test_rows_do_not_grow_a_table_beyond_its_limit(server, steward):
    upload, user = server.upload(PageRole.STEWARD, "clinic.csv", TABLE), server.users[PageRole.STEWARD]
    limits = replace(UploadLimits.of(server.site.settings), bytes_each=len(TABLE) + 4)
    uploads = Uploads(server.site.database, server.site.settings.uploads, limits)
    uploads.add_row(user, upload, ["1", "2"])
    with pytest.raises(PpdmError) as caught:
        uploads.add_row(user, upload, ["3", "4"])
    assert (caught.value.diagnostics[0].code, upload.path.read_bytes()) == ("PPF994", TABLE + b"1,2\n")


def test_what_one_person_announces_leaves_others_half_of_the_room(server, monkeypatch):
    site = server.site
    left = site.settings.free_bytes + 1_000
    monkeypatch.setattr("ppdm_flow.page.services.uploads.uploads.room", lambda _folder: left)
    steward, other = server.users[PageRole.STEWARD], site.accounts.add("other", [PageRole.STEWARD], None)
    with site.uploads.arriving(steward, 300), site.uploads.arriving(steward, 200):
        with pytest.raises(PpdmError) as caught:
            site.uploads.arriving(steward, 1)
        assert caught.value.diagnostics[0].code == "PPF994"
        with site.uploads.arriving(other, 250):
            pass


def test_it_is_gone_when_its_time_is_over(server):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", TABLE)
    user, site = server.users[PageRole.STEWARD], server.site
    later = Uploads(
        site.database, site.settings.uploads, UploadLimits.of(site.settings), lambda: upload.until.timestamp() + 1
    )
    assert later.of(user, upload.id) is None
    assert later.all_of(user) == []
    assert upload.path.exists()
    later.tidy()
    assert left(server) == []
    assert site.uploads.all_of(user) == []


def test_a_new_policy_of_the_same_name_reads_nobodys_upload(server):
    """Another steward removes the policy, or renames it, or Git does, and a new one gets its name."""
    upload = server.upload(PageRole.STEWARD, "clinic.csv", TABLE)
    user, site = server.users[PageRole.STEWARD], server.site
    other = site.accounts.add("other", [PageRole.STEWARD], PASSWORD)
    policies, uploads = site.policies, site.uploads

    def begin():
        text = policies.create("ward.yaml", "version: 1\n", user)
        uploads.set_policy_upload(user, "ward.yaml", upload)
        uploads.set_policy_upload(user, "stays.yaml", upload)
        return text.digest

    policies.remove("ward.yaml", begin(), other)
    assert uploads.policies_with_upload(user) == {"stays.yaml": upload.id}
    policies.rename("ward.yaml", "ward2.yaml", begin(), other)
    assert uploads.policy_upload(user, "ward.yaml") is None
    digest = begin()
    policies.path("ward.yaml").unlink()
    policies.create("ward.yaml", "version: 1\n", other)
    assert uploads.policy_upload(user, "ward.yaml") is None
    uploads.set_policy_upload(user, "ward.yaml", upload)
    with pytest.raises(FileExistsError):
        policies.create("ward.yaml", "version: 1\n", other)
    policies.write("ward.yaml", "version: 1\nname: ward\n", digest, other)
    with pytest.raises(FileExistsError):
        policies.rename("ward2.yaml", "ward.yaml", digest, other)
    assert uploads.policy_upload(user, "ward.yaml") == upload
    uploads.forget_policies_but(policies.files())
    assert uploads.policies_with_upload(user) == {"ward.yaml": upload.id}


@pytest.mark.slow
def test_what_a_killed_server_left_is_removed_and_the_rest_stays(server):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", TABLE)
    lost = server.upload(PageRole.STEWARD, "lost.csv", TABLE)
    half = server.site.settings.uploads / ("0" * 32)
    half.mkdir()
    (half / "arriving").write_bytes(b"age")
    lost.path.unlink()
    server.site.uploads.tidy()
    assert left(server) == [upload.id]
    assert kept(server) == [upload]


@pytest.mark.slow
def test_tidying_leaves_what_is_arriving(server):
    user = server.users[PageRole.STEWARD]
    with server.site.uploads.arriving(user, len(TABLE)) as arriving:
        arriving.write(TABLE)
        server.site.uploads.tidy()
        upload = server.site.uploads.keep(user, arriving, "clinic.csv")
    assert upload.path.read_bytes() == TABLE


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("t.csv", TABLE, "csv"),
        ("T.CSV", TABLE, "csv"),
        ("t.tsv", b"a\tb\n1\t2\n", "csv"),
        ("t.txt", "name;ort\nJ\u00fcrgen;K\u00f6ln\n".encode("cp1252"), "csv"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "csv"),
        ("t.csv.gz", gzip.compress(TABLE, mtime=0), "csv"),
        ("t.jsonl", b'{"age": 30}\n{"age": 41}\n', "jsonl"),
        ("t.parquet", parquet(), "parquet"),
        ("t.xlsx", workbook(), "excel"),
        ("t.baskets", b"bread,milk\nmilk\n", "baskets"),
        ("../../etc/passwd.csv", TABLE, "csv"),
        ("<script>.csv", TABLE, "csv"),
    ],
)
def test_tables_are_taken(server, steward, name, data, kind):
    answer = send_upload(steward, name, data)
    assert answer.status_code == 303, answer.text
    (upload,) = kept(server)
    assert upload.format == kind
    assert upload.path.parent.parent == server.site.settings.uploads
    assert upload.path.name.startswith("data.")


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b""),
        ("t.csv", parquet()),
        ("t.csv", workbook()),
        ("t.csv", gzip.compress(TABLE, mtime=0)),
        ("t.csv", b"\x7fELF" + b"\0" * 100),
        ("t.csv", b"%PDF-1.7\n1 0 obj\n"),
        ("t.csv", b"age\n\0\0\0\n"),
        ("t.csv", b"age,age\n1,2\n"),
        ("t.parquet", TABLE),
        ("t.parquet", b"PAR1" + b"nothing of the kind" + b"PAR1"),
        ("t.xlsx", TABLE),
        ("t.xlsx", b"PK\x03\x04 and no more"),
        ("t.sav", TABLE),
        ("t.sav", b"$FL2 and no more"),
        ("t.dta", b"<stata_dta> and no more"),
        ("t.jsonl", b"age,job\n1,2\n"),
        ("t.csv.gz", b"\x1f\x8b" + TABLE),
        ("t.csv.gz", gzip.compress(TABLE, mtime=0)[:-6]),
        ("t.db", b"SQLite format 3\0" + b"\0" * 84),
        ("t.exe", b"MZ"),
        ("t", TABLE),
        ("", TABLE),
    ],
)
def test_what_is_no_table_or_another_than_its_name_says_is_refused(server, steward, name, data):
    answer = send_upload(steward, name, data)
    assert answer.status_code == 400
    assert left(server) == []
    assert str(server.folder) not in answer.text
    assert "Traceback" not in answer.text


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return file.getvalue()


def lying(data: bytes, name: bytes, size: int) -> bytes:
    """Return the archive where a member says to be of another size than it is."""
    changed = bytearray(data)
    local = changed.index(b"PK\x03\x04", changed.index(name) - 30)
    central = changed.index(b"PK\x01\x02", changed.rindex(name) - 46)
    crc = zlib.crc32(b"\0" * size)
    struct.pack_into("<I", changed, local + 14, crc)
    struct.pack_into("<I", changed, local + 22, size)
    struct.pack_into("<I", changed, central + 16, crc)
    struct.pack_into("<I", changed, central + 24, size)
    return bytes(changed)


ZEROS = b"\0" * (80 * MEGABYTE)


@pytest.mark.slow
def test_bombs_are_refused_while_they_are_unpacked(server, steward):
    packed = gzip.compress(b"0,0\n" * (20 * MEGABYTE), mtime=0)
    zipped = archive(xl__workbook_xml=b"<workbook/>", xl__sheet_xml=ZEROS)
    for name, data in (
        ("t.csv.gz", packed),
        ("two.csv.gz", packed + gzip.compress(TABLE, mtime=0)),
        ("t.xlsx", zipped),
        ("t.xlsx", lying(zipped, b"xl/sheet.xml", 10)),
    ):
        assert len(data) < MEGABYTE
        answer = send_upload(steward, name, data)
        assert answer.status_code == 400
        assert "PPF996" in answer.text
        assert left(server) == []


@pytest.mark.slow
def test_a_large_table_that_is_packed_as_tables_are_is_no_bomb(server, steward):
    rows = b"".join(b"%d,%d\n" % (number, number * 7919 % 1000) for number in range(300_000))
    assert send_upload(steward, "t.csv.gz", gzip.compress(b"id,age\n" + rows, mtime=0)).status_code == 303


def test_an_archive_with_two_members_of_one_name_or_a_wrong_length_is_refused(server, steward):
    good = archive(xl__workbook_xml=b"<workbook/>", xl__sheet_xml=b"<worksheet/>" * 100)
    for data in (lying(good, b"xl/sheet.xml", 10), archive(other_xml=b"<x/>")):
        answer = send_upload(steward, "t.xlsx", data)
        assert (answer.status_code, "PPF995" in answer.text) == (400, True)


def uploads_with(server: Server, **changed) -> Uploads:
    limits = {field: getattr(UploadLimits.of(server.site.settings), field) for field in UploadLimits.__slots__}
    return Uploads(server.site.database, server.site.settings.uploads, UploadLimits(**{**limits, **changed}))


@pytest.mark.parametrize(
    "limit",
    [
        {"bytes_each": 10},
        {"number_a_person": 1},
        {"bytes_a_person": 60},
        {"bytes_in_all": 60},
        {"free_bytes": 2**62},
    ],
)
def test_what_exceeds_a_limit_is_refused_before_a_byte_is_taken(server, limit):
    user = server.users[PageRole.STEWARD]
    uploads = uploads_with(server, **limit)
    if "bytes_each" not in limit and "free_bytes" not in limit:
        with uploads.arriving(user, 50) as arriving:  # what is on its way counts
            with pytest.raises(PpdmError, match="PPF994"):
                uploads.arriving(user, 50)
            assert left(server) == [arriving.id]
    else:
        with pytest.raises(PpdmError, match="PPF994"):
            uploads.arriving(user, 50)
    assert left(server) == []


def test_one_person_sends_few_files_at_once(server):
    user, other = server.users[PageRole.STEWARD], server.site.accounts.add("other", [PageRole.STEWARD], None)
    uploads = server.site.uploads
    with uploads.arriving(user, 5), uploads.arriving(user, 5):
        with uploads.arriving(user, 5), pytest.raises(PpdmError, match="PPF994"):
            uploads.arriving(user, 5)
        with uploads.arriving(user, 5), uploads.arriving(other, 5):
            pass
    assert left(server) == []


def test_another_person_has_room_of_their_own(server):
    uploads = uploads_with(server, number_a_person=1, bytes_a_person=60)
    other = server.site.accounts.add("other", [PageRole.STEWARD], None)
    steward = server.users[PageRole.STEWARD]
    with uploads.arriving(steward, 50) as first, uploads.arriving(other, 50) as second:
        assert left(server) == sorted([first.id, second.id])
        with pytest.raises(PpdmError, match="PPF994"):
            uploads.arriving(steward, 50)


def test_more_than_was_announced_is_refused(server):
    user = server.users[PageRole.STEWARD]
    with server.site.uploads.arriving(user, 10) as arriving:
        arriving.write(b"0123456789")
        with pytest.raises(PpdmError, match="PPF994"):
            arriving.write(b"0")
    assert left(server) == []


@pytest.mark.slow
def test_a_file_before_the_token_is_not_written(server, steward):
    token = steward.token()
    parts = [("file", ("t.csv", TABLE)), ("form_token", (None, token))]
    answer = steward.client.post("/uploads", files=parts)
    assert answer.status_code == 403
    assert left(server) == []
    assert steward.client.post("/uploads", files=list(reversed(parts))).status_code == 303


@pytest.mark.slow
def test_the_token_may_be_a_header(server, steward):
    headers = {"x-form-token": steward.token()}
    assert steward.client.post("/uploads", files={"file": ("t.csv", TABLE)}, headers=headers).status_code == 303
    headers["x-form-token"] = "0" * 64
    assert steward.client.post("/uploads", files={"file": ("t.csv", TABLE)}, headers=headers).status_code == 403
    assert len(left(server)) == 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="form_token"\r\n\r\nTOKEN'),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n--x--\r\n"),
        ("multipart/form-data; boundary=" + "x" * 5000, b"--x--"),
    ],
)
def test_bodies_that_are_no_forms_are_refused(server, steward, kind, body):
    token = steward.token()
    headers = {"content-type": kind, "x-form-token": token}
    answer = steward.client.post("/uploads", content=body.replace(b"TOKEN", token.encode()), headers=headers)
    assert answer.status_code in (400, 404)
    assert left(server) == []


def test_a_form_with_two_files_or_none_is_refused(server, steward):
    token = ("form_token", (None, steward.token()))
    two = [token, ("file", ("t.csv", TABLE)), ("file", ("u.csv", TABLE))]
    assert steward.client.post("/uploads", files=two).status_code == 400
    assert steward.client.post("/uploads", files=[token]).status_code == 400
    assert steward.send("/uploads").status_code == 400
    assert left(server) == []


@pytest.mark.slow
def test_the_journal_has_no_name_and_no_value(server, steward):
    send_upload(steward, "very secret.csv", TABLE)
    send_upload(steward, "very secret.csv", b"%PDF")
    (upload,) = kept(server)
    steward.send(f"/uploads/{upload.id}/remove")
    entries = [(e.action, e.subject, e.outcome) for e in server.site.journal.newest(10) if "uploads" in e.action]
    assert entries == [
        ("uploads.remove", upload.id, "done"),
        ("uploads.add", "", "refused"),
        ("uploads.add", "", "done"),
    ]


def dictionary(rows: int, length: int) -> bytes:
    """Return a Parquet file of one text that is in every row: a few bytes, however many rows there are."""
    file = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * length])
    pq.write_table(pa.table({"remark": column}), file, row_group_size=rows)
    return file.getvalue()


@pytest.mark.slow
def test_a_parquet_file_is_counted_as_it_unpacks(server):
    small = dictionary(300_000, 5_000)
    assert len(small) < MEGABYTE
    with pytest.raises(PpdmError, match="PPF996"):
        server.upload(PageRole.STEWARD, "clinic.parquet", small)
    assert left(server) == []
    kept_ = server.upload(PageRole.STEWARD, "clinic.parquet", dictionary(300_000, 50))
    assert kept_.format == "parquet"


@pytest.mark.slow
def test_lists_of_a_parquet_file_are_counted_by_their_values(server):
    rows, many = 20_000, 100
    offsets = pa.array(range(0, rows * many + 1, many), pa.int32())
    for values in (
        pa.DictionaryArray.from_arrays(pa.array([0] * rows * many, pa.int32()), ["x" * 1_000]),
        pa.array([b"x" * 1_000], pa.binary(1_000)).take(pa.array([0] * rows * many)),
    ):
        file = io.BytesIO()
        pq.write_table(pa.table({"l": pa.ListArray.from_arrays(offsets, values)}), file, compression="zstd")
        with pytest.raises(PpdmError, match="PPF996"):
            server.upload(PageRole.STEWARD, "lists.parquet", file.getvalue())
    few = io.BytesIO()
    pq.write_table(pa.table({"l": [["a", "b"], ["c"]]}), few)
    assert server.upload(PageRole.STEWARD, "few.parquet", few.getvalue()).format == "parquet"


def many_columns(kind: str, columns: int) -> bytes:
    names = [f"c{number}" for number in range(columns)]
    if kind == "parquet":
        file = io.BytesIO()
        pq.write_table(pa.table({name: [1] for name in names}), file)
        return file.getvalue()
    if kind == "jsonl":
        return json.dumps(dict.fromkeys(names, 1)).encode() + b"\n"
    if kind == "xlsx":
        return workbook([names, ["1"] * columns])
    if kind == "dta":
        path = Path(tempfile.mkdtemp()) / "wide.dta"
        pyreadstat.write_dta(pd.DataFrame([[1.0] * columns], columns=names), path)
        return path.read_bytes()
    if kind == "blank lines and blanks":
        return ("\n\n" + " ".join(names) + "\n" + " ".join("1" * columns) + "\n").encode()
    text = (",".join(names) + "\n" + ",".join("1" * columns) + "\n").encode()
    return gzip.compress(text) if kind == "csv.gz" else text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl"])
def test_columns_are_counted_before_a_reader_guesses(server, kind):
    with pytest.raises(PpdmError, match=r"PPF996.*2,001 columns"):
        server.upload(PageRole.STEWARD, f"wide.{kind}", many_columns(kind, 2_001))
    assert left(server) == []
    assert server.upload(PageRole.STEWARD, f"wide.{kind}", many_columns(kind, 500)).bytes


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("kind", ["xlsx", "dta", "blank lines and blanks"])
def test_columns_that_only_a_reader_finds_are_counted_before_it_reads_rows(tmp_path: Path, kind):
    ending = kind if kind in ("xlsx", "dta") else "csv"
    file, limits = tmp_path / f"wide.{ending}", UploadLimits.of(Settings(tmp_path, tmp_path, tmp_path))
    file.write_bytes(many_columns(kind, 2_001))
    with pytest.raises(DataError, match=r"PPF996.*2,001 columns"):
        look(file, kind_of(file, file.name), limits, {})
    file.write_bytes(many_columns(kind, 2_000))
    look(file, kind_of(file, file.name), limits, {})


def test_a_text_with_commas_in_json_is_no_wide_table(server):
    line = json.dumps({"remark": "," * 5_000}).encode() + b"\n"
    assert server.upload(PageRole.STEWARD, "remarks.jsonl", line).format == "jsonl"
