"""events.jsonl: one line an event, and the listener beside it."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from ppdm_flow.core.visible import escaped
from ppdm_flow.engine.events import Event, Listener
from ppdm_flow.engine.machine import peak_mb

_NAMES = {
    "StepStarted": "started",
    "Progress": "progress",
    "StepFinished": "finished",
    "RequirementJudged": "judged",
    "RunFinished": "verdict",
}


class Journal:
    """Writes every event with its time, and passes it on. May be told from any thread."""

    def __init__(self, path: Path, listener: Listener) -> None:
        self._file: TextIO = path.open("x", encoding="utf-8", newline="\n")
        self._listener = listener
        self._lock = threading.Lock()
        self._begin = time.perf_counter()

    def __call__(self, event: Event) -> None:
        """Take an event."""
        seconds = time.perf_counter() - self._begin
        line = {"at": round(seconds, 4), "event": _NAMES[type(event).__name__], **_rounded(asdict(event))}
        line.setdefault("peak_mb", peak_mb())
        with self._lock:
            if not self._file.closed:
                self._file.write(escaped(json.dumps(line, ensure_ascii=False)) + "\n")
                self._file.flush()
            self._listener(event)

    def close(self) -> None:
        """Finish the file."""
        with self._lock:
            self._file.close()


def _rounded(fields: dict[str, object]) -> dict[str, object]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in fields.items()}
