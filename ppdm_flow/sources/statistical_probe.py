"""Whether the library survives a file: damaged labels can make its C code read beyond memory, which ends a process."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

_CODE = "import sys, pyreadstat; getattr(pyreadstat, sys.argv[1])(sys.argv[2], metadataonly=True)"
_FAILED = (0, 1)
"""How Python ends by itself: what it raised is raised, and told, again where the file is read."""


def survives(function: str, path: Path) -> bool:
    """Read what the file says of itself in a process of its own, once for each state of the file."""
    state = path.stat()
    return _survives(function, str(path.absolute()), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _survives(function: str, path: str, _size: int, _changed: int) -> bool:
    if not sys.executable:  # embedded: there is no other process to be had
        return True
    words = [sys.executable, "-I", "-c", _CODE, function, path]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603  # our own code, no shell
    return done.returncode in _FAILED
