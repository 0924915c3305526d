"""Arguments of the command line as values: params, and which rows, by which columns."""

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


def conditions(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return ``where`` from ``name=value`` words; a name given twice may have either value. Raises UsageError."""
    values_of: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(Diagnostic("PPF766", "`--where` takes `NAME=VALUE`", help="`NAME=` is a missing value"))
        values_of[name] = (*values_of.get(name, ()), value)
    return values_of


def columns(words: Iterable[str]) -> tuple[str, ...]:
    """Return ``by`` from words with names between commas. Raises UsageError where a name is empty or repeated."""
    names = tuple(name.strip() for word in words for name in word.split(","))
    if "" in names or len(set(names)) < len(names):
        raise UsageError(Diagnostic("PPF766", "`--by` takes the names of columns, each once, with commas between"))
    return names
