"""What stdout and stderr are made to bear: letters that their encoding lacks, and not being there at all."""

from __future__ import annotations

import codecs
import io
import os
import sys

_PLAIN = {"└": "`", "├": "|", "│": "|", "─": "-", "≥": ">=", "≤": "<=", "…": "...", "–": "-", "—": "-", "→": "->"}
_NAME = "ppdm-plain"


def prepare() -> None:
    """Let every text be written: what the encoding lacks becomes plain or is escaped; a closed stream swallows."""
    codecs.register_error(_NAME, plain)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  # for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for the characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found), error.end
