"""Copies of released tables in a test: of a run that the engine made, or of rows that the test says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ppdm_flow.core.digests import sha256
from ppdm_flow.page.services.tables.copying import CopyExitCode, CopyTask, copy_table
from ppdm_flow.page.services.tables.table import CopiedTable, CopyDatabase
from ppdm_flow.page.services.tables.tables import TableCopies

Row = Sequence[str | None]


def tables(folder: Path, **limits: Any) -> TableCopies:
    """Return the service with small limits."""
    most = {"most_rows": 10_000, "most_bytes": 2**30, "memory_mb": 256, "seconds": 120, "readers": 2}
    return TableCopies(folder, **{**most, **limits})


def task(folder: Path, columns: dict[str, str], rows: Iterable[Row], **words: Any) -> CopyTask:
    """Write rows as a released CSV file, and return what makes its copy; None is a missing cell."""
    file = folder / "table.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        out.write(",".join(columns) + "\n")
        for row in rows:
            out.write(
                ",".join("" if cell is None else f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) + "\n"
            )
    given = {
        "path": str(file),
        "format": "csv",
        "options": {},
        "files": ((str(file), sha256(file)),),
        "columns": tuple((name, kind, (), False) for name, kind in columns.items()),
        "place": str(folder / "copy"),
        "most_rows": 10_000,
        "memory_mb": 256,
    }
    return CopyTask(**{**given, **words})


def table(folder: Path, columns: dict[str, str], rows: Iterable[Row]) -> CopiedTable:
    """Return the copy of these rows."""
    assert copy_table(task(folder, columns, rows)) is CopyExitCode.DONE
    return opened(folder / "copy")


def opened(copy: Path) -> CopiedTable:
    """Return the copy in a folder."""
    made = CopiedTable.opened(copy, CopyDatabase())
    assert made is not None
    return made
