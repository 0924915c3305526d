"""What uvicorn writes to the log: kinds of errors, never their texts, and few lines for what anybody may send."""

from __future__ import annotations

import logging


class _KindAlone(logging.Filter):
    """Leaves the kind of an error, without its text and its traceback, which may quote values."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record but warnings: of what whoever reaches the server sends, hundreds a second fill the disk."""
        if record.exc_info and record.exc_info[0]:
            record.msg, record.args = "a request failed with %s", (record.exc_info[0].__name__,)
            record.exc_info = record.exc_text = None
        return record.levelno != logging.WARNING


def quote_no_values() -> None:
    """Have uvicorn's log without texts of errors."""
    logger = logging.getLogger("uvicorn.error")
    if not any(isinstance(each, _KindAlone) for each in logger.filters):
        logger.addFilter(_KindAlone())
