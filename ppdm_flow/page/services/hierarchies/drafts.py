"""Where a hierarchy lies while somebody makes it: for as long as the upload that it has values of."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.hierarchies.grouping import ValueGrouping
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts, spread_of
from ppdm_flow.page.services.policies.writing import put
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.disk import room
from ppdm_flow.page.services.uploads.uploads import Upload

_OWNER = 0o600
_PERSON, _NO_UPLOAD, _DRAFT = "person-", "none", ".draft.csv"
_MOST_OF_PERSON = 50_000_000
"""Bytes of one person's drafts: more are refused until some are saved or begun anew."""
_DAYS, _DAY = 30, 86_400.0
"""How long a draft without an upload is kept after its last change."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Files of one person for one attribute of a policy, and one upload or none.

    ``counts`` is written by the verb that counts, ``job`` has the id of the job that carries it out. ``draft`` lies
    with all drafts of the person; so many bytes (``free_bytes``) stay free on its disk.
    """

    draft: Path
    counts: Path
    job: Path
    free_bytes: int = 0

    def read(self) -> ValueGrouping | None:
        """Return the draft; None where there is none yet."""
        if not self.draft.is_file():
            return None
        with self.draft.open(encoding="utf-8", newline="") as stream:
            lines = [tuple(row) for row in csv.reader(stream, delimiter=DELIMITER, strict=True)]
        return _grouping(lines)

    def write(self, grouping: ValueGrouping) -> None:
        """Keep a draft in place of the one before. Raises RefusalError where there is no room for it."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=DELIMITER, lineterminator="\n")
        writer.writerows((value, *above[:-1]) for value, above in grouping.lines().items())
        data = out.getvalue().encode()
        others = sum(each.stat().st_size for each in self.draft.parent.glob(f"*{_DRAFT}") if each != self.draft)
        if others + len(data) > _MOST_OF_PERSON:
            raise RefusalError("hierarchies.many_drafts", 429, days=_DAYS)
        if room(self.draft.parent) - len(data) < self.free_bytes:
            raise RefusalError("policies.no_room", 429)
        put(self.draft, data, _OWNER)

    def forget(self) -> None:
        """Drop the draft."""
        self.draft.unlink(missing_ok=True)

    def counted(self, most: int) -> UploadColumnCounts | None:
        """Return the counts, the values one by one where they are at most so many; None before they were counted."""
        return read_counts(self.counts, most) if self.counts.is_file() else None

    @property
    def job_id(self) -> str:
        """The job that counts, or did; empty where there was none."""
        return self.job.read_text(encoding="ascii") if self.job.is_file() else ""

    def counting(self, job_id: str) -> None:
        """Write down which job counts."""
        put(self.job, job_id.encode("ascii"), _OWNER)


class HierarchyDrafts:
    """All workplaces: below ``folder``, one folder an upload, in which a job may write its counts, and one a person.

    Drafts go with the upload whose values they have; those without one hold values that stand in the policies' folder,
    and go once nobody has changed them for long.
    """

    def __init__(self, folder: Path, uploads: Path, *, free_bytes: int = 0) -> None:
        self._folder, self._uploads, self._free_bytes = folder.absolute(), uploads, free_bytes
        self._locks: dict[int, threading.Lock] = {}

    def workplace(self, user: User, policy: str, path: tuple[str, ...], upload: Upload | None) -> Workplace:
        """Return where somebody makes the hierarchy of the attribute at ``path`` of a policy."""
        own = self._folder / f"{_PERSON}{user.id}"
        folder = own if upload is None else self._folder / upload.id
        for each in (own, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        word = hashlib.sha256(json.dumps([policy, *path]).encode()).hexdigest()[:32]
        draft = own / f"{upload.id if upload is not None else _NO_UPLOAD}.{word}{_DRAFT}"
        return Workplace(draft, folder / f"{word}.counts.csv", folder / f"{word}.job", self._free_bytes)

    def tidy(self) -> None:
        """Delete what was made of uploads that are gone, and other drafts that nobody has changed for long."""
        if not self._folder.is_dir():
            return
        for place in list(self._folder.iterdir()):
            if not place.name.startswith(_PERSON):
                if not (self._uploads / place.name).is_dir():
                    shutil.rmtree(place, ignore_errors=True)
                continue
            for draft in list(place.glob(f"*{_DRAFT}")):
                upload = draft.name.partition(".")[0]
                if upload != _NO_UPLOAD and (self._uploads / upload).is_dir():
                    continue
                with suppress(FileNotFoundError):  # saved, or begun anew, meanwhile
                    if upload != _NO_UPLOAD or draft.stat().st_mtime < time.time() - _DAYS * _DAY:
                        draft.unlink()

    def changing(self, user: User) -> threading.Lock:
        """Let one change of somebody's drafts happen after the other."""
        return self._locks.setdefault(user.id, threading.Lock())


def _grouping(lines: list[tuple[str, ...]]) -> ValueGrouping:
    height = len(lines[0]) - 1 if lines else 0
    levels: list[dict[str, str]] = [{} for _ in range(height)]
    for line in lines:
        for level, (below, group) in zip(levels, pairwise(line), strict=True):
            level[below] = group
    return ValueGrouping(tuple(levels))


# The rows of each value of a column, as `ppdm-flow hierarchy --counts` writes them.


DELIMITER = ";"
_LARGE = 1 << 20
_MOST_LISTED = 2 * _LARGE
"""Bytes of a file up to which its values are listed: pages and drafts have all of them."""


@dataclass(frozen=True, slots=True)
class UploadColumnCounts:
    """``listed``: values with their rows where they are few and short, else None; ``spread`` where all are numbers."""

    values: int
    rows: int
    listed: dict[str, int] | None
    spread: CumulativeCounts | None


def read_counts(file: Path, most: int) -> UploadColumnCounts:
    """Return the counts of a file; the values one by one where there are at most so many, of 2 MB together."""
    return _read(file, file.stat().st_mtime_ns, most)


@lru_cache(maxsize=4)
def _read(file: Path, _written: int, most: int) -> UploadColumnCounts:
    if file.stat().st_size > _LARGE:
        return _read_large(file, most)
    values = rows = 0
    for _, many in _lines(file):
        values += 1
        rows += many
    listed = dict(_lines(file)) if values <= most else None
    try:
        spread = spread_of(_lines(file), values)
    except UnplacedError:
        spread = None
    return UploadColumnCounts(values, rows, listed, spread)


def _read_large(file: Path, most: int) -> UploadColumnCounts:
    """Read many values without a loop over them, and without holding up other requests."""
    from ppdm_flow.page.services.hierarchies.many import spread_of_many, sums  # noqa: PLC0415  # pyarrow behind it

    values, rows = sums(file, DELIMITER)
    listed = dict(_lines(file)) if values <= most and file.stat().st_size <= _MOST_LISTED else None
    return UploadColumnCounts(values, rows, listed, spread_of_many(file, DELIMITER, values))


def _lines(file: Path) -> Iterator[tuple[str, int]]:
    with file.open(encoding="utf-8", newline="") as stream:
        for value, rows in csv.reader(stream, delimiter=DELIMITER, strict=True):
            yield value, int(rows)
