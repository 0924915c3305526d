"""How long steps take."""

from __future__ import annotations

import threading
import time


class StepTimer:
    """Seconds that a step spends in its own work, over all threads."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    def add(self, since: float) -> None:
        """Add the time since ``since``."""
        with self._lock:
            self.seconds += time.perf_counter() - since
