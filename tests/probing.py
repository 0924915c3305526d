"""A warm process that looks at statistical files for readers: each file in a fork of it, which may die of the file.

Readers start Python anew for each file, most of whose time goes into imports. What is carried out is their own code.
"""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

_FORKS = """
import json, os, sys
try:
    import pandas, pyreadstat  # which imports it at the first file
except ImportError:
    pass
for line in sys.stdin:
    code, *words = json.loads(line)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            sys.argv = ["-c", *words]
            exec(code, {"__name__": "__main__"})
            status = 0
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """Stands in the place of the module ``subprocess`` where Python is started with ``-I -c``."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, words: list[str], **_options: Any) -> SimpleNamespace:
        """Carry the code out in a fork; return how it ended."""
        program, *flags, code = words[:4]
        assert (program, flags) == (sys.executable, ["-I", "-c"])
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        self._process.stdin.write(json.dumps([code, *words[4:]]) + "\n")
        self._process.stdin.flush()
        return SimpleNamespace(returncode=int(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with self._process as process:
                process.stdin.close()
