"""How many rows files have, without reading them: Parquet says it, of CSV the first lines let one guess it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from ppdm_flow.core.addresses.bucket import is_bucket
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import file_set, is_file_set, telling_name
from ppdm_flow.plan.cluster.foreseen import UNKNOWN_ROWS, RowEstimate
from ppdm_flow.plan.definition import Plan, SourceNode
from ppdm_flow.plan.formats import inferred

_SAMPLE = 1 << 20
_GZIP = b"\x1f\x8b"


def rows_of(plan: Plan, data: Path | None, number: int | None = None) -> dict[str, RowEstimate]:
    """Return the rows of a plan's source, or of its linked tables, by name; ``number`` where the caller says it.

    ``data`` is a file, a folder or a glob; of linked tables the folder of their files. Where nothing is there, nobody
    knows.
    """
    if not plan.tables:
        return {plan.roots[0]: _of_source(plan.source, data, number)}
    paths = {t.name: t.plan.source.path for t in plan.tables}
    return {
        t.name: _of_source(
            t.plan.source, data / Path(paths[t.name] or "").name if data is not None and paths[t.name] else None, number
        )
        for t in plan.tables
    }


def _of_source(node: SourceNode, data: Path | None, number: int | None) -> RowEstimate:
    there = data if data is not None else Path(node.path) if node.path and not is_bucket(node.path) else None
    counted = UNKNOWN_ROWS if there is None or node.server else _of_files(node, there)
    if number is None:
        return counted
    return RowEstimate(number, how="as --rows says", several=counted.several, packed=counted.packed)


def _of_files(node: SourceNode, path: Path) -> RowEstimate:
    try:
        several = is_file_set(path)
        files = [part.path for part in file_set(path).parts] if several else [path]
        octets = sum(file.stat().st_size for file in files)
    except (OSError, DataError):
        return UNKNOWN_ROWS
    kind = node.format or inferred("sources", telling_name(path))
    number = _by_metadata(files) if kind == "parquet" else None
    if number is not None:
        return RowEstimate(number, how="as Parquet says", octets=octets, several=several)
    try:
        guess = sum(_guessed(file) for file in files)
    except (OSError, EOFError):
        return UNKNOWN_ROWS
    how, packed = "by size, of the first lines", any(_is_packed(file) for file in files)
    return RowEstimate(round(guess), about=True, how=how, octets=octets, several=several, packed=packed)


def _by_metadata(files: list[Path]) -> int | None:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415  # heavy, and not of the light distribution
    except ImportError:
        return None
    try:
        return sum(int(pq.read_metadata(file).num_rows) for file in files)
    except (OSError, ValueError):
        return None


def _guessed(file: Path) -> float:
    """Return about how many lines there are below the first, from the mean length of the first ones."""
    size = file.stat().st_size
    packed = _is_packed(file)
    with file.open("rb") as opened:
        text = b"".join(_unpacked(file)) if packed else opened.read(_SAMPLE)
        taken = _taken(file) if packed else len(text)
    lines = text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
    return max(0.0, lines * size / max(1, taken) - 1)


def _is_packed(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(2) == _GZIP


def _unpacked(file: Path) -> Iterator[bytes]:
    with gzip.open(file) as opened:
        yield opened.read(_SAMPLE)


def _taken(file: Path) -> int:
    """Return how many bytes of a packed file the sample came from."""
    with file.open("rb") as raw, gzip.GzipFile(fileobj=raw) as opened:
        opened.read(_SAMPLE)
        return min(raw.tell(), file.stat().st_size) if opened.read(1) else file.stat().st_size
