"""Which source or sink a file name asks for."""

from __future__ import annotations

from collections.abc import Mapping

BY_ENDING: Mapping[str, str] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".data": "csv",
    ".data.gz": "csv",
    ".txt": "csv",
    ".txt.gz": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
}
"""Formats by the ending of a file's name; ``format:`` in the policy overrides it."""


def inferred(name: str) -> str | None:
    """Return the format that the longest known ending of ``name`` stands for."""
    lowered = name.lower()
    for ending in sorted(BY_ENDING, key=len, reverse=True):
        if lowered.endswith(ending):
            return BY_ENDING[ending]
    return None
