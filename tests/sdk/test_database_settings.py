"""What drivers of databases are told: encryption, users and passwords."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from ppdm_flow.core.addresses import database_address
from ppdm_flow.core.errors import DataError
from ppdm_flow.sdk.databases.settings import driver_settings


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without a login, and an environment without one."""
    for name in ("PGUSER", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_libpq_looks_for_the_password_by_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "zqsecret")
    told = driver_settings(database_address("postgresql://ana@db.example/clinic"))
    assert (told["host"], told["dbname"], told["user"], told["sslmode"]) == ("db.example", "clinic", "ana", "require")
    assert "zqsecret" not in str(told)
    assert "sslrootcert" not in told
    assert driver_settings(database_address("postgresql://db.example/clinic?sslmode=verify-full"))["sslrootcert"]
    monkeypatch.delenv("PGPASSWORD")
    file = home / ".pgpass"
    file.write_text("*:*:*:*:zqsecret\n")
    file.chmod(0o644)
    with pytest.raises(DataError, match="PPF920"):
        driver_settings(database_address("postgresql://db.example/clinic"))
    file.chmod(0o600)
    file.write_bytes(b"\xff")
    with pytest.raises(DataError, match="PPF629"):
        driver_settings(database_address("postgresql://db.example/clinic"))


@pytest.mark.parametrize(
    ("mode", "verified", "named"),
    [
        ("require", ssl.CERT_NONE, False),
        ("verify-ca", ssl.CERT_REQUIRED, False),
        ("verify-full", ssl.CERT_REQUIRED, True),
    ],
)
def test_mysql_is_encrypted_as_the_url_says(mode: str, verified: ssl.VerifyMode, named: bool) -> None:
    context = driver_settings(database_address(f"mysql://db.example/clinic?sslmode={mode}"))["ssl"]
    assert (context.verify_mode, context.check_hostname) == (verified, named)


def test_mysql_without_encryption_and_by_a_socket() -> None:
    for mode, disabled in (("disable", True), ("prefer", False)):
        told = driver_settings(database_address(f"mysql://db.example/clinic?sslmode={mode}"))
        assert told["ssl_disabled"] is disabled
        assert "ssl" not in told
    told = driver_settings(database_address("mysql:///clinic?host=/run/mysqld/mysqld.sock"))
    assert told["unix_socket"] == "/run/mysqld/mysqld.sock"
    assert "host" not in told


def test_the_file_of_mysql_names_who_signs_in_and_nothing_else(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / ".my.cnf"
    file.write_text("[client]\nuser = bob\npassword = 'zq#secret'\nhost = elsewhere\nsocket = /run/elsewhere\n")
    file.chmod(0o600)
    told = driver_settings(database_address("mysql://db.example/clinic"))
    assert (told["user"], told["password"]) == ("bob", "zq#secret")
    assert told["host"] == "db.example"
    assert "unix_socket" not in told
    monkeypatch.setenv("MYSQL_PWD", "other")
    told = driver_settings(database_address("mysql://ana@db.example/clinic"))
    assert (told["user"], told["password"]) == ("ana", "other")
    file.chmod(0o640)
    with pytest.raises(DataError, match="PPF920"):
        driver_settings(database_address("mysql://db.example/clinic"))
