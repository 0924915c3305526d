"""A connection to MySQL or MariaDB through PyMySQL."""

from __future__ import annotations

import contextlib
import getpass
import os
import ssl
from collections.abc import Callable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk.databases.faults import driver, machine_fault, refuse_other_hosts, server_fault, unreachable
from ppdm_flow.sdk.key_file import refuse_shared

_STATES = {
    1044: "28000",
    1045: "28000",
    1698: "28000",
    1049: "3D000",
    1142: "42501",
    1143: "42501",
    1146: "42P01",
    1054: "42703",
    1064: "42601",
    1060: "42601",
    1248: "42601",
    1792: "25006",
    1040: "53300",
    1203: "53300",
    1053: "57P01",
    1317: "57014",
    1969: "57014",
    3024: "57014",
    1205: "40001",
    1213: "40001",
    1412: "40001",
}
"""Error numbers of the server, as the SQLSTATE of what PostgreSQL calls the same."""


def connect(address: ServerAddress, **words: Any) -> tuple[Any, Any]:
    """Return the driver and a connection that commits each statement. Raises PpdmError."""
    refuse_other_hosts(address)
    module = driver("pymysql", "mysql", "MySQL or MariaDB")
    driver("pymysql.cursors", "mysql", "MySQL or MariaDB")
    try:
        return module, module.connect(
            **_login(address),
            **_where(address),
            database=address.database,
            charset="utf8mb4",
            connect_timeout=address.connect_timeout,
            autocommit=True,
            local_infile=False,
            program_name="ppdm-flow",
            **words,
        )
    except module.Error as error:
        raise mysql_fault(address.name, error, connected=False) from None
    except (OSError, RuntimeError, UnicodeError):
        raise unreachable(address.name) from None


def mysql_fault(place: str, error: Exception, *, connected: bool = True) -> PpdmError:
    """Return the error for what the server or the driver says."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if number in (2003, 2002):
        return unreachable(place)
    if number in (2006, 2013, 2014):
        return server_fault(place, None, connected=connected)
    if number == 2026:
        return machine_fault("PPF475", f"no encrypted connection to the database `{place}` came about")
    known = _STATES.get(number)
    if known is None and number:
        return machine_fault("PPF479", f"the database `{place}` failed, with error {number}")
    return server_fault(place, known, connected=connected)


def _where(address: ServerAddress) -> Mapping[str, Any]:
    if address.is_socket:
        return {"unix_socket": address.host}
    if address.sslmode in ("disable", "prefer"):
        return {"host": address.host, "port": address.port, "ssl_disabled": address.sslmode == "disable"}
    context = ssl.create_default_context(cafile=address.sslrootcert)
    context.check_hostname = address.sslmode == "verify-full"
    if not address.sslmode.startswith("verify") and address.sslrootcert is None:
        context.verify_mode = ssl.CERT_NONE
    return {"host": address.host, "port": address.port, "ssl": context}


def _login(address: ServerAddress) -> Mapping[str, str]:
    """Return user and password: the URL's user, MYSQL_PWD, and what ``~/.my.cnf`` says beside. Raises DataError."""
    file = Path("~/.my.cnf").expanduser()
    said: Mapping[str, str] = {}
    if file.is_file():
        refuse_shared(file, "the password file")
        parser = ConfigParser(allow_no_value=True, strict=False, interpolation=None)
        with contextlib.suppress(ConfigError, OSError, UnicodeDecodeError):
            parser.read(file, encoding="utf-8")
        said = {k: (v or "").strip("\"'") for k, v in parser["client"].items()} if parser.has_section("client") else {}
    own = _quietly(getpass.getuser)
    password = os.environ.get("MYSQL_PWD")
    return {
        "user": address.user or said.get("user") or own,
        "password": password if password is not None else said.get("password", ""),
    }


def _quietly(call: Callable[[], str]) -> str:
    try:
        return call()
    except (KeyError, OSError):
        return ""
