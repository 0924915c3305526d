"""Text in blocks of whole lines, as arrays of bytes."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.faults import damaged, fault, unreadable
from ppdm_flow.sources.gzipped import binary

Octets = npt.NDArray[np.uint8]

_BLOCK = 1 << 23
_LONGEST = 1 << 29
_NEWLINE = 10


@dataclass(frozen=True, slots=True, eq=False)
class LineBlock:
    """Whole lines, each ended by a line feed; ``first`` is the number of the first one, from 1."""

    octets: Octets
    first: int
    lines: int


def blocks(path: Path) -> Iterator[LineBlock]:
    """Yield the text in order, without a byte order mark. Raises DataError where the file cannot be read."""
    first = 1
    try:
        with binary(path) as file:
            for text in _whole(path, file):
                octets = np.frombuffer(text, dtype=np.uint8)
                lines = int(np.count_nonzero(octets == _NEWLINE))
                yield LineBlock(octets, first, lines)
                first += lines
    except (EOFError, zlib.error):
        raise damaged(path) from None
    except OSError as error:
        raise (damaged(path) if error.errno is None else unreadable(path, error)) from None


def _whole(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Yield about 8 MB at a time, up to a line's end; the last line may lack its own."""
    rest = b""
    begun = False
    while True:
        chunk = file.read(_BLOCK)
        if not begun and chunk:
            begun, chunk = True, chunk.removeprefix(codecs.BOM_UTF8)
        elif not chunk:
            break
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
        if len(rest) > _LONGEST:
            raise _endless(path)
    if rest:
        yield rest + b"\n"


def line_of(block: LineBlock, place: int) -> int:
    """Return the number of the line in which a byte of the block stands."""
    return block.first + int(np.count_nonzero(block.octets[:place] == _NEWLINE))


def undecodable_place(octets: Octets) -> int:
    """Return where the bytes stop being UTF-8: a slow second look."""
    try:
        octets.tobytes().decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _endless(path: Path) -> DataError:
    return fault("PPF755", f"`{path}` has a line of more than {_LONGEST >> 20} MB: it is no text of one set a line")
