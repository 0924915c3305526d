"""One connection to the ledger's server, by ADBC, whose exceptions become ours: they may quote."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError
from ppdm_flow.engine.faults import data_fault, run_fault
from ppdm_flow.sdk.databases.postgresql import DRIVER, ENCRYPTION, REFUSED, UNREACHABLE, LoginError, opened

_RIGHTS = "grant the user what `ppdm-flow explain PPF476` lists"
_LOGIN = "the password is that of PGPASSWORD, or of the file ~/.pgpass"
_INPUT = {
    "28": ("PPF476", "its server refuses the user or the password", _LOGIN),
    "3D000": ("PPF476", "its server has no such database", None),
    "42501": ("PPF476", "the user lacks rights in it", _RIGHTS),
    "25006": ("PPF476", "its server only reads", "name the main server, not a copy of it"),
}
_MACHINE = {
    "53300": ("PPF475", "its server has no connection left"),
    "57P03": ("PPF475", "its server is starting or stopping"),
    "55P03": ("PPF627", "another run holds it"),
    "53100": ("PPF479", "its server's disk is full"),
    "57014": ("PPF479", "its server took too long"),
    "57P": ("PPF479", "its server was stopped, or ended the connection"),
}


def server_error(name: str, state: str | None) -> PpdmError:
    """Return the error for an SQLSTATE of the server; None where the connection broke."""
    if state is None or not _STATE.fullmatch(state):
        return connection_broken(name)
    for known, (code, text, advice) in _INPUT.items():
        if state.startswith(known):
            return data_fault(code, f"the ledger `{name}`: {text}", advice=advice)
    for known, (code, text) in _MACHINE.items():
        if state.startswith(known):
            return run_fault(code, f"the ledger `{name}`: {text}", advice="nothing was released")
    return run_fault("PPF479", f"the ledger `{name}`: its server failed, with SQLSTATE {state}")


def connection_broken(name: str) -> PpdmError:
    """Return the error for a connection that broke."""
    return run_fault("PPF479", f"the ledger `{name}`: the connection to its server broke")


def login_error(name: str, error: LoginError) -> PpdmError:
    """Return the error for a connection that did not come about."""
    if error.state is not None:
        return server_error(name, error.state)
    if error.kind == UNREACHABLE:
        return run_fault("PPF475", f"the ledger `{name}`: its server cannot be reached: {error.why}")
    if error.kind == ENCRYPTION:
        return _encryption_error(name, error.why)
    if error.kind == REFUSED:
        return server_error(name, "28000")
    return data_fault("PPF476", f"the ledger `{name}`: no login came about", advice=_LOGIN)


def _encryption_error(name: str, why: str) -> PpdmError:
    if not why:
        advice = "switch it on in the server, or say `sslmode=disable` where nobody can listen"
        return data_fault("PPF624", f"the server of the ledger `{name}` speaks no TLS", advice=advice)
    if why == "root":
        return data_fault("PPF624", "the `sslrootcert` of the ledger's URL cannot be read")
    if why == "other":
        return data_fault("PPF624", f"no TLS connection to the ledger `{name}` came about")
    text = f"the certificate of the server of the ledger `{name}` {why}"
    return data_fault("PPF624", text, advice="`sslrootcert=/path` names an authority of your own")


def is_missing(error: PpdmError) -> bool:
    """Whether a table or column is not there."""
    return any(f"SQLSTATE {state}" in error.diagnostics[0].message for state in ("42P01", "42703", "3F000"))


_STATE = re.compile(r"[0-9A-Z]{5}")
_PARAMETER = re.compile(r":([a-z_]+)")


LOCK = 0x70706C67
"""The advisory lock that every run takes."""
WAIT = 3600.0
"""Seconds that a run waits for others to be done."""
_STATEMENT = 300.0
"""Seconds that the server may take for one statement."""
_SAFE_COMMIT = """
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')
"""
_BEGIN = (
    "SET LOCAL search_path = ppdm_flow, pg_temp",
    "SET LOCAL row_security = off",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL tcp_keepalives_idle = 30",
    "SET LOCAL tcp_keepalives_interval = 10",
    "SET LOCAL tcp_keepalives_count = 3",
    _SAFE_COMMIT,
)
"""What a role or a server sets otherwise may neither hide rows, end the transaction early, nor lose a commit."""


class Link:
    """A connection. Raises PluginError without the driver, DataError where the login or rights are at fault."""

    def __init__(self, address: ServerAddress, wait: float = WAIT) -> None:
        self.name = address.name
        self._wait = wait
        self._driver = _driver()
        try:
            self._open = opened(self._driver, address)
        except LoginError as error:
            raise login_error(self.name, error) from None

    def begin(self, *, writing: bool) -> None:
        """Begin a transaction; where it writes, only once no other run is in one. Raises RunError after the wait."""
        self.ask(f"BEGIN ISOLATION LEVEL READ COMMITTED {'READ WRITE' if writing else 'READ ONLY'}")
        for statement in (*_BEGIN, f"SET LOCAL lock_timeout = {round(self._wait * 1000)}"):
            self.ask(statement)
        if writing:
            self.ask(f"SELECT pg_advisory_xact_lock({LOCK})")
        self.ask(f"SET LOCAL statement_timeout = {round(_STATEMENT * 1000)}")

    def ask(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """Return the rows of a statement, whose parameters are `:name`."""
        names = list(dict.fromkeys(_PARAMETER.findall(sql))) if values else []
        text = _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", sql) if values else sql
        with self._guarded(), self._open.cursor() as cursor:
            cursor.execute(text, tuple(values[name] for name in names) or None)
            if cursor.description is None:
                return ()
            columns = [column.to_pylist() for column in cursor.fetch_arrow_table().columns]
        return list(zip(*columns, strict=True))

    def commit(self) -> None:
        """Keep what was written. Raises RunError; if the connection broke, nobody knows whether it was kept."""
        try:
            self.ask("COMMIT")
        except PpdmError as error:
            if error.diagnostics[0].code != "PPF479":
                raise
            text = f"the ledger `{self.name}`: the connection broke while a release was written down"
            raise run_fault("PPF628", text, advice="`ppdm-flow ledger URL` tells whether it is pending") from None

    def close(self) -> None:
        """Hang up; the server undoes what was not kept."""
        with contextlib.suppress(Exception):
            self._open.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except PpdmError:
            raise
        except Exception as error:  # noqa: BLE001  # the driver raises what it stumbles over when a connection breaks
            raise server_error(self.name, getattr(error, "sqlstate", None)) from None


def _driver() -> Any:
    try:
        return import_module(DRIVER)
    except ImportError:
        advice = "pip install 'ppdm_flow[sql]'"
        raise PluginError(Diagnostic("PPF723", "a ledger in PostgreSQL needs an extra", help=advice)) from None
