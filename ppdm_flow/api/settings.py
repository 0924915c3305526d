"""Params from the command line."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError


def settings(words: Iterable[str]) -> dict[str, str]:
    """Return params from ``name=value`` words. Raises UsageError for another form or a repeated name."""
    value_of: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(Diagnostic("PPF691", f"`--set {name}` lacks its value: write `--set name=value`"))
        if name in value_of:
            raise UsageError(Diagnostic("PPF691", f"`--set {name}` is given twice"))
        value_of[name] = value
    return value_of
