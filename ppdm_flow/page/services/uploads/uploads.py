"""The tables that people uploaded: who has which, until when."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import secrets
import shutil
import threading
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from sqlite3 import Row
from typing import TYPE_CHECKING, Any, BinaryIO

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.bounded import BoundedCalls
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.page.services.storage.disk import room
from ppdm_flow.page.services.uploads.arriving import ArrivingFile, UploadLimits, refused
from ppdm_flow.page.services.uploads.first_rows import fault_text, mended_by
from ppdm_flow.page.services.uploads.kinds import UploadKind, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES accounts (id)"
        " ON DELETE CASCADE, name TEXT NOT NULL, format TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,"
        " arrived REAL NOT NULL, until REAL NOT NULL)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS policy_uploads (account INTEGER NOT NULL REFERENCES accounts (id)"
        " ON DELETE CASCADE, policy TEXT NOT NULL, upload TEXT NOT NULL, PRIMARY KEY (account, policy))"
    ),
)
_HOUR = 3600.0
_AT_ONCE = 3
"""Files that one person may be sending."""
LOOKS = BoundedCalls(seconds=100, memory=3_072, output=1, places=2, each=1)
"""Looks at what has arrived, by the source that will read it. Nobody's files keep those of all others waiting."""
_NAME = 200
"""Characters of a name that are kept: it is shown, and never a path."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One table. ``name`` is what its owner's file was called; ``path`` is where it lies, under a name of our own."""

    id: str
    name: str
    format: str
    bytes: int
    path: Path
    until: datetime


