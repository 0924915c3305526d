"""What goes wrong with a database, in words that hold nothing of what the server says: it quotes values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ppdm_flow.core.addresses.server import ServerAddress
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError, PpdmError, RunError

_STATE = re.compile(r"[0-9A-Z]{5}")
_LOGIN = "`ppdm-flow explain sql` says where the password is looked for"
_RIGHTS = "grant the user SELECT on what is read, and on the schema of what is written CREATE and USAGE"
_INPUT = (
    ("28", "PPF476", "refuses the user or the password", _LOGIN),
    ("3D000", "PPF476", "has no such database", None),
    ("42501", "PPF476", "does not give the user that right", _RIGHTS),
    ("42P01", "PPF477", "has no such table", "say its schema too: `table: clinic.visits`; capitals count"),
    ("3F000", "PPF477", "has no such schema", None),
    ("42703", "PPF477", "has no such column", "try the statement in a client of the database"),
    ("42", "PPF477", "does not understand the statement", "`query` is one SELECT: try it in a client of the database"),
    ("0A", "PPF477", "does not understand the statement", "`query` is one SELECT: try it in a client of the database"),
    ("25006", "PPF477", "refuses a statement that writes", "`query` is one SELECT"),
    ("22", "PPF477", "could not work out a value that the statement asks for", "try it in a client of the database"),
)
_MACHINE = (
    ("53300", "PPF475", "has no connection left"),
    ("57P03", "PPF475", "is starting or stopping"),
    ("08", "PPF475", "cannot be reached, or the connection broke"),
    ("57014", "PPF479", "gave the statement up"),
    ("57P", "PPF479", "was stopped, or ended the connection"),
    ("40", "PPF479", "gave the transaction up: run it again"),
)

DATABASES = "PPDM_DATABASES"
"""The variable with the hosts that may be signed in to, as ``HOST`` or ``HOST:PORT`` between commas: any without it."""


def refuse_other_hosts(address: ServerAddress) -> None:
    """Raise DataError where the environment names hosts of databases, and not this one: a login would go there."""
    named = os.environ.get(DATABASES)
    if named is None or {address.host, f"{address.host}:{address.port}"} & set(named.split(",")):
        return
    text = f"the database `{address.name}` is none of those that may be used here"
    raise fault("PPF491", text, "whoever runs this server names it: `serve --database HOST`")


def fault(code: str, text: str, advice: str | None = None) -> DataError:
    """Return a fault of the policy or the database."""
    return DataError(Diagnostic(code, text, help=advice))


def machine_fault(code: str, text: str) -> RunError:
    """Return a fault of the server or the network."""
    return RunError(Diagnostic(code, text, help="nothing was released"))


def unreachable(place: str, why: str = "no answer") -> PpdmError:
    """Say that nobody answers."""
    return machine_fault("PPF475", f"the database `{place}` cannot be reached: {why}")


def server_fault(place: str, state: object, *, connected: bool) -> PpdmError:
    """Return the error for an answer with an SQLSTATE; without one, of a connection that broke or never was."""
    text = state if isinstance(state, str) and _STATE.fullmatch(state) else ""
    for known, code, words, advice in _INPUT:
        if text.startswith(known):
            return fault(code, f"the database `{place}` {words}", advice)
    for known, code, words in _MACHINE:
        if text.startswith(known):
            return machine_fault(code, f"the database `{place}` {words}")
    if text and text != "00000":
        return machine_fault("PPF479", f"the database `{place}` failed, with SQLSTATE {text}")
    if not connected:
        return unreachable(place)
    return machine_fault("PPF479", f"the connection to the database `{place}` broke")


def refused_type(place: str, column: str, kind: str) -> PpdmError:
    """Say that values of a type have no place in a table of texts, numbers and moments."""
    text = f"column `{column}` of the database `{place}` is of type {kind}, whose values are no cells of a table"
    return fault("PPF478", text, "leave it out, or make it a text in a `query:`")


def outside_calendar(place: str, column: str) -> PpdmError:
    """Say that there are dates that no calendar of ours has."""
    text = f"column `{column}` of the database `{place}` has dates that are infinite, or outside the years 1 to 9999"
    return fault("PPF480", text, "make them missing in a `query:`")


@contextmanager
def told(fault_of: Callable[[Exception], PpdmError | None]) -> Iterator[None]:
    """Turn what a driver raises into the error that ``fault_of`` has for it; where that is None it stays what it is."""
    try:
        yield
    except PpdmError:
        raise
    except Exception as error:
        own = fault_of(error)
        if own is None:
            raise
        raise own from None


def driver(module: str, extra: str, what: str) -> Any:
    """Import a driver. Raises PluginError where the extra is missing."""
    try:
        return import_module(module)
    except ImportError:
        text = f"{what} needs an extra"
        raise PluginError(Diagnostic("PPF723", text, help=f"pip install 'ppdm_flow[{extra}]'")) from None
