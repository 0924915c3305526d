"""One connection to the ledger's server, by pg8000, whose exceptions become ours: they may quote."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError
from ppdm_flow.core.server_address import ServerAddress
from ppdm_flow.engine.faults import data_fault, run_fault
from ppdm_flow.engine.ledger.wire import connect, login

_RIGHTS = "grant the user what `ppdm-flow explain PPF625` lists"
_LOGIN = "the password is that of PGPASSWORD, or of the file ~/.pgpass"
_INPUT = {
    "28": ("PPF623", "its server refuses the user or the password", _LOGIN),
    "3D000": ("PPF623", "its server has no such database", None),
    "42501": ("PPF625", "the user lacks rights in it", _RIGHTS),
    "25006": ("PPF625", "its server only reads", "name the main server, not a copy of it"),
}
_MACHINE = {
    "53300": ("PPF622", "its server has no connection left"),
    "57P03": ("PPF622", "its server is starting or stopping"),
    "55P03": ("PPF627", "another run holds it"),
    "53100": ("PPF626", "its server's disk is full"),
    "57014": ("PPF626", "its server took too long"),
    "57P": ("PPF626", "its server was stopped, or ended the connection"),
}


def server_error(name: str, error: BaseException | None) -> PpdmError:
    """Return the error for what the server answered; None where the driver could not make sense of it."""
    state = _state(error)
    if state is None:
        return data_fault("PPF623", f"the ledger `{name}`: no login came about", advice=_LOGIN)
    for known, (code, text, advice) in _INPUT.items():
        if state.startswith(known):
            return data_fault(code, f"the ledger `{name}`: {text}", advice=advice)
    for known, (code, text) in _MACHINE.items():
        if state.startswith(known):
            return run_fault(code, f"the ledger `{name}`: {text}", advice="nothing was released")
    return run_fault("PPF626", f"the ledger `{name}`: its server failed, with SQLSTATE {state}")


def connection_broken(name: str) -> PpdmError:
    """Return the error for a connection that broke."""
    return run_fault("PPF626", f"the ledger `{name}`: the connection to its server broke")


def server_timeout(name: str, error: OSError) -> PpdmError:
    """Return the error for a server that does not answer."""
    why = "did not answer in time" if isinstance(error, TimeoutError) else error.strerror or "no answer"
    return run_fault("PPF622", f"the ledger `{name}`: its server cannot be reached: {why.lower()}")


def is_missing(error: PpdmError) -> bool:
    """Whether a table or column is not there."""
    return any(f"SQLSTATE {state}" in error.diagnostics[0].message for state in ("42P01", "42703", "3F000"))


def _state(error: BaseException | None) -> str | None:
    """Return the five characters that say what is wrong."""
    fields = error.args[0] if error is not None and error.args else None
    state = fields.get("C") if isinstance(fields, dict) else None
    return state if isinstance(state, str) and re.fullmatch(r"[0-9A-Z]{5}", state) else None


LOCK = 0x70706C67
"""The advisory lock that every run takes."""
WAIT = 3600.0
"""Seconds that a run waits for others to be done."""
_STATEMENT = 300.0
"""Seconds that the server may take for one statement."""
_GRACE = 30.0
_BEGIN = """
    BEGIN ISOLATION LEVEL READ COMMITTED {mode};
    SET LOCAL search_path = ppdm_flow, pg_temp;
    SET LOCAL row_security = off;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = {wait};
    SET LOCAL tcp_keepalives_idle = 30; SET LOCAL tcp_keepalives_interval = 10; SET LOCAL tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')
"""
"""What a role or a server sets otherwise may neither hide rows, end the transaction early, nor lose a commit."""


class Link:
    """A connection. Raises PluginError without the driver, DataError where the login or rights are at fault."""

    def __init__(self, address: ServerAddress, wait: float = WAIT) -> None:
        self.name = address.name
        self._wait = wait
        self._driver = _driver()
        self._plug, self._open = _connected(self._driver, address)

    def begin(self, *, writing: bool) -> None:
        """Begin a transaction; where it writes, only once no other run is in one. Raises RunError after the wait."""
        wait = round(self._wait * 1000)
        self.ask(_BEGIN.format(mode="READ WRITE" if writing else "READ ONLY", wait=wait))
        if writing:
            self._plug.settimeout(self._wait + _GRACE)
            self.ask(f"SELECT pg_advisory_xact_lock({LOCK})")
            self._plug.settimeout(_STATEMENT + _GRACE)
        self.ask(f"SET LOCAL statement_timeout = {round(_STATEMENT * 1000)}")

    def ask(self, sql: str, **values: Any) -> Sequence[Sequence[Any]]:
        """Return the rows of a statement."""
        with self._guarded():
            rows: Sequence[Sequence[Any]] | None = self._open.run(sql, **values)
        return rows or ()

    def commit(self) -> None:
        """Keep what was written. Raises RunError; if the connection broke, nobody knows whether it was kept."""
        try:
            self.ask("COMMIT")
        except PpdmError as error:
            if error.diagnostics[0].code != "PPF626":
                raise
            text = f"the ledger `{self.name}`: the connection broke while a release was written down"
            raise run_fault("PPF628", text, advice="`ppdm-flow ledger URL` tells whether it is pending") from None

    def close(self) -> None:
        """Hang up; the server undoes what was not kept."""
        with contextlib.suppress(Exception):
            self._open.close()
        with contextlib.suppress(OSError):
            self._plug.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except self._driver.DatabaseError as error:
            raise server_error(self.name, error) from None
        except Exception:  # noqa: BLE001  # the driver raises what it stumbles over when a connection breaks
            raise connection_broken(self.name) from None


def _driver() -> Any:
    try:
        return import_module("pg8000.native")
    except ImportError:
        advice = "pip install 'ppdm_flow[sql]'"
        raise PluginError(Diagnostic("PPF621", "a ledger in PostgreSQL needs an extra", help=advice)) from None


def _connected(driver: Any, address: ServerAddress) -> tuple[socket.socket, Any]:
    who = login(address)
    try:
        made = connect(address)
    except OSError as error:
        raise server_timeout(address.name, error) from None
    try:
        opened = driver.Connection(
            who.user,
            database=address.database,
            password=who.password,
            sock=made,
            ssl_context=False,
            application_name="ppdm-flow",
            startup_params={"client_encoding": "UTF8"},
        )
    except OSError as error:
        made.close()
        raise server_timeout(address.name, error) from None
    except Exception as error:  # noqa: BLE001  # ways to log in that the driver lacks, a server that is none: it may quote
        made.close()
        raise server_error(address.name, _answer(driver, error)) from None
    except BaseException:
        made.close()
        raise
    made.settimeout(_STATEMENT + _GRACE)
    return made, opened


def _answer(driver: Any, error: BaseException) -> BaseException | None:
    """Return what the server said; the driver may have stumbled over the end of the connection after that."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, driver.DatabaseError):
        cause = cause.__context__
    return cause
