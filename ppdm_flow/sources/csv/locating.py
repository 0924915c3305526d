"""Where a file stops being text: a slow second look, taken only after something went wrong."""

from __future__ import annotations

import codecs
from pathlib import Path

from ppdm_flow.sources.gzipped import binary

_CHUNK = 1 << 20


def undecodable_line(path: Path, encoding: str) -> int:
    """Return the number, from 1, of the first line with bytes that ``encoding`` does not know."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with binary(path) as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            if not chunk:
                return line
