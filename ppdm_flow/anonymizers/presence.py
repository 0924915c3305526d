"""Holding the names of parameters against the columns that are really there."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.anonymizers.naming import UNKNOWN, matching
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.suggest import closest


def require(patterns: Iterable[str], columns: Iterable[str], step: str) -> None:
    """Raise PluginError for every name or pattern that no column answers to."""
    known = tuple(columns)
    absent = [p for p in patterns if not matching(p, known)]
    if absent:
        raise PluginError([_diagnostic(name, known, step) for name in absent])


def _diagnostic(name: str, known: tuple[str, ...], step: str) -> Diagnostic:
    near = closest(name, known)
    return Diagnostic(
        UNKNOWN, f"step `{step}` finds no column `{name}`", hint=f"did you mean `{near}`?" if near else None
    )
