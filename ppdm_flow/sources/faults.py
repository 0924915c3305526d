"""Faults of files, in words that hold no value of the data."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError


def fault(code: str, message: str, *, help: str | None = None, hint: str | None = None) -> DataError:  # noqa: A002  # the word that Diagnostic uses
    """Build a DataError of one diagnostic."""
    return DataError(Diagnostic(code, message, help=help, hint=hint))


def unreadable(path: Path, error: OSError) -> DataError:
    """Say that the file cannot be opened or read."""
    reason = error.strerror if error.errno and error.strerror else type(error).__name__
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    elif isinstance(error, IsADirectoryError):
        reason = "it is a directory"
    elif isinstance(error, PermissionError):
        reason = "permission denied"
    return fault("PPF701", f"cannot read `{path}`: {reason}")


def empty(path: Path) -> DataError:
    """Say that there is not even a header."""
    return fault("PPF702", f"`{path}` is empty: it has neither a header nor rows")


def damaged(path: Path) -> DataError:
    """Say that the compressed stream is cut off or corrupt."""
    return fault(
        "PPF705",
        f"`{path}` is damaged: its gzip stream is cut off or corrupt",
        help="fetch the file again; `gzip -t` tests it",
    )


def undecodable(place: str, encoding: str) -> DataError:
    """Say that bytes are no text in the declared encoding."""
    return fault(
        "PPF704",
        f"{place} is not text in the encoding {encoding}",
        help="name the file's own encoding in `source: {with: {encoding: …}}`, such as cp1252, latin-1 or utf-16",
    )


def nul(place: str) -> DataError:
    """Say that there is a NUL byte."""
    return fault(
        "PPF706", f"{place} has a NUL byte", help="the file may be binary, or UTF-16: then say `encoding: utf-16`"
    )


def line_fault(line: int, words: tuple[str, str] | None) -> DataError:
    """Say what is wrong with a line of sets, and advise; without words it is a NUL byte."""
    if words is None:
        return nul(f"line {line}")
    text, advice = words
    return fault("PPF755", f"line {line} {text}", help=advice)


def repeated(path: Path, position: int, first: int, name: str = "?") -> DataError:
    """Say that two columns have one name, or none at all: then a title may stand above the header."""
    if not name.strip():
        return fault(
            "PPF707",
            f"`{path}`: columns {first} and {position} have no name",
            help="does a title stand above the header? `source: {with: {skip_rows: 1}}` leaves a line out",
        )
    return fault("PPF707", f"`{path}`: columns {first} and {position} have the same name")


def distinct(path: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``names``. Raises DataError where two are the same."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if name in seen:
            raise repeated(path, position, seen[name], name)
        seen[name] = position
    return names
