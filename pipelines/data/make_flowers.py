"""Write `flowers.csv.gz`: 300 invented flowers of three species, measured in five sizes.

    python pipelines/data/make_flowers.py

What a generator learns of so few rows is near to the rows themselves, unless it has to put each together from several
pieces. Everything is derived from one stream of uniform numbers, so that the file is the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

SEED = 20070685
FLOWERS = 300
SIZES = ("tiny", "small", "medium", "large", "huge")
SPECIES = ("alba", "minor", "regia")
COLUMNS = {"petal_length": 1.2, "petal_width": -0.8, "sepal_length": 1.5, "sepal_width": 1.0, "stem": 0.5}
"""How far apart, in standard deviations or so, the species are in each measurement."""


def flowers(seed: int = SEED) -> list[tuple[str, ...]]:
    """Return a row of texts for each flower."""
    uniform = np.random.Generator(np.random.PCG64(seed)).random((FLOWERS, len(COLUMNS) + 2))
    return [_flower(row.tolist()) for row in uniform]


def _flower(uniform: list[float]) -> tuple[str, ...]:
    species = int(uniform[0] * len(SPECIES))
    grown, *own = [NormalDist().inv_cdf(min(max(u, 1e-9), 1 - 1e-9)) for u in uniform[1:]]
    drawn = zip(COLUMNS.values(), own, strict=True)
    lengths = ((species - 1) * apart + 0.6 * grown + 0.5 * each for apart, each in drawn)
    return (*(SIZES[min(4, max(0, int(length + 2.5)))] for length in lengths), SPECIES[species])


def document(seed: int = SEED) -> bytes:
    """Return the CSV file."""
    return "".join(",".join(row) + "\n" for row in ((*COLUMNS, "species"), *flowers(seed))).encode()


if __name__ == "__main__":
    target = Path(__file__).parent / "flowers.csv.gz"
    target.write_bytes(gzip.compress(document(), compresslevel=9, mtime=0))
    sys.stdout.write(f"{target}: {FLOWERS} flowers\n")
