"""Passwords of databases go to the hosts that the environment names."""

from __future__ import annotations

import pytest

from ppdm_flow.core.addresses import database_address
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.delivery import MysqlTables, PostgresTables
from ppdm_flow.engine.ledger.server import ServerConnection
from ppdm_flow.sdk.databases.faults import DATABASES, refuse_other_hosts
from ppdm_flow.sources.sql.mssql import MssqlSession
from ppdm_flow.sources.sql.mysql import MysqlSession
from ppdm_flow.sources.sql.postgresql import PostgresSession
from ppdm_flow.sources.sql.warehouse import WarehouseSession

CONNECTIONS = (
    ("postgresql://db.elsewhere.example/clinic", PostgresSession),
    ("postgresql://db.elsewhere.example/clinic", PostgresTables),
    ("postgresql://db.elsewhere.example/clinic", ServerConnection),
    ("mysql://db.elsewhere.example/clinic", MysqlSession),
    ("mysql://db.elsewhere.example/clinic", MysqlTables),
    ("mssql://db.elsewhere.example/clinic", MssqlSession),
    ("snowflake://elsewhere/clinic", WarehouseSession),
    ("bigquery://elsewhere/clinic", WarehouseSession),
)


@pytest.mark.parametrize(("url", "connection"), CONNECTIONS)
def test_nobody_signs_in_elsewhere(monkeypatch, url, connection):
    for variable in ("PGPASSWORD", "MYSQL_PWD", "SQLCMDPASSWORD", "SNOWFLAKE_PASSWORD"):
        monkeypatch.setenv(variable, "secret")
    monkeypatch.setenv(DATABASES, "db.example,db.elsewhere.example:1")
    with pytest.raises(DataError) as refused:
        connection(database_address(url))
    assert refused.value.diagnostics[0].code == "PPF491"


@pytest.mark.parametrize("named", ["db.example", "db.example:5432", "x,db.example"])
def test_those_that_are_named_are_signed_in_to(monkeypatch, named):
    address = database_address("postgresql://db.example/clinic")
    monkeypatch.setenv(DATABASES, named)
    refuse_other_hosts(address)
    monkeypatch.delenv(DATABASES)
    refuse_other_hosts(database_address("postgresql://db.elsewhere.example/clinic"))


def test_without_a_name_there_is_none(monkeypatch):
    monkeypatch.setenv(DATABASES, "")
    with pytest.raises(DataError):
        refuse_other_hosts(database_address("postgresql://db.example/clinic"))
