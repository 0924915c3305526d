"""A file of this process alone, of which nothing outlives it, however the process ends."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_DESCRIPTORS = Path("/proc/self/fd")


class PrivateFile:
    """An empty file that only its owner may read, gone with this object.

    Where the system shows open files by their numbers it has no name of its own in any folder, so that nothing of it is
    left behind by a process that is killed. It lies in the folder for temporary files (TMPDIR).
    """

    def __init__(self) -> None:
        if _DESCRIPTORS.is_dir():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # it is open as long as it is needed
            self.path = Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")
        else:
            named = tempfile.NamedTemporaryFile(prefix="ppdm-flow-")  # noqa: SIM115
            self._file, self.path = named, Path(named.name)  # type: ignore[assignment]  # a wrapper of such a file

    def close(self) -> None:
        """Give its room back."""
        self._file.close()
