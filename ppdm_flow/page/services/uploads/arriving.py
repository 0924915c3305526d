"""A file on its way in: written piece by piece into a folder of its own that its owner alone may enter."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.settings import Settings


class ArrivingFile:
    """A file that is being sent. Leaving the ``with`` block removes it, unless it was kept meanwhile."""

    def __init__(
        self, word: str, account: int, folder: Path, announced: int, gone: Callable[[ArrivingFile], None]
    ) -> None:
        self.id, self.account, self.announced = word, account, announced
        self.bytes = 0
        self.name = ""
        """What the sender called the file."""
        self.is_kept = False
        self._gone = gone
        folder.mkdir(mode=0o700)
        self.file = folder / "arriving"
        self._handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> Self:
        return self

    def write(self, piece: bytes | memoryview) -> None:
        """Write what came. Raises UsageError (PPF994) where it is more than was announced."""
        self.bytes += len(piece)
        if self.bytes > self.announced:
            raise refused("the file is larger than its request said")
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def finish(self) -> None:
        """Let what was written be on the disk."""
        os.fsync(self._handle)

    def named(self, name: str) -> Path:
        """Give the file a name of our own, whose ending tells its format."""
        self.file = self.file.rename(self.file.with_name(name))
        return self.file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the file, unless it was kept."""
        os.close(self._handle)
        if not self.is_kept:
            shutil.rmtree(self.file.parent, ignore_errors=True)
        self._gone(self)


_MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Sizes in bytes; ``hours`` is how long an upload is kept."""

    hours: float
    bytes_each: int
    number_a_person: int
    bytes_a_person: int
    bytes_in_all: int
    free_bytes: int
    unpacked_bytes: int
    unpacked_ratio: int
    columns: int

    @classmethod
    def of(cls, settings: Settings) -> UploadLimits:
        """Return the limits of a server."""
        return cls(
            settings.upload_hours,
            settings.upload_bytes,
            settings.uploads_a_person,
            settings.upload_bytes_a_person,
            settings.upload_bytes_in_all,
            settings.free_bytes,
            settings.unpacked_bytes,
            settings.unpacked_ratio,
            settings.upload_columns,
        )


def refused(text: str, most: int | None = None) -> UsageError:
    """Say that an upload exceeds a limit (PPF994)."""
    limit = "" if most is None else f" ({most // _MEGABYTE:,} MB)"
    help_ = "remove an upload that you no longer need, or ask who runs the server for more room"
    return UsageError(Diagnostic("PPF994", f"{text}{limit}", help=help_))
