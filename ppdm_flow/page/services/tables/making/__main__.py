"""The process that makes the copy of a released table: it reads its task from the standard input, and prints nothing.

It is of low priority. Its memory is bounded: what does not fit is sorted on disk, beside the copy. A table has no
copy where its rows take too much while they are read: few long values in many cells make a small file.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import threading
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.page.services.storage.disk import room
from ppdm_flow.page.services.tables.column import ColumnAbout, ColumnForm, TableAbout
from ppdm_flow.page.services.tables.making.columns import text_tables, write_column
from ppdm_flow.page.services.tables.making.task import CopyExitCode, CopyTask

_NICE = 10
_READING = 3 * 2**30
"""Bytes that rows may take while they are read, beyond what DuckDB may hold."""
_LOOK = 0.1
"""Seconds between looks at the disk."""


def make(task: CopyTask) -> CopyExitCode:
    """Make a copy, and return what came of it. The files are hashed before and after they were read."""
    if not _are_the_listed(task):
        return CopyExitCode.CHANGED
    place = Path(task.place)
    place.mkdir(mode=0o700)
    work = place / "work.duckdb"
    memory, scratch = f"{task.memory_mb}MB", str(place / "work")
    with contextlib.closing(
        duckdb.connect(work, config={"threads": 1, "memory_limit": memory, "temp_directory": scratch})
    ) as connection:
        rows = _read(connection, task)
        if rows > task.most_rows:
            return CopyExitCode.TOO_LARGE
        columns = tuple(_column(connection, number, task, place) for number in range(len(task.columns)))
    work.unlink()
    if not _are_the_listed(task):
        return CopyExitCode.CHANGED
    TableAbout(rows, columns).write(place)
    return CopyExitCode.DONE


def _are_the_listed(task: CopyTask) -> bool:
    try:
        return all(sha256(Path(path)) == listed for path, listed in task.files)
    except OSError:
        return False


def _read(connection: duckdb.DuckDBPyConnection, task: CopyTask) -> int:
    """Fill the table ``raw`` with the texts of the file, and return the number of rows."""
    names = ", ".join(f"t{number} VARCHAR" for number in range(len(task.columns)))
    connection.execute(f"CREATE TABLE raw (place BIGINT, {names})")
    rows = 0
    for table in text_tables(Path(task.path), task.format, task.options, [name for name, *_ in task.columns]):
        places = pa.array(np.arange(rows, rows + table.num_rows))
        connection.register("piece", table.add_column(0, "place", places))
        connection.execute("INSERT INTO raw SELECT * FROM piece")
        connection.unregister("piece")
        rows += table.num_rows
        if rows > task.most_rows:
            break
    return rows


def _column(connection: duckdb.DuckDBPyConnection, number: int, task: CopyTask, place: Path) -> ColumnAbout:
    name, kind, changes, is_set = task.columns[number]
    about = ColumnAbout(number, name, AttributeType(kind), ColumnForm.TEXT, changes)
    if is_set and _is_empty(connection, number):
        return ColumnAbout(number, name, AttributeType(kind), ColumnForm.CODED, changes)
    return write_column(connection, about, place)


def _is_empty(connection: duckdb.DuckDBPyConnection, number: int) -> bool:
    return not connection.execute(f"SELECT 1 FROM raw WHERE t{number} IS NOT NULL LIMIT 1").fetchall()  # noqa: S608


def _be_humble() -> None:
    """Take the last core alone, where there are several, and that after everybody else: as jobs do."""
    os.nice(_NICE)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _limit_memory(task: CopyTask) -> None:
    most = task.memory_mb * 2**20 + _READING
    _, known = resource.getrlimit(resource.RLIMIT_DATA)
    if known == resource.RLIM_INFINITY or most < known:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _stop_before_the_disk_is_full(task: CopyTask) -> None:
    """End this process where it leaves less of the disk than it should, whatever it is doing."""
    folder = Path(task.place).parent
    while room(folder) >= task.free_bytes:
        time.sleep(_LOOK)
    os._exit(CopyExitCode.FAILED)


def main() -> CopyExitCode:
    """Make the copy that the standard input tells of."""
    _be_humble()
    try:
        task = CopyTask.read(sys.stdin.read())
        _limit_memory(task)
        threading.Thread(target=_stop_before_the_disk_is_full, args=(task,), daemon=True).start()
        return make(task)
    except PpdmError:
        return CopyExitCode.UNREADABLE
    except Exception:  # noqa: BLE001  # its text may hold values
        return CopyExitCode.FAILED


if __name__ == "__main__":
    sys.exit(main())
