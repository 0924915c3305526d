"""Write `led7.csv.gz`: 3,200 digits on a display of seven segments, each wrong one time in ten.

    python pipelines/data/make_led7.py

That is how the data set LED7 of the UCI repository is defined (Breiman and others, Classification and Regression Trees,
1984, section 2.6.1), so that this is another sample of it, of the same size. Everything is derived from one stream of
uniform numbers, so that the file is the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np

SEED = 20070028
ROWS = 3_200
NOISE = 0.1
COLUMNS = ("top", "left_above", "right_above", "middle", "left_below", "right_below", "bottom", "digit")
SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)
"""Which segments each digit lights, in the order of the columns."""


def rows(seed: int = SEED) -> list[tuple[str, ...]]:
    """Return a row of texts for each digit shown."""
    uniform = np.random.Generator(np.random.PCG64(seed)).random((ROWS, len(COLUMNS)))
    return [_shown(row.tolist()) for row in uniform]


def _shown(uniform: list[float]) -> tuple[str, ...]:
    digit = int(uniform[-1] * 10)
    lit = [(state == "1") != (chance < NOISE) for state, chance in zip(SEGMENTS[digit], uniform, strict=False)]
    return (*("on" if each else "off" for each in lit), str(digit))


def document(seed: int = SEED) -> bytes:
    """Return the CSV file."""
    return "".join(",".join(row) + "\n" for row in (COLUMNS, *rows(seed))).encode()


if __name__ == "__main__":
    target = Path(__file__).parent / "led7.csv.gz"
    target.write_bytes(gzip.compress(document(), compresslevel=9, mtime=0))
    sys.stdout.write(f"{target}: {ROWS} rows\n")
