"""What the ledger's server says no to, by its SQLSTATE (PostgreSQL documentation, appendix A); its texts may quote."""

from __future__ import annotations

import re

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.faults import data_fault, run_fault

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
    told = error.args[0] if error is not None and error.args else None
    state = told.get("C") if isinstance(told, dict) else None
    return state if isinstance(state, str) and re.fullmatch(r"[0-9A-Z]{5}", state) else None
