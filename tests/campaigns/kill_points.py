"""What campaigns that kill processes share: points, at one of which the process kills itself, and the tally."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


class KillPoints:
    """Counts points while it ``counts``, in all threads, and dies at one of them."""

    def __init__(self, target: int = 0, *, counts: bool = True) -> None:
        self.seen: list[str] = []
        self.counts = counts
        self._target = target
        self._lock = threading.Lock()

    def at(self, name: str) -> None:
        """Count a point."""
        with self._lock:
            if self.counts:
                self.seen.append(name)
                if len(self.seen) == self._target:
                    os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call with a point just before and one just after."""

        def call(*arguments: Any, **words: Any) -> Any:
            self.at(f"before {name}")
            try:
                return real(*arguments, **words)
            finally:
                self.at(f"after {name}")

        return call

    def watch_calls(self, names: Iterable[str]) -> None:
        """Put points around calls of the system; this process is one of its own."""
        for name in names:
            setattr(os, name, self.around(name, getattr(os, name)))


@dataclass
class Tally:
    """What came of the points."""

    ends: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{count:6d} {what}" for what, count in sorted(self.ends.items())]
        return "\n".join([*lines, f"{len(self.faults):6d} faults", *(f"       {fault}" for fault in self.faults)])