class Uploads:
    """All uploaded tables. A row of the database makes one: what lies in the folder without one is removed."""

    def __init__(
        self,
        database: PageDatabase,
        folder: Path,
        limits: UploadLimits,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database, self._folder, self._limits, self._now = database, folder, limits, now
        self._arriving: dict[str, ArrivingFile] = {}
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def arriving(self, user: User, announced: int) -> ArrivingFile:
        """Return a place for a file of at most so many bytes; leave it by ``with``. Raises UsageError (PPF994)."""
        if announced > self._limits.bytes_each:
            raise refused("the file is larger than the server takes", self._limits.bytes_each)
        with self._lock:
            self._check_room(user, announced)
            word = secrets.token_hex(16)
            made = ArrivingFile(word, user.id, self._folder / word, announced, self._forget_arriving)
            self._arriving[word] = made
        return made

    def keep(self, user: User, arrived: ArrivingFile, name: str, written: Mapping[str, Any] | None = None) -> Upload:
        """Keep a file that has arrived as a table, when its bytes are what its name says.

        ``written`` is what its owner says of how it is written (fields of ``TextOptions``).
        Raises DataError where they are not (PPF995), it unpacks to too much (PPF996), or it cannot be read;
        UsageError where looking at it takes too much (PPF997).
        """
        arrived.finish()
        kind = kind_of(arrived.file, name)
        file = arrived.named(f"data{kind.ending}")
        LOOKS.run(look, file, kind, self._limits, written or {})
        until = self._now() + self._limits.hours * _HOUR
        shown = name.rpartition("/")[2].rpartition("\\")[2][:_NAME]
        with self._database.changing() as connection:
            connection.execute(
                "INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (arrived.id, user.id, shown, kind.format, file.name, arrived.bytes, self._now(), until),
            )
        arrived.is_kept = True
        return Upload(arrived.id, shown, kind.format, arrived.bytes, file, datetime.fromtimestamp(until, UTC))

    def of(self, user: User, upload: str) -> Upload | None:
        """Return somebody's own upload; None where there is none, it is another's, or its time is over."""
        row = self._database.row(
            "SELECT * FROM uploads WHERE id = ? AND account = ? AND until > ?", upload, user.id, self._now()
        )
        return None if row is None else self._upload(row)

    def all_of(self, user: User) -> list[Upload]:
        """Return somebody's uploads, newest first."""
        rows = self._database.rows(
            "SELECT * FROM uploads WHERE account = ? AND until > ? ORDER BY arrived DESC, id", user.id, self._now()
        )
        return [self._upload(row) for row in rows]

    def set_policy_upload(self, user: User, policy: str, upload: Upload) -> None:
        """Let somebody's runs of a policy read this table unless they choose another."""
        with self._database.changing() as connection:
            connection.execute("REPLACE INTO policy_uploads VALUES (?, ?, ?)", (user.id, policy, upload.id))

    def policy_upload(self, user: User, policy: str) -> Upload | None:
        """Return the table that somebody's runs of a policy read; None where there is none, or it is gone."""
        row = self._database.row("SELECT upload FROM policy_uploads WHERE account = ? AND policy = ?", user.id, policy)
        return None if row is None else self.of(user, row["upload"])

    def forget_policy(self, policy: str) -> None:
        """Let nobody's runs of a policy read an upload any more: the file is gone, and another may get its name."""
        with self._database.changing() as connection:
            connection.execute("DELETE FROM policy_uploads WHERE policy = ?", (policy,))

    def forget_policies_but(self, there: Collection[str]) -> None:
        """Forget the policies that are not there any more."""
        for row in self._database.rows("SELECT DISTINCT policy FROM policy_uploads"):
            if row["policy"] not in there:
                self.forget_policy(row["policy"])

    def policies_with_upload(self, user: User) -> dict[str, str]:
        """Return the policies of which somebody's runs read an upload, with its id; the one that was run last first."""
        rows = self._database.rows(
            "SELECT policy, upload FROM policy_uploads WHERE account = ? ORDER BY rowid DESC", user.id
        )
        return {row["policy"]: row["upload"] for row in rows}

    def add_row(self, user: User, upload: Upload, cells: Sequence[str]) -> None:
        """Add a row to somebody's own table.

        Raises RefusalError for what it cannot have, UsageError where that is too much (PPF994, PPF997).
        """
        line = LOOKS.run(line_of, upload.path, cells)
        with self._lock, upload.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size - 1 if size else 0)
            line = line if file.read(1) in (b"", b"\n") else b"\n" + line
            if size + len(line) > self._limits.bytes_each:
                raise refused("the table would be larger than the server takes", self._limits.bytes_each)
            self._check_bytes(user, len(line))
            os.write(file.fileno(), line)  # whole, or not at all where the process is killed
            with self._database.changing() as connection:
                query = "UPDATE uploads SET bytes = ? WHERE id = ? AND account = ?"
                connection.execute(query, (size + len(line), upload.id, user.id))

    def remove(self, user: User, upload: str) -> bool:
        """Remove somebody's own upload; False where there is none."""
        with self._database.changing() as connection:
            many = connection.execute("DELETE FROM uploads WHERE id = ? AND account = ?", (upload, user.id)).rowcount
        if many:
            shutil.rmtree(self._folder / upload, ignore_errors=True)
        return bool(many)

    def tidy(self) -> None:
        """Remove what is over its time, and what a killed server left."""
        with self._database.changing() as connection:
            connection.execute("DELETE FROM uploads WHERE until <= ?", (self._now(),))
            connection.execute("DELETE FROM policy_uploads WHERE upload NOT IN (SELECT id FROM uploads)")
            for row in connection.execute("SELECT id, file FROM uploads").fetchall():
                if not (self._folder / row["id"] / row["file"]).is_file():
                    connection.execute("DELETE FROM uploads WHERE id = ?", (row["id"],))
        with self._lock:  # a place is made and known of under it
            names = [each.name for each in self._folder.iterdir() if each.name not in self._arriving]
        for name in names:
            if self._database.row("SELECT 1 FROM uploads WHERE id = ?", name) is None:
                shutil.rmtree(self._folder / name, ignore_errors=True)

    def _check_room(self, user: User, announced: int) -> None:
        own, _ = self._used(user)
        if sum(each.account == user.id for each in list(self._arriving.values())) >= _AT_ONCE:
            raise refused(f"you are sending {_AT_ONCE} files already")
        if own[0] >= self._limits.number_a_person:
            raise refused(f"you have {own[0]} uploads, and the server keeps no more of one person")
        self._check_bytes(user, announced)

    def _check_bytes(self, user: User, announced: int) -> None:
        own, every = self._used(user)
        if own[1] + announced > self._limits.bytes_a_person:
            raise refused("your uploads would exceed what the server keeps of one person", self._limits.bytes_a_person)
        if every + announced > self._limits.bytes_in_all:
            raise refused("the uploads of all people would exceed what the server keeps")
        arriving = [(each.account, each.announced - each.bytes) for each in list(self._arriving.values())]
        mine = sum(rest for account, rest in arriving if account == user.id) + announced
        others = sum(rest for account, rest in arriving if account != user.id)
        left = room(self._folder) - self._limits.free_bytes - others
        if 2 * mine > left:  # what one person has but announced leaves others half
            raise refused("the server's disk has too little room")

    def _used(self, user: User) -> tuple[tuple[int, int], int]:
        """Return (number, bytes) of a person with what is arriving, and the bytes of all."""
        rows = self._database.rows("SELECT account, bytes FROM uploads")
        account_sizes = [(row["account"], row["bytes"]) for row in rows]
        account_sizes += [(each.account, each.announced) for each in list(self._arriving.values()) if not each.is_kept]
        own = [size for account, size in account_sizes if account == user.id]
        return (len(own), sum(own)), sum(size for _, size in account_sizes)

    def _forget_arriving(self, arrived: ArrivingFile) -> None:
        self._arriving.pop(arrived.id, None)

    def _upload(self, row: Row) -> Upload:
        path = self._folder / row["id"] / row["file"]
        until = datetime.fromtimestamp(row["until"], UTC)
        return Upload(row["id"], row["name"], row["format"], row["bytes"], path, until)


