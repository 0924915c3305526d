"""A connection to Microsoft SQL Server through ODBC, by the driver of the system: Microsoft's own, or FreeTDS."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError
from ppdm_flow.sdk.databases.faults import driver, fault, machine_fault, refuse_other_hosts, server_fault, unreachable
from ppdm_flow.sdk.key_file import refuse_shared

_WHAT = "SQL Server"
_OWN = re.compile(r"ODBC Driver (\d+) for SQL Server")
_FREE = "FreeTDS"
_NUMBER = re.compile(r"\((\d{2,6})\) \(SQL")
_STATE = re.compile(r"[0-9A-Z]{5}")
_STATES = {
    18456: "28000",
    18452: "28000",
    18470: "28000",
    4060: "3D000",
    911: "3D000",
    229: "42501",
    230: "42501",
    262: "42501",
    297: "42501",
    300: "42501",
    208: "42P01",
    207: "42703",
    1205: "40001",
    1222: "40001",
    3952: "40001",
    3960: "40001",
    3961: "40001",
    8134: "22000",
    8115: "22000",
    245: "22000",
    241: "22000",
    10928: "53300",
    10929: "53300",
    40613: "57P03",
    40197: "57P03",
    40501: "57P03",
    6005: "57P03",
}
"""Error numbers of the server, as the SQLSTATE of what PostgreSQL calls the same."""
_KINDS = {"42S02": "42P01", "42S22": "42703", "42000": "42601", "28000": "28000", "40001": "40001", "HY008": "57014"}
"""SQLSTATEs of ODBC that mean the same; 08 is the same there."""


def connect(address: ServerAddress) -> tuple[Any, Any]:
    """Return the driver and a connection that commits each statement. Raises PpdmError."""
    refuse_other_hosts(address)
    module = driver("pyodbc", "mssql", _WHAT)
    text = connection_string(address, module.drivers())
    module.pooling = False
    try:
        return module, module.connect(text, autocommit=True, timeout=address.connect_timeout)
    except module.Error as error:
        raise mssql_fault(address.name, error, connected=False) from None


def connection_string(address: ServerAddress, installed: list[str]) -> str:
    """Return what ODBC asks for. Raises PluginError where no driver is installed, DataError for the password file."""
    words = {**_where(address, installed), **_login(address), "DATABASE": address.database, "APP": "ppdm-flow"}
    if words["DRIVER"] == _FREE and any("}" in value for value in words.values()):
        text = "FreeTDS cannot be told a user, a password or a database with a `}` in its name"
        raise fault("PPF476", text, "install Microsoft's ODBC driver (`msodbcsql18`), or choose another one")
    return ";".join(f"{key}={{{value.replace('}', '}}')}}}" for key, value in words.items())


def mssql_fault(place: str, error: Exception, *, connected: bool = True) -> PpdmError:
    """Return the error for what the server or the driver says: its texts may quote values."""
    state, text = (str(each) for each in (*error.args, "", "")[:2])
    known = next((_STATES[int(n)] for n in _NUMBER.findall(text) if int(n) in _STATES), _KINDS.get(state))
    if known is not None:
        return server_fault(place, known, connected=connected)
    if not connected and any(word in text for word in ("SSL", "certificate", "encrypt", "TLS")):
        return machine_fault("PPF475", f"no encrypted connection to the database `{place}` came about")
    if state.startswith("08") or state in ("HYT00", "HYT01", "01000", "HY000") or not connected:
        return server_fault(place, None, connected=connected) if connected else unreachable(place)
    return machine_fault(
        "PPF479", f"the database `{place}` failed, with SQLSTATE {state if _STATE.fullmatch(state) else '?'}"
    )


def _where(address: ServerAddress, installed: list[str]) -> Mapping[str, str]:
    """Return driver, server and encryption."""
    own = sorted((int(match[1]), name) for name in installed if (match := _OWN.fullmatch(name)))
    if own:
        trusts = address.sslmode in ("disable", "prefer", "require")
        return {
            "DRIVER": own[-1][1],
            "SERVER": f"tcp:{address.host},{address.port}",
            "Encrypt": "no" if address.sslmode in ("disable", "prefer") else "yes",
            "TrustServerCertificate": "yes" if trusts else "no",
            "ApplicationIntent": "ReadOnly",
        }
    if _FREE not in installed:
        text = "SQL Server needs an ODBC driver, and none is installed"
        advice = "install Microsoft's `msodbcsql18`, or FreeTDS (in Debian `tdsodbc`)"
        raise PluginError(Diagnostic("PPF723", text, help=advice))
    if address.sslmode.startswith("verify"):
        text = f"`sslmode={address.sslmode}` needs Microsoft's ODBC driver: FreeTDS does not check certificates"
        raise PluginError(Diagnostic("PPF723", text, help="install `msodbcsql18`, or say `sslmode=require`"))
    encryption = {"disable": "off", "prefer": "request"}.get(address.sslmode, "require")
    about = {"SERVER": address.host, "PORT": str(address.port), "TDS_Version": "7.4", "ClientCharset": "UTF-8"}
    return {"DRIVER": _FREE, **about, "Encryption": encryption}


def _login(address: ServerAddress) -> Mapping[str, str]:
    """Return user and password as `sqlcmd` finds them, and a file; without a user, the system's login (Kerberos)."""
    user = address.user or os.environ.get("SQLCMDUSER")
    if not user:
        return {"Trusted_Connection": "yes"}
    password = os.environ.get("SQLCMDPASSWORD")
    named = os.environ.get("SQLCMDPASSWORDFILE")
    if password is None and named:
        password = _password_in(Path(named).expanduser())
    return {"UID": user, "PWD": password or ""}


def _password_in(path: Path) -> str:
    """Return the first line of a file that only its owner may read. Raises DataError."""
    refuse_shared(path, "the password file")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
    raise fault("PPF629", f"the password file `{path}` cannot be read")
