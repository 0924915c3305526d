"""Writing text: plain, or gzip where the path says so."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import IO, cast


class TextFile:
    """One file, which must not exist yet; gzip where its name ends with ``.gz``."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._out = _packed(self._file) if path.suffix == ".gz" else self._file

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self._out.write(data)

    def close(self) -> None:
        """Finish and flush to disk."""
        with self._file:
            if self._out is not self._file:
                self._out.close()
            self._file.flush()
            os.fsync(self._file.fileno())


def _packed(file: IO[bytes]) -> IO[bytes]:
    """Return a gzip stream without a time and a name: the same rows give the same bytes."""
    return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0))
