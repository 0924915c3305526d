"""How a process that the program has for itself ends."""

from __future__ import annotations

import atexit
import os
import sys


class Ending:
    """Ends the process at once, and leaves its memory to the system.

    Python takes all modules and tables apart first, which nobody needs: a tenth of a second after 10 million rows.
    Made before anything registers with ``atexit``, so that all of that is still called before the end. Where something
    has registered already, as programs do that trace this one, the process ends in Python's own way.
    """

    def __init__(self) -> None:
        self._status: int | None = None
        if atexit._ncallbacks() == 0:  # noqa: SLF001  # nothing else tells it
            atexit.register(self._end)

    def comes(self, status: object) -> None:
        """Say what the process is about to exit with, as ``SystemExit.code`` has it."""
        status = 0 if status is None else status
        self._status = status & 0xFF if isinstance(status, int) else None

    def _end(self) -> None:
        """End, unless Python has something to say: an error that was not expected, or outputs that are closed."""
        if self._status is None:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        except (OSError, ValueError):
            return
        os._exit(self._status)