def look(file: Path, kind: UploadKind, limits: UploadLimits, written: Mapping[str, Any]) -> None:
    """Look at a file, in a process that cannot take the server with it.

    Raises DataError where it unpacks to too much or has too many columns (PPF996), or with what the source says where
    it cannot be read as a table of its kind (PPF995).
    """
    check_unpacked(file, kind, limits)
    check_columns(file, kind, limits)
    why, mends = _fault(file, kind, limits, written)
    if why:
        raise DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help=_HELP[mends]))


_HELP: Mapping[str, str] = {
    "": "open it where it was made, and write it anew",
    "delimiter": (
        "say under `What parts cells` what stands between its cells; or else mend this row, which may have a delimiter"
        " or a single quote in a value"
    ),
    "encoding": "say under `Encoding` how its letters are written",
    "header": "say under `The first line` whether it names the columns; or else give each column a name of its own",
}
"""What mends a fault, by the control of the form."""


def _fault(file: Path, kind: UploadKind, limits: UploadLimits, written: Mapping[str, Any]) -> tuple[str, str]:
    """Return why a file cannot be read as a table of its kind, and which control mends it; nothing where it can.

    Raises DataError where it has too many columns (PPF996), before any row is read.
    """
    from ppdm_flow.api.profile.data import TextOptions  # noqa: PLC0415  # the server itself reads no data
    from ppdm_flow.api.profile.data import look as looked  # noqa: PLC0415  # as above
    from ppdm_flow.engine.opening.opening import open_source  # noqa: PLC0415  # as above

    try:
        node = looked(file, TextOptions(**written).checked()).node(file.name)
        source = open_source(node, file)
        names = node.columns or source.names()
        if len(names) <= limits.columns:
            next(iter(source.batches(source.names())), None)
    except PpdmError as error:
        return fault_text(error, file), mended_by(error.diagnostics)
    except MemoryError:
        return "reading it takes too much memory", ""
    except Exception:  # noqa: BLE001  # any error of a reader of hostile bytes; its message may quote them
        return f"it cannot be read as {kind.format}", ""
    refuse_wide(len(names), limits)
    return "" if names else "it has no columns", ""


