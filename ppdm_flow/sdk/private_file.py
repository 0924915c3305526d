"""A private file of this process: nothing of it remains, however the process ends."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path

_DESCRIPTORS = Path("/proc/self/fd")


class PrivateFile:
    """An empty file that only its owner may read, gone with this object.

    Where the system shows open files by their numbers it has no name of its own in any folder, so that nothing of it is
    left behind by a process that is killed. It lies in the folder for temporary files (TMPDIR).
    """

    def __init__(self) -> None:
        if _DESCRIPTORS.is_dir():
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
            self.path = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
            weakref.finalize(self, os.close, descriptor)
        else:
            handle, name = tempfile.mkstemp(prefix="ppdm-flow-")
            os.close(handle)
            self.path = Path(name)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
