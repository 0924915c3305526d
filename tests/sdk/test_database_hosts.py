"""Passwords of databases go to the hosts that the environment names."""

from __future__ import annotations

import pytest

from ppdm_flow.core.addresses.server import database_address
from ppdm_flow.core.errors import DataError
from ppdm_flow.sdk.databases import mssql, mysql, postgresql, warehouses
from ppdm_flow.sdk.databases.faults import DATABASES, refuse_other_hosts

CONNECTS = {
    "postgresql://db.elsewhere.example/clinic": postgresql.connect,
    "mysql://db.elsewhere.example/clinic": mysql.connect,
    "mssql://db.elsewhere.example/clinic": mssql.connect,
    "snowflake://elsewhere/clinic": warehouses.connect,
}


@pytest.mark.parametrize("url", CONNECTS)
def test_nobody_signs_in_elsewhere(monkeypatch, url):
    for variable in ("PGPASSWORD", "MYSQL_PWD", "SQLCMDPASSWORD", "SNOWFLAKE_PASSWORD"):
        monkeypatch.setenv(variable, "secret")
    monkeypatch.setenv(DATABASES, "db.example,db.elsewhere.example:1")
    with pytest.raises(DataError) as refused:
        CONNECTS[url](database_address(url))
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
