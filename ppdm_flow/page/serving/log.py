"""What uvicorn writes to the log: kinds of errors, never their texts, and no line for what anybody may send."""

from __future__ import annotations

import logging

_UNREADABLE = "Invalid HTTP request received."
"""Hundreds a second, from whoever reaches the server, would fill the disk."""


class _KindAlone(logging.Filter):
    """Leaves the kind of an error, without its text and its traceback, which may quote values."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record but those of unreadable requests."""
        if record.exc_info and record.exc_info[0]:
            record.msg, record.args = "a request failed with %s", (record.exc_info[0].__name__,)
            record.exc_info = record.exc_text = None
        return record.msg != _UNREADABLE


def quote_no_values() -> None:
    """Have uvicorn's log without texts of errors."""
    logger = logging.getLogger("uvicorn.error")
    if not any(isinstance(each, _KindAlone) for each in logger.filters):
        logger.addFilter(_KindAlone())
