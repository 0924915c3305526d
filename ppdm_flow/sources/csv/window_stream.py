"""A stretch of a file as an input stream."""

from __future__ import annotations

from typing import Any

from ppdm_flow.sources.csv.pieces import Window


class WindowStream:
    """The bytes of a stream inside of a window."""

    def __init__(self, stream: Any, window: Window) -> None:
        self._stream = stream
        self._left = window.end - window.begin
        stream.seek(window.begin)

    @property
    def closed(self) -> bool:
        """As files have it."""
        return bool(self._stream.closed)

    def read(self, size: int | None = None) -> bytes:
        """Read bytes."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        data: bytes = self._stream.read(wanted)
        self._left -= len(data)
        return data

    def readable(self) -> bool:
        """As files have it."""
        return True

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
