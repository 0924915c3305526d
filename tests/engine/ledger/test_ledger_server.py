"""The release ledger in PostgreSQL: logins, rights, encryption, broken connections, and two runs at once."""

from __future__ import annotations

import datetime as dt
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ppdm_flow import api
from ppdm_flow.core.addresses import server_address
from ppdm_flow.core.errors import DataError, PluginError, PpdmError, RunError, UsageError
from ppdm_flow.engine.ledger import server as ledger_link
from ppdm_flow.engine.ledger.fields import PENDING, RELEASED
from ppdm_flow.engine.ledger.key import LedgerKey, LedgerRecord, hashes_of
from ppdm_flow.engine.ledger.ledger import RunLedger, store_at
from ppdm_flow.engine.ledger.server import LedgerServer
from ppdm_flow.sdk.history import Membership

POLICY = """
version: 1
name: ward
source: {path: one.csv}
ledger: {url: 'URL', key: releases.key, subject: patient}
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier}
privacy: {k_anonymity: {k: 5}}
releases: {public: {path: ward.csv}}
"""
ENTRY = LedgerRecord(PENDING, "p", "r", "public", "t", "d", "/f", "", "m", "f", 3, (), 3, False)
KEY = LedgerKey(bytes(32))
MEMBERS = Membership(hashes_of(bytes(range(48))), hashes_of(bytes(48)))


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the logins of the person who runs the tests."""
    for name in ("PGUSER", "PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def database(postgres: Any) -> str:
    return postgres.database()


@pytest.fixture
def server(postgres: Any, database: str) -> LedgerServer:
    return LedgerServer(server_address(postgres.url(database)), KEY)


@pytest.fixture
def home(tmp_path: Path, postgres: Any, database: str) -> Path:
    api.create_ledger(postgres.url(database), tmp_path / "releases.key")
    return _home(tmp_path, postgres.url(database))


def _home(folder: Path, url: str) -> Path:
    (folder / "policy.yaml").write_text(POLICY.replace("URL", url))
    for name, by in (("one", 1), ("two", 2)):
        lines = [[f"p{i}", "low" if by == 2 or i < 10 else "high", "a" if by == 1 or i < 7 else "b"] for i in range(20)]
        (folder / f"{name}.csv").write_text("patient,zip,age\n" + "".join(",".join(each) + "\n" for each in lines))
    return folder


def run(home: Path, data: str = "one") -> bool:
    return api.run(home / "policy.yaml", data=home / f"{data}.csv", out=home / "runs").released


def entries(place: str) -> list[tuple[int, str]]:
    return [(e.number, e.state) for e in store_at(place).entries()]


def published(home: Path) -> int:
    return len(list((home / "runs").glob("ward/*/released")))


def fault(place: str, code: str, kind: type[PpdmError] = DataError) -> str:
    """What is said of a ledger that cannot be looked at; never a password, a user or the URL."""
    with pytest.raises(kind, match=code) as caught:
        api.ledger(place)
    shown = repr([vars_of(d) for d in caught.value.diagnostics])
    assert "zqsecret" not in shown
    assert "://" not in shown
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return shown


def vars_of(found: Any) -> tuple[Any, ...]:
    return found.message, found.hint, found.help, found.notes


def test_a_password_comes_from_the_environment(postgres: Any, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = postgres.tcp(database)
    assert "PGPASSWORD" in fault(place, "PPF476")
    monkeypatch.setenv("PGPASSWORD", "zqsecret-wrong")
    fault(place, "PPF476")
    monkeypatch.setenv("PGPASSWORD", "zqsecret-p:w")
    assert "there is no ledger in `127.0.0.1/" in fault(place, "PPF735")


def test_a_password_comes_from_a_private_file(
    postgres: Any, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place, file = postgres.tcp(database), tmp_path / "pass"
    file.write_text(f"# mine\nother:*:*:*:no\n127.0.0.1:{postgres.port}:*:steward:zqsecret-p\\:w\n*:*:*:*:later\n")
    monkeypatch.setenv("PGPASSFILE", str(file))
    file.chmod(0o644)
    fault(place, "PPF920")
    file.chmod(0o600)
    fault(place, "PPF735")
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    fault(place, "PPF629")
    monkeypatch.delenv("PGPASSFILE")
    fault(place, "PPF476")
    (tmp_path / "home").mkdir()
    file.rename(tmp_path / "home/.pgpass")
    fault(place, "PPF735")


def test_the_user_is_that_of_the_url_or_the_environment(
    postgres: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = postgres.url(database)
    fault(place.replace("steward", "stranger"), "PPF476")
    monkeypatch.setenv("PGUSER", "steward")
    fault(place.replace("steward@", ""), "PPF735")
    monkeypatch.setenv("PGUSER", "stranger")
    fault(place.replace("steward@", ""), "PPF476")


def test_an_unknown_database(postgres: Any) -> None:
    assert "no such database" in fault(postgres.url("nowhere"), "PPF476")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    assert "localhost/x" in fault(f"postgresql:///x?host={tmp_path}", "PPF475", RunError)
    assert "refused" in fault("postgresql://127.0.0.1:1/x", "PPF475", RunError)
    fault("postgresql://no-such-host.invalid/x", "PPF475", RunError)


@pytest.mark.slow
def test_a_server_that_says_nothing_or_nonsense() -> None:
    def say(text: bytes) -> str:
        with socketserver() as listening:
            port = listening.getsockname()[1]

            def answer() -> None:
                heard, _ = listening.accept()
                heard.recv(100)
                heard.sendall(text)
                heard.close()

            thread = threading.Thread(target=answer)
            thread.start()
            words = "?connect_timeout=1&sslmode=" + ("disable" if text else "prefer")
            try:
                return fault(f"postgresql://u@127.0.0.1:{port}/x{words}", "PPF47[56]", PpdmError)
            finally:
                thread.join()

    say(b"")
    say(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with socketserver() as silent:
        assert "in time" in fault(
            f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=1", "PPF475", RunError
        )


def socketserver() -> Any:
    return socket.create_server(("127.0.0.1", 0))


def test_the_driver_is_an_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(PluginError, match="PPF723") as caught:
        run(home)
    assert "ppdm_flow[sql]" in str(caught.value.diagnostics[0].help)
    assert not published(home)


@pytest.mark.slow
def test_the_driver_is_imported_only_where_it_is_used(root: Path, tmp_path: Path) -> None:
    code = "import sys, ppdm_flow.engine.ledger.ledger; sys.exit(any(m.startswith('adbc_') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0


@pytest.mark.parametrize(
    ("words", "code"), [("?password=zqsecret", "PPF472"), ("?sslmode=never", "PPF471"), ("?user=zqsecret", "PPF471")]
)
def test_a_url_that_is_none(words: str, code: str) -> None:
    fault(f"postgresql://db.example/x{words}", code, UsageError)
    fault(f"postgresql://u:zqsecret@db.example/x{words}", "PPF47[12]", UsageError)


def _grant(postgres: Any, database: str, rights: str) -> str:
    """A user with these rights on the tables; returns the place."""
    user = f"user_{secrets.token_hex(4)}"
    postgres.sql(database, f"CREATE USER {user}; GRANT USAGE ON SCHEMA ppdm_flow TO {user}")
    if rights:
        postgres.sql(database, f"GRANT {rights} ON ALL TABLES IN SCHEMA ppdm_flow TO {user}")
    return postgres.url(database, user=user)


@pytest.mark.parametrize("rights", ["", "SELECT", "SELECT, INSERT, UPDATE", "all"])
def test_rights_that_are_missing(home: Path, postgres: Any, database: str, rights: str) -> None:
    assert run(home)
    everything = "SELECT, INSERT, UPDATE, DELETE"
    place = _grant(postgres, database, everything if rights == "all" else rights)
    (home / "policy.yaml").write_text(POLICY.replace("URL", place))
    if rights in ("", "SELECT"):
        with pytest.raises(DataError, match="PPF476"):
            run(home)
        assert published(home) == 1
        assert entries(postgres.url(database)) == [(1, RELEASED)]
    else:
        assert run(home)
        assert entries(place) == [(1, RELEASED), (2, RELEASED)]


def test_who_may_not_make_tables(tmp_path: Path, postgres: Any, database: str) -> None:
    user = f"user_{secrets.token_hex(4)}"
    postgres.sql(database, f"CREATE USER {user}")
    with pytest.raises(DataError, match="PPF476"):
        api.create_ledger(postgres.url(database, user=user), tmp_path / "releases.key")
    assert api.create_ledger(postgres.url(database), tmp_path / "releases.key").entries == ()


def test_rows_that_a_policy_hides_are_no_empty_ledger(home: Path, postgres: Any, database: str) -> None:
    """Row-level security: a query that it would filter fails instead."""
    assert run(home)
    place = _grant(postgres, database, "SELECT, INSERT, UPDATE, DELETE")
    postgres.sql(database, "ALTER TABLE ppdm_flow.release ENABLE ROW LEVEL SECURITY")
    (home / "policy.yaml").write_text(POLICY.replace("URL", place))
    with pytest.raises(DataError, match="PPF476"):
        run(home, "two")
    assert published(home) == 1


def test_a_database_that_only_reads(home: Path, postgres: Any, database: str) -> None:
    assert run(home)
    postgres.sql("postgres", f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    assert run(home)  # a default, which a transaction that writes says no to
    assert entries(postgres.url(database)) == [(1, RELEASED), (2, RELEASED)]


BREAK = {
    "version": "UPDATE ppdm_flow.ledger SET version = 9",
    "two keys": "INSERT INTO ppdm_flow.ledger SELECT * FROM ppdm_flow.ledger",
    "other key": "UPDATE ppdm_flow.ledger SET key_commitment = 'x'",
    "people lost": "UPDATE ppdm_flow.member SET people = SUBSTR(people, 17)",
    "people changed": "UPDATE ppdm_flow.member SET people = SET_BYTE(people, 0, GET_BYTE(people, 0) # 1)",
    "parts lost": "DELETE FROM ppdm_flow.member",
    "no members": "DROP TABLE ppdm_flow.member",
    "no releases": "DROP TABLE ppdm_flow.release CASCADE",
    "no ledger": "DROP TABLE ppdm_flow.ledger",
    "nothing": "DROP SCHEMA ppdm_flow CASCADE",
    "columns": "UPDATE ppdm_flow.release SET columns = '7'",
    "other column": "ALTER TABLE ppdm_flow.release RENAME COLUMN folder TO place",
}


@pytest.mark.parametrize("how", BREAK)
def test_without_a_whole_ledger_nothing_is_released(home: Path, postgres: Any, database: str, how: str) -> None:
    assert run(home)
    postgres.sql(database, BREAK[how])
    with pytest.raises(DataError, match=r"PPF735|PPF91[12]"):
        run(home, "two")
    assert published(home) == 1


def test_a_connection_that_breaks_while_a_run_is_judged(
    home: Path, postgres: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = RunLedger.announce

    def cut(self: RunLedger, *arguments: Any) -> Any:
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ppdm-flow'"
        postgres.sql(database, f"{end} AND datname = '{database}'")
        return real(self, *arguments)

    monkeypatch.setattr(RunLedger, "announce", cut)
    with pytest.raises(RunError, match="PPF479"):
        run(home)
    assert not published(home)
    assert entries(postgres.url(database)) == []


def test_a_commit_of_unknown_outcome(home: Path, postgres: Any, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ledger_link.ServerConnection.ask

    def lost(self: Any, sql: str, **values: Any) -> Any:
        found = real(self, sql, **values)
        if sql == "COMMIT" and self.writes:
            raise ledger_link.connection_broken(self.place)
        self.writes = getattr(self, "writes", False) or sql.startswith("INSERT INTO release")
        return found

    monkeypatch.setattr(ledger_link.ServerConnection, "ask", lost)
    with pytest.raises(RunError, match="PPF628"):
        run(home)
    monkeypatch.undo()
    place = postgres.url(database)
    assert not published(home)
    assert entries(place) == [(1, PENDING)]
    assert not run(home, "two")  # it counts as released
    assert api.ledger(place, home / "releases.key", forget=[1]).dropped == (1,)
    assert run(home, "two")


def test_a_server_that_dies_and_comes_back(home: Path, postgres: Any, database: str) -> None:
    assert run(home)
    postgres.kill()
    place = postgres.url(database)
    try:
        with pytest.raises(RunError, match="PPF475"):
            run(home)
        fault(place, "PPF475", RunError)
    finally:
        postgres.restart()
    assert published(home) == 1
    assert not run(home, "two")


def test_who_waits_too_long_is_told(server: LedgerServer) -> None:
    other = LedgerServer(server.address, KEY, wait=0.2)
    started = time.monotonic()
    with server.locked(), pytest.raises(RunError, match="PPF627"), other.locked():
        pass
    assert time.monotonic() - started < 20
    with other.locked():
        pass


def test_readers_do_not_wait(server: LedgerServer) -> None:
    server.create()
    with server.locked():
        assert LedgerServer(server.address, KEY, wait=0.2).entries() == ()


def test_nothing_is_added_by_who_does_not_keep_others_away(server: LedgerServer) -> None:
    server.create()
    with pytest.raises(RunError, match="PPF479"):
        server.add([(ENTRY, MEMBERS)])
    with server.locked():
        assert server.add([(ENTRY, MEMBERS)]) == [1]
        with pytest.raises(RunError, match="PPF479"):
            server.add([(ENTRY, MEMBERS)])
    with pytest.raises(RuntimeError), server.locked():
        raise RuntimeError
    assert [e.number for e in server.entries()] == [1]


def test_people_come_back_as_they_were(server: LedgerServer) -> None:
    """More than one part, with numbers that are not given twice."""
    draw = np.random.default_rng(3)
    many = 70_000
    found = Membership(hashes_of(draw.bytes(16 * many)), hashes_of(draw.bytes(16 * many)))
    entry = LedgerRecord(
        PENDING, "ü", "名", "public", "t", "d", "/f", "", "m", "f", many, (("a", "b", "r", ("c",)),), many, False
    )
    server.create()
    with server.locked():
        assert server.add([(ENTRY, MEMBERS), (entry, found)]) == [1, 2]
    first, second = server.entries()
    assert (second.policy, second.name, second.columns) == ("ü", "名", entry.columns)
    back = server.members(second)
    assert np.array_equal(back.subjects, found.subjects)
    assert np.array_equal(back.classes, found.classes)
    server.confirm([1])
    server.drop([1, 2])
    assert [(e.number, e.state) for e in server.entries()] == [(1, RELEASED)]
    with server.locked():
        assert server.add([(ENTRY, None)]) == [3]
    with pytest.raises(DataError, match="PPF912"):
        server.check()  # it says that there are people, and has none
    assert first.people == 3


def test_of_two_processes_at_once_one_is_judged_against_the_other(home: Path, postgres: Any, database: str) -> None:
    """Each would be released alone."""
    words = [sys.executable, "-m", "ppdm_flow", "run", "policy.yaml", "--out", "runs", "-q", "--data"]
    env = {**os.environ, "NO_COLOR": "1"}
    for attempt in range(2):
        name = postgres.database()
        (home / "policy.yaml").write_text(POLICY.replace("URL", postgres.url(name)))
        (home / "releases.key").unlink(missing_ok=True)
        api.create_ledger(postgres.url(name), home / "releases.key")
        if attempt:  # something is in it already
            assert api.run(home / "policy.yaml", data=_nobody(home), out=home / "runs").released
        running = [
            subprocess.Popen([*words, f"{d}.csv"], cwd=home, env=env, stderr=subprocess.PIPE) for d in ("one", "two")
        ]
        said = [process.communicate(timeout=1200)[1].decode() for process in running]
        assert sorted(process.returncode for process in running) == [0, 1], said
        assert len(entries(postgres.url(name))) == (2 if attempt else 1)


def _nobody(home: Path) -> Path:
    path = home / "others.csv"
    path.write_text("patient,zip,age\n" + "".join(f"q{i},x,y\n" for i in range(9)))
    return path


@pytest.mark.slow
@pytest.mark.server(quick=1)
def test_what_is_written_names_neither_url_nor_user(home: Path, postgres: Any, database: str) -> None:
    assert run(home)
    (found,) = (home / "runs").glob("ward/*")
    for path in found.rglob("*"):
        if path.is_file() and path.name != "policy.resolved.yaml":
            text = path.read_text(errors="replace")
            assert "postgresql://" not in text, path
            assert "steward" not in text, path
    assert json.loads((found / "plan.json").read_text())["ledger"]["server"] == f"localhost/{database}"


def test_the_verb_speaks_json(home: Path, postgres: Any, database: str, cli: Any, root: Path) -> None:
    assert run(home)
    done = cli("ledger", postgres.url(database), "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, json.loads((root / "schemas/ledger.v1.json").read_text()))
    assert found["ledger"] == f"localhost/{database}"
    assert [(r["state"], r["people"], r["rows"]) for r in found["releases"]] == [("released", 20, 20)]
    assert cli("ledger", postgres.url("nowhere")).returncode == 2
    assert cli("ledger", "postgresql://127.0.0.1:1/x").returncode == 3
    refused = cli("ledger", "postgresql://u:zqsecret@127.0.0.1:1/x")
    assert refused.returncode == 2
    assert "zqsecret" not in refused.stdout + refused.stderr


@pytest.fixture
def encrypted(postgres: Any) -> Any:
    """The server with TLS, under a certificate for `localhost` that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(now - dt.timedelta(1)).not_valid_after(now + dt.timedelta(1))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    made = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(
        key, hashes.SHA256()
    )
    data, pem = postgres.home / "data", serialization.Encoding.PEM
    text = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for path, content in ((data / "server.key", text), (data / "server.crt", made.public_bytes(pem))):
        path.write_bytes(content)
        path.chmod(0o600)
        if "user" in postgres.account:
            os.chown(path, postgres.account["user"], postgres.account["group"])
    postgres.sql("postgres", "ALTER SYSTEM SET ssl = on")
    postgres.restart()
    yield postgres
    postgres.sql("postgres", "ALTER SYSTEM RESET ssl")
    postgres.restart()


