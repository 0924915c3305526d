"""Tables that Spark reads, as `--data` names them: one of a session's catalog, of Delta or of Iceberg."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

TABLE, DELTA, ICEBERG, JDBC = "table", "delta", "iceberg", "jdbc"
_KINDS = (TABLE, DELTA, ICEBERG, JDBC)
_ADDRESS = re.compile(rf"({'|'.join(_KINDS)}):(.*)", re.DOTALL)
_PASSWORD = re.compile(r":/{1,2}[^@]*:[^@]*@")
_LONGEST = 200
_FRAME = "data.parquet"


@dataclass(frozen=True, slots=True)
class TableAddress:
    """A table: ``kind`` is ``table``, ``delta`` or ``iceberg``, ``name`` its name, or its path for Delta."""

    kind: str
    name: str

    @property
    def shown(self) -> str:
        """The address as it is given."""
        return f"{self.kind}:{self.name}"

    @property
    def file_name(self) -> str:
        """A name of one folder for a copy of the table."""
        last = PurePosixPath(self.name.replace("`", "")).name
        return last if last not in ("", "..") and "\0" not in last and len(last.encode()) <= _LONGEST else _FRAME


def is_table(place: str | Path | None) -> bool:
    """Whether a text or path is meant as the address of a table, and is not the name of a file that is there."""
    return place is not None and _ADDRESS.match(str(place)) is not None and not os.path.lexists(place)


def place_of_data(text: str) -> Path | TableAddress:
    """Return what a text names: a table that Spark reads, or else a path. Raises UsageError (PPF957), without a quote.

    >>> place_of_data("table:shop.visits").name
    'shop.visits'
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not is_table(text):
        return Path(text)
    kind, name = match.groups()
    if kind == JDBC or _PASSWORD.search(name):
        what = "a table behind JDBC" if kind == JDBC else "an address with a password"
        advice = "read it in a session that has the driver and the password, and give the DataFrame to `ppdm_flow.run`"
        raise UsageError(Diagnostic("PPF957", f"{what} is not taken from the command line", help=advice))
    if not name.strip():
        advice = "say `table:NAME`, `delta:PATH` or `iceberg:NAME`"
        raise UsageError(Diagnostic("PPF957", f"`{kind}:` names no table", help=advice))
    return TableAddress(kind, name)


def refuse_table(place: str | Path | None) -> None:
    """Raise UsageError for the address of a table where no engine reads one: PPF954, or PPF957 without a quote."""
    if is_table(place) and isinstance(address := place_of_data(str(place)), TableAddress):
        text = f"`{address.shown}` is a table that only `run --engine spark` reads"
        raise UsageError(
            Diagnostic("PPF954", text, help="say `--engine spark`; other verbs take it exported to Parquet")
        )
