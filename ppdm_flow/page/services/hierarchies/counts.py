"""The rows of each value of a column, as ``ppdm-flow hierarchy --counts`` writes them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts, spread_of

DELIMITER = ";"
_LARGE = 1 << 20
_MOST_LISTED = 2 * _LARGE
"""Bytes of a file up to which its values are listed: pages and drafts have all of them."""


@dataclass(frozen=True, slots=True)
class UploadColumnCounts:
    """``listed``: values with their rows where they are few and short, else None; ``spread`` where all are numbers."""

    values: int
    rows: int
    listed: dict[str, int] | None
    spread: CumulativeCounts | None


def read_counts(file: Path, most: int) -> UploadColumnCounts:
    """Return the counts of a file; the values one by one where there are at most so many, of 2 MB together."""
    return _read(file, file.stat().st_mtime_ns, most)


@lru_cache(maxsize=4)
def _read(file: Path, _written: int, most: int) -> UploadColumnCounts:
    if file.stat().st_size > _LARGE:
        return _read_large(file, most)
    values = rows = 0
    for _, many in _lines(file):
        values += 1
        rows += many
    listed = dict(_lines(file)) if values <= most else None
    try:
        spread = spread_of(_lines(file), values)
    except UnplacedError:
        spread = None
    return UploadColumnCounts(values, rows, listed, spread)


def _read_large(file: Path, most: int) -> UploadColumnCounts:
    """Read many values without a loop over them, and without holding up other requests."""
    from ppdm_flow.page.services.hierarchies.many import spread_of_many, sums  # noqa: PLC0415  # pyarrow behind it

    values, rows = sums(file, DELIMITER)
    listed = dict(_lines(file)) if values <= most and file.stat().st_size <= _MOST_LISTED else None
    return UploadColumnCounts(values, rows, listed, spread_of_many(file, DELIMITER, values))


def _lines(file: Path) -> Iterator[tuple[str, int]]:
    with file.open(encoding="utf-8", newline="") as stream:
        for value, rows in csv.reader(stream, delimiter=DELIMITER, strict=True):
            yield value, int(rows)
