"""Which source or sink a file name asks for."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk import registry

BY_ENDING: Mapping[str, str] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".data": "csv",
    ".data.gz": "csv",
    ".txt": "csv",
    ".txt.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
    ".dat": "transactions",
    ".dat.gz": "transactions",
    ".fimi": "transactions",
    ".fimi.gz": "transactions",
    ".baskets": "baskets",
    ".baskets.gz": "baskets",
}
"""Formats by the ending of a file's name; ``format:`` in the policy overrides it."""


_TABS = (".tsv", ".tsv.gz")
_DELIMITED = frozenset({"csv", "long"})


def implied(name: str, kind: str | None) -> Mapping[str, str]:
    """Return what a file's name says of how it is written: the cells of a ``.tsv`` are parted by tabs."""
    return {"delimiter": "\t"} if kind in _DELIMITED and name.lower().endswith(_TABS) else {}


def handling(group: str, kind: str) -> str:
    """Return what a format of ``sources`` or ``sinks`` does with sets of items (``PluginInfo.sets``)."""
    try:
        return registry.load(group, kind).info.sets
    except PluginError:  # reported where the plugin is bound
        return "column"


def inferred(name: str) -> str | None:
    """Return the format that the longest known ending of ``name`` stands for."""
    lowered = name.lower()
    for ending in sorted(BY_ENDING, key=len, reverse=True):
        if lowered.endswith(ending):
            return BY_ENDING[ending]
    return None