# Packed uploads: what they hold is counted while it is unpacked, and what they say of themselves is not believed.


_PIECE = 1 << 20
_SMALL = 64 * 2**20
"""What may come of any file, however small it is."""
_MEMBERS = 10_000
_WORKBOOK = "xl/workbook.xml"
_LONGEST = 2**62
_SMALL_PARQUET = 2**30
"""The same of Parquet, where few bytes say that a value goes on for many rows."""
_BYTES = "BYTE_ARRAY"
_NUMBER = 8
_ROWS = 1 << 16
_DELIMITERS = (b",", b";", b"\t", b"|")


def check_unpacked(file: Path, kind: UploadKind, limits: UploadLimits) -> None:
    """Raise DataError where a file unpacks to too much (PPF996), or is damaged or no workbook (PPF995)."""
    pieces = _gzip if kind.packed else _PIECES.get(kind.format)
    if pieces is None:
        return
    small = _SMALL_PARQUET if pieces is _parquet else _SMALL
    most = min(limits.unpacked_bytes, max(small, file.stat().st_size * limits.unpacked_ratio))
    unpacked = 0
    try:
        for piece in pieces(file):
            unpacked += piece
            if unpacked > most:
                raise _bomb(f"it unpacks to more than {most // 2**20:,} MB")
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        raise _damaged("its packing is damaged, or of an unusual kind") from None


def check_columns(file: Path, kind: UploadKind, limits: UploadLimits) -> None:
    """Raise DataError where a file has more columns than the server takes (PPF996): each costs every look at it.

    Of a text the first line is looked at, before a reader guesses how it is written. What this does not find, the
    reader does (`look`).
    """
    if kind.format == "parquet":
        from pyarrow import parquet  # noqa: PLC0415  # the server itself reads no data

        columns = parquet.read_metadata(file).num_columns
    elif kind.format in _PIECES:
        return
    else:
        with gzip.open(file) if kind.packed else file.open("rb") as opened:
            line = opened.readline(_PIECE)
        columns = _keys(line) if kind.format == "jsonl" else max(map(line.count, _DELIMITERS)) + 1
    refuse_wide(columns, limits)


def refuse_wide(columns: int, limits: UploadLimits) -> None:
    """Raise DataError (PPF996) for more columns than the server takes."""
    if columns > limits.columns:
        raise _bomb(f"it has {columns:,} columns, and the server takes {limits.columns:,}")


def _keys(line: bytes) -> int:
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return 0
    return len(first) if isinstance(first, dict) else 0


