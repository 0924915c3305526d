"""Write `zipf.csv.gz` and `reactions.csv.gz`: the two experiments of Chaytor and Wang, on data that anybody can make.

    python pipelines/data/make_reactions.py

`zipf.csv.gz` has 95,946 records of 40 values, the i-th as frequent as 1/i says: the paper's second data set, of which
frequencies are all that matters. Its first is the Canadian register of drug reactions; `reactions.csv.gz` has 20,000
invented reports of 40 reactions in its place, with frequencies that fall about as evenly. Everything is derived from
one stream of uniform numbers, so that the files are the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np

SEED = 20090095
RECORDS, REPORTS, VALUES = 95_946, 20_000, 40
EVEN = 7
"""The i-th reaction is as frequent as 1 / (i + 7) says."""


def whole(shares: np.ndarray, total: int) -> list[int]:
    """Return whole numbers with the sum ``total``, in proportion to ``shares``, by largest remainders."""
    exact = shares / shares.sum() * total
    counts = np.floor(exact).astype(int)
    rest = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
    return [int(count) for count in counts]


def zipf() -> bytes:
    """Return the records, value after value."""
    counts = whole(1.0 / np.arange(1, VALUES + 1), RECORDS)
    lines = (f"v{i:02d}\n" * count for i, count in enumerate(counts, 1))
    return "".join(["value\n", *lines]).encode()


def reactions(seed: int = SEED) -> bytes:
    """Return the reports: age, sex and reaction."""
    counts = whole(1.0 / (np.arange(1, VALUES + 1) + EVEN), REPORTS)
    every = [f"r{i:02d}" for i, count in enumerate(counts, 1) for _ in range(count)]
    uniform = np.random.Generator(np.random.PCG64(seed)).random((REPORTS, 3))
    order = np.argsort(uniform[:, 0], kind="stable").tolist()
    cells = zip(order, uniform[:, 1].tolist(), uniform[:, 2].tolist(), strict=True)
    lines = (f"{18 + int(72 * age)},{'female' if sex < 0.58 else 'male'},{every[i]}\n" for i, age, sex in cells)
    return "".join(["age,sex,reaction\n", *lines]).encode()


def documents() -> dict[str, bytes]:
    """Return both files, by name."""
    return {"zipf": zipf(), "reactions": reactions()}


if __name__ == "__main__":
    for name, text in documents().items():
        target = Path(__file__).parent / f"{name}.csv.gz"
        target.write_bytes(gzip.compress(text, compresslevel=9, mtime=0))
        sys.stdout.write(f"{target}: {len(text):,} bytes\n")
