"""Places that people share: nobody takes all of them while others wait."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PERSON: ContextVar[str] = ContextVar("person", default="")
"""Whose request the server works on: an account, or the address of a visitor without one; empty for its own work."""


class BusyError(Exception):
    """Too many ask at once."""


class WorkPlaces:
    """So many ``places`` for some kind of work, and so many of them (``each``) for the work of one person."""

    def __init__(self, places: int, each: int) -> None:
        self._places, self._each = places, each
        self._taken: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, patience: float | None = None, many: int = 1) -> Iterator[None]:
        """Wait for places for the person of this request, and hold them. Raises BusyError after ``patience``."""
        person = PERSON.get()

        def is_free() -> bool:
            return self._taken.total() + many <= self._places and self._taken[person] + many <= self._each

        with self._changed:
            if not self._changed.wait_for(is_free, patience):
                raise BusyError
            self._taken[person] += many
        try:
            yield
        finally:
            with self._changed:
                self._taken[person] -= many
                self._taken += Counter()  # people without a place are forgotten
                self._changed.notify_all()
