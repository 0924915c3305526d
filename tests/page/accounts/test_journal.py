"""The journal: only ever longer, whole, and without what people typed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3

import pytest
from sites import Browser

from ppdm_flow.page.services.accounts.roles import Role
from ppdm_flow.page.services.journal.journal import MORE, REFUSALS_A_MINUTE, Journal


@pytest.fixture
def administrator(server) -> Browser:
    return server.browser(Role.ADMINISTRATOR)


def _file(server) -> sqlite3.Connection:
    return sqlite3.connect(server.site.settings.database, isolation_level=None)


def test_pages_show_all_entries_once_newest_first(server, administrator):
    for n in range(250):
        server.site.journal.add(server.users[Role.STEWARD], "policies.save", f"policy-{n}", "done")
    seen, address = [], "/journal"
    while address:
        page = administrator.get(address).text
        seen += [int(part.partition("<")[0]) for part in page.split('<th scope="row">')[1:]]
        _, _, rest = page.partition('rel="next" href="')
        address = rest.partition('"')[0]
    assert seen == list(range(251, 0, -1))


def test_filters_leave_what_they_name(server, administrator):
    server.site.journal.add(server.users[Role.STEWARD], "policies.save", "bank", "done")
    server.site.journal.add(server.users[Role.STEWARD], "runs.start", "bank", "refused")
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
        server.site.journal.add(server.users[Role.STEWARD], "policies.save", f"policy-{n}", "done")
    assert server.site.journal.is_whole()
    with _file(server) as file:
        file.execute("DROP TRIGGER journal_stays")
        file.execute("DROP TRIGGER journal_keeps")
        file.execute(harm)
    file.close()
    assert not server.site.journal.is_whole()
    assert "The journal is not whole" in administrator.get("/journal/check").text


def test_downloads_have_every_entry_and_the_chain_can_be_computed_again(server, administrator):
    server.site.journal.add(server.users[Role.STEWARD], "policies.save", "=HYPERLINK(1)", "done")
    answer = administrator.get("/journal/journal.jsonl")
    assert answer.headers["content-disposition"] == 'attachment; filename="journal.jsonl"'
    entries = [json.loads(line) for line in answer.text.splitlines()][::-1]
    chain = ""
    for entry in entries:
        fields = [entry[name] for name in ("at", "account", "action", "subject", "outcome")]
        chain = hashlib.sha256(json.dumps([chain, *fields]).encode()).hexdigest()
        assert entry["chain"] == chain
    assert chain in administrator.get("/journal").text
    table = list(csv.DictReader(io.StringIO(administrator.get("/journal/journal.csv").text)))
    assert [row["number"] for row in table] == ["2", "1"]
    assert table[0]["subject"] == "'=HYPERLINK(1)"
    one = administrator.get("/journal/journal.csv", action="policies.save").text
    assert len(one.splitlines()) == 2


@pytest.mark.slow
def test_what_strangers_are_refused_does_not_fill_the_disk_and_quotes_nothing(server):
    stranger = Browser(server.site)
    for n in range(200):
        stranger.client.post(f"/accounts/my-secret-{n}/lock", data={"form_token": "my-secret"})
    entries = server.site.journal.newest(999)
    assert REFUSALS_A_MINUTE < len(entries) <= 3 * (REFUSALS_A_MINUTE + 1)
    assert {entry.action for entry in entries} == {"accounts.lock", MORE}
    assert not any("my-secret" in entry.subject for entry in entries)
    assert server.site.journal.is_whole()


@pytest.mark.slow
def test_refusals_of_people_with_accounts_are_all_written_down(server):
    guest = server.browser(Role.GUEST)
    for _ in range(REFUSALS_A_MINUTE + 10):
        guest.client.post("/accounts", data={})
    refused = server.site.journal.newest(999, account="guest", action="accounts.invite")
    assert len(refused) == REFUSALS_A_MINUTE + 10


def test_an_entry_is_no_longer_than_a_name(server):
    Journal(server.site.database).add(server.users[Role.STEWARD], "policies.save", "x" * 10_000, "failed")
    assert len(server.site.journal.newest(1)[0].subject) == 200


def test_what_had_begun_when_the_server_ended_is_written_down_once(server):
    user, journal = server.users[Role.STEWARD], server.site.journal
    journal.add(user, "policies.save", "a.yaml", "done", journal.begin(user, "policies.save", "a.yaml"))
    journal.begin(user, "policies.save", "b.yaml")
    for _ in range(2):
        journal.recover()
    entries = [(e.account, e.action, e.subject, e.outcome) for e in journal.newest(10)]
    assert entries[0] == ("steward", "policies.save", "b.yaml", "interrupted")
    assert entries[1] == ("steward", "policies.save", "a.yaml", "done")
    assert [e[3] for e in entries].count("interrupted") == 1
    assert journal.is_whole()
    assert "interrupted" in server.browser(Role.ADMINISTRATOR).get("/journal").text
