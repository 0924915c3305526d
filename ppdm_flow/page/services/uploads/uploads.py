"""The tables that people uploaded: who has which, until when."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Row

from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.bounded import BoundedCalls
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.page.services.storage.disk import room
from ppdm_flow.page.services.uploads.arriving import ArrivingFile
from ppdm_flow.page.services.uploads.kinds import kind_of
from ppdm_flow.page.services.uploads.limits import UploadLimits, refused
from ppdm_flow.page.services.uploads.look import look
from ppdm_flow.page.services.uploads.rows import line_of

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, account INTEGER NOT NULL REFERENCES accounts (id)"
        " ON DELETE CASCADE, name TEXT NOT NULL, format TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,"
        " arrived REAL NOT NULL, until REAL NOT NULL)"
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
            made = ArrivingFile(word, user.id, self._folder / word, announced, self._gone)
            self._arriving[word] = made
        return made

    def keep(self, user: User, arrived: ArrivingFile, name: str) -> Upload:
        """Keep a file that has arrived as a table, when its bytes are what its name says.

        Raises DataError where they are not (PPF995), it unpacks to too much (PPF996), or it cannot be read;
        UsageError where looking at it takes too much (PPF997).
        """
        arrived.finish()
        kind = kind_of(arrived.file, name)
        file = arrived.named(f"data{kind.ending}")
        LOOKS.run(look, file, kind, self._limits)
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
        held = [(row["account"], row["bytes"]) for row in rows]
        held += [(each.account, each.announced) for each in list(self._arriving.values()) if not each.is_kept]
        own = [size for account, size in held if account == user.id]
        return (len(own), sum(own)), sum(size for _, size in held)

    def _gone(self, arrived: ArrivingFile) -> None:
        self._arriving.pop(arrived.id, None)

    def _upload(self, row: Row) -> Upload:
        path = self._folder / row["id"] / row["file"]
        until = datetime.fromtimestamp(row["until"], UTC)
        return Upload(row["id"], row["name"], row["format"], row["bytes"], path, until)
