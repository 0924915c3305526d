"""Errors of databases in our own words: the server's texts are left out, since they quote values."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ppdm_flow.core.addresses import ServerAddress
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError, PpdmError, RunError

LOGIN, DATABASE, RIGHTS, READ_ONLY = "login", "database", "rights", "read only"
TABLE, COLUMN, STATEMENT, VALUE = "table", "column", "statement", "value"
UNREACHABLE, NO_LOGIN, ENCRYPTION, LOCKED, FAILED = "unreachable", "no login", "encryption", "locked", "failed"
"""Kinds of faults."""
_STATE = re.compile(r"[0-9A-Z]{5}")
_STATES = (
    ("28", LOGIN, "refuses the user or the password"),
    ("3D000", DATABASE, "has no such database"),
    ("42501", RIGHTS, "does not give the user that right"),
    ("42P01", TABLE, "has no such table"),
    ("3F000", TABLE, "has no such schema"),
    ("42703", COLUMN, "has no such column"),
    ("42", STATEMENT, "does not understand the statement"),
    ("0A", STATEMENT, "does not understand the statement"),
    ("25006", READ_ONLY, "refuses a statement that writes"),
    ("22", VALUE, "could not work out a value that the statement asks for"),
    ("53300", UNREACHABLE, "has no connection left"),
    ("53100", FAILED, "has a full disk"),
    ("55P03", LOCKED, "waited too long for what others hold"),
    ("57P03", UNREACHABLE, "is starting or stopping"),
    ("08", UNREACHABLE, "cannot be reached, or the connection broke"),
    ("57014", FAILED, "gave the statement up"),
    ("57P", FAILED, "was stopped, or ended the connection"),
    ("40", FAILED, "gave the transaction up: run it again"),
)
"""SQLSTATEs by their beginning, the first that fits; drivers without one have tables of what means the same."""
NOTHING_RELEASED = "nothing was released"


@dataclass(frozen=True, slots=True)
class ServerFaults:
    """The messages for faults of a server: ``subject`` with its place, and by kind a code, an error and an advice."""

    subject: str
    kinds: Mapping[str, tuple[str, type[PpdmError], str | None]]

    def of_kind(self, place: str, kind: str, predicate: str) -> PpdmError:
        """Return the error for a kind of fault; ``predicate`` says of the server what is wrong."""
        code, error, advice = self.kinds[kind]
        return error(Diagnostic(code, f"{self.subject.format(place)} {predicate}", help=advice))

    def of_state(self, place: str, state: object, *, connected: bool) -> PpdmError:
        """Return the error for an SQLSTATE; without one, for a connection that broke or never was."""
        text = state if isinstance(state, str) and _STATE.fullmatch(state) else ""
        for known, kind, predicate in _STATES:
            if text.startswith(known):
                return self.of_kind(place, kind, predicate)
        if text and text != "00000":
            return self.of_kind(place, FAILED, f"failed, with SQLSTATE {text}")
        if connected:
            return self.of_kind(place, FAILED, "did not answer any more: the connection broke")
        return self.of_kind(place, UNREACHABLE, "cannot be reached: no answer")


_CLIENT = "try it in a client of the database"
_SELECT = f"`query` is one SELECT: {_CLIENT}"
DATABASE_FAULTS = ServerFaults(
    "the database `{}`",
    {
        LOGIN: ("PPF476", DataError, "`ppdm-flow explain sql` says where the password is looked for"),
        DATABASE: ("PPF476", DataError, None),
        RIGHTS: (
            "PPF476",
            DataError,
            "grant the user SELECT on what is read, and on the schema of what is written CREATE and USAGE",
        ),
        TABLE: ("PPF477", DataError, "say its schema too: `table: clinic.visits`; capitals count"),
        COLUMN: ("PPF477", DataError, _CLIENT),
        STATEMENT: ("PPF477", DataError, _SELECT),
        READ_ONLY: ("PPF477", DataError, "`query` is one SELECT"),
        VALUE: ("PPF477", DataError, _CLIENT),
        UNREACHABLE: ("PPF475", RunError, NOTHING_RELEASED),
        NO_LOGIN: ("PPF475", RunError, NOTHING_RELEASED),
        ENCRYPTION: ("PPF475", RunError, NOTHING_RELEASED),
        LOCKED: ("PPF479", RunError, NOTHING_RELEASED),
        FAILED: ("PPF479", RunError, NOTHING_RELEASED),
    },
)
DATABASES = "PPDM_DATABASES"
"""The variable with the hosts that may be signed in to, as ``HOST`` or ``HOST:PORT`` between commas: any without it."""


def refuse_other_hosts(address: ServerAddress) -> None:
    """Raise DataError where the environment names hosts of databases, and not this one: a login would go there."""
    named = os.environ.get(DATABASES)
    if named is None or {address.host, f"{address.host}:{address.port}"} & set(named.split(",")):
        return
    text = f"the database `{address.name}` is none of those that may be used here"
    raise fault("PPF491", text, "the operator of this server names it: `serve --database HOST`")


def driver(module: str, extra: str, what: str) -> Any:
    """Import a driver. Raises PluginError where the extra is missing."""
    try:
        return import_module(module)
    except ImportError:
        advice = f"pip install 'ppdm_flow[{extra}]'"
        raise PluginError(Diagnostic("PPF723", f"{what} needs an extra", help=advice)) from None


def fault(code: str, text: str, advice: str | None = None) -> DataError:
    """Return a fault of the policy or the database."""
    return DataError(Diagnostic(code, text, help=advice))


def machine_fault(code: str, text: str) -> RunError:
    """Return a fault of the server or the network."""
    return RunError(Diagnostic(code, text, help=NOTHING_RELEASED))


def refused_type(place: str, column: str, kind: str) -> PpdmError:
    """Say that values of a type have no place in a table of texts, numbers and moments."""
    text = f"column `{column}` of the database `{place}` is of type {kind}, whose values are no cells of a table"
    return fault("PPF478", text, "leave it out, or make it a text in a `query:`")


def outside_calendar(place: str, column: str) -> PpdmError:
    """Report dates that our calendar does not have."""
    text = f"column `{column}` of the database `{place}` has dates that are infinite, or outside the years 1 to 9999"
    return fault("PPF480", text, "make them missing in a `query:`")
