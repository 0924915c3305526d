"""The journal: only ever longer, whole, and without what people typed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
import stat
from datetime import UTC, datetime, timedelta

import pytest
from sites import Browser

from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.texts import visible_line
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.journal import (
    MORE,
    REFUSALS_A_MINUTE,
    REFUSALS_AN_HOUR,
    RENEW,
    ActionJournal,
    ChainKey,
    chain_key,
)
from ppdm_flow.page.serving.server import upkeep
from ppdm_flow.page.views.journal import joined


@pytest.fixture
def administrator(server) -> Browser:
    return server.browser(PageRole.ADMINISTRATOR)


def _file(server) -> sqlite3.Connection:
    return sqlite3.connect(server.site.settings.database, isolation_level=None)


def test_pages_show_all_entries_once_newest_first(server, administrator):
    for n in range(250):
        server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", f"policy-{n}", "done")
    seen, address = [], "/journal"
    while address:
        page = administrator.get(address).text
        seen += [int(part.partition("<")[0]) for part in page.split('<th scope="row">')[1:]]
        _, _, rest = page.partition('rel="next" href="')
        address = rest.partition('"')[0]
    assert seen == list(range(251, 0, -1))


def test_filters_leave_what_they_name(server, administrator):
    server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", "bank", "done")
    server.site.journal.add(server.users[PageRole.STEWARD], "runs.start", "bank", "refused")
    page = administrator.get("/journal", account="steward", action="runs.start").text
    assert page.count('<th scope="row">') == 1
    assert "refused" in page
    assert administrator.get("/journal", account="' OR 1=1 --").text.count('<th scope="row">') == 0
    assert administrator.get("/journal", before="x").status_code == 200
    assert administrator.get("/journal", before="9" * 100).status_code == 200


def test_nothing_is_changed_or_taken_out(server, administrator):
    with _file(server) as file:
        for statement in ("UPDATE journal SET account = 'eve'", "DELETE FROM journal"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                file.execute(statement)
    file.close()
    assert "The journal is whole" in administrator.get("/journal/check").text


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE journal SET account = 'eve' WHERE number = 2",
        "UPDATE journal SET at = '2020-01-01T00:00:00+00:00' WHERE number = 1",
        "DELETE FROM journal WHERE number = 2",
        "DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)",
        "INSERT INTO journal SELECT 99, at, account, action, subject, outcome, chain FROM journal WHERE number = 2",
        "DELETE FROM journal",
    ],
)
def test_who_writes_into_the_file_is_noticed(server, administrator, harm):
    for n in range(3):
        server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", f"policy-{n}", "done")
    assert server.site.journal.is_whole()
    with _file(server) as file:
        file.execute("DROP TRIGGER journal_stays")
        file.execute("DROP TRIGGER journal_keeps")
        file.execute(harm)
    file.close()
    assert not server.site.journal.is_whole()
    assert "The journal is not whole" in administrator.get("/journal/check").text


def test_downloads_have_every_entry_and_its_hash(server, administrator):
    server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", "=HYPERLINK(1)", "done")
    answer = administrator.get("/journal/journal.jsonl")
    assert answer.headers["content-disposition"] == 'attachment; filename="journal.jsonl"'
    newest = json.loads(answer.text.splitlines()[0])
    head = administrator.get("/journal/head")
    assert head.headers["content-disposition"] == 'attachment; filename="journal.head"'
    assert head.text == f"{newest['number']} {newest['chain']}\n"
    assert head.text.strip() in administrator.get("/journal").text
    table = list(csv.DictReader(io.StringIO(administrator.get("/journal/journal.csv").text)))
    assert [row["number"] for row in table] == ["2", "1"]
    assert table[0]["subject"] == "'=HYPERLINK(1)"
    one = administrator.get("/journal/journal.csv", action="policies.save").text
    assert len(one.splitlines()) == 2


def test_lines_are_sent_many_at_once():
    lines = [f"{number}\n" for number in range(1_200)]
    pieces = list(joined(iter(lines)))
    assert "".join(pieces) == "".join(lines)
    assert len(pieces) == 3
    assert list(joined([])) == []


def _written_anew(server, key: ChainKey) -> None:
    """Change an entry, and make all hashes again with a key."""
    with _file(server) as file:
        for trigger in ("journal_stays", "journal_keeps"):
            file.execute(f"DROP TRIGGER {trigger}")
        file.execute("UPDATE journal SET subject = 'another' WHERE number = 2")
        chain = ""
        rows = file.execute("SELECT number, at, account, action, subject, outcome FROM journal ORDER BY number")
        for number, *fields in rows.fetchall():
            chain = key.chain(number, chain, *fields)
            file.execute("UPDATE journal SET chain = ? WHERE number = ?", (chain, number))
    file.close()


def _with_entries(server) -> str:
    """Write some entries, and return the head; more follow."""
    for n in range(3):
        server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", f"policy-{n}", "done")
    head = server.site.journal.newest(1)[0].head
    server.site.journal.add(server.users[PageRole.STEWARD], "policies.save", "later", "done")
    return head


def test_hashes_made_again_without_the_key_are_noticed(server, administrator):
    head = _with_entries(server)
    page = administrator.get("/journal/check", head=head).text
    assert "The journal is whole" in page
    assert "goes on from that head" in page
    _written_anew(server, ChainKey(b"", since=1_000))
    page = administrator.get("/journal/check").text
    assert "The journal is not whole" in page


def test_hashes_made_again_with_the_key_are_noticed_by_an_earlier_head(server, administrator):
    head = _with_entries(server)
    _written_anew(server, chain_key(server.site.settings.journal_key, server.site.database))
    page = administrator.get("/journal/check", head=f" {head}\n").text
    assert "The journal is whole" in page
    assert "does not have that head" in page
    now = server.site.journal.newest(1)[0].head
    assert "goes on from that head" in administrator.get("/journal/check", head=now).text


@pytest.mark.parametrize(
    "head", ["x", "1", "1 " + "0" * 63, "1 " + "g" * 64, "9" * 30 + " " + "0" * 64, "\u0663 " + "0" * 64]
)
def test_what_is_no_head_is_told_so(administrator, head):
    assert "no head of a journal" in administrator.get("/journal/check", head=head).text


def test_a_head_of_entries_that_are_not_there_is_not_contained(administrator):
    assert "does not have that head" in administrator.get("/journal/check", head="999 " + "0" * 64).text


def test_entries_of_earlier_versions_keep_their_hashes_without_a_key(server, tmp_path):
    with _file(server) as file:
        chain = ""
        for n in range(3):
            fields = ["2026-01-01T00:00:00+00:00", "anna", "policies.save", f"{n}", "done"]
            chain = hashlib.sha256(json.dumps([chain, *fields]).encode()).hexdigest()
            file.execute(
                "INSERT INTO journal (at, account, action, subject, outcome, chain) VALUES (?, ?, ?, ?, ?, ?)",
                (*fields, chain),
            )
    file.close()
    key = tmp_path / "of-its-own.key"
    for subject in ("with a key", "opened again"):
        journal = ActionJournal(server.site.database, key)
        journal.add(server.users[PageRole.STEWARD], "policies.save", subject, "done")
        assert journal.is_whole()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.unlink()
    assert not ActionJournal(server.site.database, key).is_whole(), "a new key vouches for no entry of before"


def test_a_file_without_a_key_is_refused(server, tmp_path):
    (tmp_path / "odd.key").write_text("no key\n")
    with pytest.raises(UsageError) as caught:
        ActionJournal(server.site.database, tmp_path / "odd.key")
    assert [each.code for each in caught.value.diagnostics] == ["PPF988"]


class _Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(server) -> _Clock:
    server.site.journal._now = made = _Clock()
    return made


@pytest.mark.slow
def test_what_strangers_are_refused_does_not_fill_the_disk_and_quotes_nothing(server, clock):
    stranger = Browser(server.site)
    for n in range(200):
        stranger.client.post(f"/accounts/my-secret-{n}/lock", data={"form_token": "my-secret"})
    clock.now += timedelta(minutes=1)
    server.site.journal.tidy()
    entries = server.site.journal.newest(999)
    assert len(entries) == REFUSALS_A_MINUTE + 1
    assert (entries[0].account, entries[0].action, entries[0].outcome) == (None, MORE, "refused")
    assert entries[0].subject == f"{200 - REFUSALS_A_MINUTE} after 2026-03-01T12:00:00+00:00"
    assert {entry.action for entry in entries[1:]} == {"accounts.lock"}
    assert not any("my-secret" in entry.subject for entry in entries)
    assert server.site.journal.is_whole()


@pytest.mark.slow
def test_what_a_person_is_refused_does_not_fill_the_disk(server, clock):
    guest, steward = server.browser(PageRole.GUEST), server.users[PageRole.STEWARD]
    beyond = 15
    for _ in range(REFUSALS_AN_HOUR + beyond):
        guest.client.post("/policies/a.yaml/remove", data={})
    journal = server.site.journal
    assert len(journal.newest(9_999, account="guest", action="policies.remove")) == REFUSALS_AN_HOUR
    journal.add(steward, "policies.remove", "a.yaml", "refused")
    assert journal.newest(1)[0].account == "steward", "others are written down as before"
    clock.now += timedelta(minutes=59)
    journal.tidy()
    assert not journal.newest(9, action=MORE)
    clock.now += timedelta(minutes=1)
    guest.client.post("/policies/a.yaml/remove", data={})
    more, again = journal.newest(2)[::-1]
    assert (more.account, more.subject) == ("guest", f"{beyond} after 2026-03-01T12:00:00+00:00")
    assert (again.account, again.action) == ("guest", "policies.remove")
    assert journal.is_whole()


def test_what_was_left_out_is_said_when_the_server_ends(server, clock):
    for _ in range(REFUSALS_AN_HOUR + 2):
        server.site.journal.add(server.users[PageRole.GUEST], "policies.remove", "", "refused")
    with upkeep(server.site):
        assert not server.site.journal.newest(9, action=MORE)
    assert [e.subject for e in server.site.journal.newest(9, action=MORE)] == ["2 after 2026-03-01T12:00:00+00:00"]


def test_what_a_person_is_refused_within_the_limit_is_all_written_down(server):
    guest = server.browser(PageRole.GUEST)
    for _ in range(20):
        guest.client.post("/accounts", data={})
    assert len(server.site.journal.newest(999, account="guest", action="accounts.invite")) == 20


def test_more_actions_than_a_person_carries_out_are_refused(server, clock, monkeypatch):
    monkeypatch.setattr(server.site.journal._actions, "_most", 10)
    guest = server.browser(PageRole.GUEST)
    statuses = [guest.send("/account/sessions").status_code for _ in range(12)]
    assert statuses == [303] * 10 + [429] * 2
    assert server.browser(PageRole.STEWARD).send("/account/sessions").status_code == 303
    clock.now += timedelta(minutes=1)
    assert guest.send("/account/sessions").status_code == 303


def test_a_subject_is_one_line_of_visible_text_no_longer_than_a_name(server, clock):
    guest, journal = server.browser(PageRole.GUEST), server.site.journal
    guest.client.post("/policies/%E2%80%AEa%09b%1B%5Bm.yaml/remove", data={})
    subject = journal.newest(1)[0].subject
    assert visible_line(subject) == subject
    assert subject.endswith(".yaml")
    journal.add(guest.user, "policies.save", "x" * 10_000, "failed")
    assert len(journal.newest(1)[0].subject) == 200
    journal.add(guest.user, "policies.save", "größer/bank.yaml", "done")
    assert journal.newest(1)[0].subject == "größer/bank.yaml"


def test_what_had_begun_when_the_server_ended_is_written_down_once(server):
    user, journal = server.users[PageRole.STEWARD], server.site.journal
    journal.add(user, "policies.save", "a.yaml", "done", journal.begin(user, "policies.save", "a.yaml"))
    journal.begin(user, "policies.save", "b.yaml")
    for _ in range(2):
        journal.recover()
    entries = [(e.account, e.action, e.subject, e.outcome) for e in journal.newest(10)]
    assert entries[0] == ("steward", "policies.save", "b.yaml", "interrupted")
    assert entries[1] == ("steward", "policies.save", "a.yaml", "done")
    assert [e[3] for e in entries].count("interrupted") == 1
    assert journal.is_whole()
    assert "interrupted" in server.browser(PageRole.ADMINISTRATOR).get("/journal").text


def test_what_others_did_is_not_looked_through_for_who_made_links(server):
    """Strangers write a refused opening each second: the first page of everybody asks who renewed their links."""
    journal, guest = server.site.journal, server.users[PageRole.GUEST]
    journal.add(server.users[PageRole.ADMINISTRATOR], RENEW, guest.name, "done")

    def steps() -> int:
        connection, taken = server.site.database._connection(), []
        connection.set_progress_handler(lambda: taken.append(1), 1)
        assert len(journal.renewals(guest)) == 1
        connection.set_progress_handler(None, 1)
        return len(taken)

    before = steps()
    with server.site.database.changing() as connection:
        for _ in range(500):
            journal._append(connection, "2999-01-01T00:00:00+00:00", None, "accounts.open", "", "refused")
    assert steps() < before + 50
    assert journal.is_whole()