def test_encryption_is_as_the_url_says(encrypted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGPASSWORD", "zqsecret-p:w")
    database, root = encrypted.database(), tmp_path / "root.crt"
    root.write_bytes((encrypted.home / "data/server.crt").read_bytes())

    def place(words: str, host: str = "localhost") -> str:
        return encrypted.tcp(database, f"?{words}", host=host)

    def connected(words: str, host: str = "localhost") -> bool:
        link = ledger_link.ServerConnection(server_address(place(words, host)))
        try:
            return bool(link.ask("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0][0])
        finally:
            link.close()

    assert not connected("sslmode=disable")
    assert connected("sslmode=prefer")
    assert connected("sslmode=require")
    assert connected(f"sslmode=verify-ca&sslrootcert={root}", "127.0.0.1")
    assert connected(f"sslmode=verify-full&sslrootcert={root}")
    assert "not that host's" in fault(place(f"sslmode=verify-full&sslrootcert={root}", "127.0.0.1"), "PPF624")
    assert "trusted" in fault(place("sslmode=verify-full"), "PPF624")
    other = tmp_path / "other.crt"
    other.write_text("no certificate")
    fault(place(f"sslmode=require&sslrootcert={other}"), "PPF624")


def test_a_server_without_encryption_where_it_is_asked_for(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "zqsecret-p:w")
    database = postgres.database()
    fault(postgres.tcp(database, "?sslmode=require"), "PPF624")
    fault(postgres.tcp(database, "?sslmode=prefer"), "PPF735")