def _parquet(file: Path) -> Iterator[int]:
    """Count what the values take once they are written out: a dictionary has each of them once."""
    from pyarrow import compute, parquet, types  # noqa: PLC0415  # the server itself reads no data

    with parquet.ParquetFile(file) as opened:
        schema = opened.schema
        columns = [schema.column(n) for n in range(len(schema))]
        texts = [column.path for column in columns if column.physical_type == _BYTES]
        for number, column in enumerate(columns):
            if column.physical_type != _BYTES:
                groups = (opened.metadata.row_group(g) for g in range(opened.metadata.num_row_groups))
                yield sum(group.column(number).num_values for group in groups) * max(_NUMBER, column.length or 0)
    with parquet.ParquetFile(file, read_dictionary=texts) as opened:
        for batch in opened.iter_batches(_ROWS, columns=texts) if texts else ():
            for array in chain.from_iterable(map(_leaves, batch.columns)):
                if types.is_dictionary(array.type):
                    lengths = compute.binary_length(array.dictionary).take(array.indices)
                    yield (compute.sum(lengths).as_py() or 0) + len(array)
                else:
                    yield array.nbytes


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the arrays of values that lists and structs are made of."""
    from pyarrow import types  # noqa: PLC0415  # the server itself reads no data

    if types.is_struct(array.type):
        for part in array.flatten():
            yield from _leaves(part)
    elif types.is_map(array.type):
        yield from (*_leaves(array.keys), *_leaves(array.items))
    elif types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        yield from _leaves(array.flatten())
    else:
        yield array


def _gzip(file: Path) -> Iterator[int]:
    with gzip.open(file) as opened:
        while piece := opened.read(_PIECE):
            yield len(piece)


def _workbook(file: Path) -> Iterator[int]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > _MEMBERS:
            raise _bomb(f"it holds more than {_MEMBERS:,} files")
        names = [member.filename for member in members]
        if _WORKBOOK not in names or len(set(names)) != len(names):
            raise _damaged("it is a ZIP archive, and no workbook of Excel")
        for member in members:
            yield from _member(archive, member)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[int]:
    """Count all that a member unpacks to: its own word for that ends the reading too early where it is too small."""
    said, member.file_size = member.file_size, _LONGEST
    real = 0
    opened: BinaryIO
    with archive.open(member) as opened:  # type: ignore[assignment]  # it is one, by its methods
        while piece := opened.read(_PIECE):
            real += len(piece)
            yield len(piece)
    if real != said:
        raise _damaged("a part of it is not as long as it says")


_PIECES: Mapping[str, Callable[[Path], Iterator[int]]] = {"excel": _workbook, "parquet": _parquet}


def _bomb(what: str) -> DataError:
    help_ = "send what the policy needs of the table, as Parquet or unpacked"
    return DataError(Diagnostic("PPF996", f"the upload is refused: {what}", help=help_))


def _damaged(why: str) -> DataError:
    return DataError(Diagnostic("PPF995", f"the upload is refused: {why}", help="write the file anew"))


# One row more for a table that somebody uploaded, written as the rest of the file is.


MOST_COLUMNS = 200
"""Columns up to which a form has a field for each."""
_ENDING = ".csv"


def takes_rows(file: Path) -> bool:
    """Whether rows are added to files of this kind: text with delimiters, unpacked."""
    return file.suffix == _ENDING


def columns_of(file: Path) -> tuple[str, ...]:
    """Return the names of the columns. Raises RefusalError where they are too many for a form."""
    from ppdm_flow.api.profile.data import look  # noqa: PLC0415  # the server itself reads no data
    from ppdm_flow.engine.opening.opening import open_source  # noqa: PLC0415  # as above

    node = look(file).node(file.name)
    names = tuple(node.columns or open_source(node, file).names())
    if len(names) > MOST_COLUMNS:
        raise RefusalError("uploads.row_columns", most=MOST_COLUMNS)
    return names


def line_of(file: Path, cells: Sequence[str]) -> bytes:
    """Return a row as a line of the file, in its encoding and with its delimiter.

    Raises RefusalError where the file has another number of columns, or has no way to write a cell.
    """
    from ppdm_flow.api.profile.data import look  # noqa: PLC0415  # the server itself reads no data

    if len(cells) != len(columns_of(file)):
        raise RefusalError("uploads.row_changed")
    if not any(cell.strip() for cell in cells):
        raise RefusalError("uploads.row_empty", 400)
    if any(unicodedata.category(character) == "Cc" for cell in cells for character in cell):
        raise RefusalError("uploads.row_characters", 400)
    options = look(file).node(file.name).options
    encoding, escape = str(options.get("encoding", "utf-8")), options.get("escape", "none")
    own = {
        "delimiter": str(options.get("delimiter", ",")),
        "escapechar": None if escape == "none" else str(escape),
        "doublequote": escape == "none",
    }
    written = io.StringIO(newline="")
    try:
        csv.writer(written, lineterminator="", **own).writerow(cells)
        line = written.getvalue()
        if next(csv.reader([line], strict=True, **own)) != list(cells):
            raise RefusalError("uploads.row_characters", 400)
        end = b"\r\n" if _first_line(file).endswith(b"\r\n") else b"\n"
        if "\n".encode(encoding) != b"\n":
            raise RefusalError("uploads.row_encoding")
        return line.encode(encoding) + end
    except (csv.Error, UnicodeEncodeError):
        raise RefusalError("uploads.row_characters", 400) from None


def _first_line(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.readline(1 << 20)
