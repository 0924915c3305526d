"""The first rows of an uploaded table, for its owner: read by a process of their own, and kept nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.texts import shortened

ROWS, COLUMNS, _CELL = 8, 60, 60
"""Rows, columns, and characters of a cell that are shown."""
_MENDED_BY: Mapping[str, str] = {"PPF703": "delimiter", "PPF704": "encoding", "PPF672": "header", "PPF707": "header"}
"""The control that says what a diagnostic code complains of."""


@dataclass(frozen=True, slots=True)
class UploadBeginning:
    """The first rows of an upload as they were read, or why they cannot be: ``fault``, and what ``mends`` it.

    A missing cell is None. ``more`` counts the columns that are left out; ``delimiter``, ``encoding``, ``escape`` and
    ``missing`` are what the file was read with, and ``has_names`` says that its first line has the columns' names.
    """

    names: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    more: int = 0
    delimiter: str = ""
    encoding: str = ""
    escape: str = ""
    has_names: bool = True
    missing: tuple[str, ...] = ()
    fault: str = ""
    mends: str = ""


def beginning_of(file: Path, said: Mapping[str, Any]) -> UploadBeginning:
    """Return the first rows of a file that is written as somebody says (fields of ``TextOptions``)."""
    from ppdm_flow.api.profile.data import TextOptions  # noqa: PLC0415  # the server itself reads no data
    from ppdm_flow.api.profile.profile import first_rows  # noqa: PLC0415  # as above

    try:
        read = first_rows(file, TextOptions(**said), ROWS)
    except PpdmError as error:
        return UploadBeginning(fault=fault_text(error, file), mends=mended_by(error.diagnostics))
    except MemoryError:
        return UploadBeginning(fault="reading it takes too much memory")
    except Exception:  # noqa: BLE001  # any error of a reader of hostile bytes; its message may quote them
        return UploadBeginning(fault="it cannot be read")
    options = read.layout.options
    return UploadBeginning(
        tuple(shortened(name, _CELL) for name in read.names[:COLUMNS]),
        tuple(tuple(None if cell is None else shortened(cell, _CELL) for cell in row[:COLUMNS]) for row in read.rows),
        max(0, len(read.names) - COLUMNS),
        str(options.get("delimiter", ",")),
        str(options.get("encoding", "utf-8")),
        str(options.get("escape", "none")),
        read.layout.columns is None,
        tuple(mark for mark in read.missing if mark),
    )


def fault_text(error: PpdmError, file: Path) -> str:
    """Return what an error says, without the path of the file."""
    said = "; ".join(each.message for each in error.diagnostics)
    return said.replace(f"`{file}`", "the file").replace(str(file), "the file")


def mended_by(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> str:
    """Return the name of the control that mends the first fault that one mends; empty where none does."""
    return next((_MENDED_BY[each.code] for each in diagnostics if each.code in _MENDED_BY), "")
