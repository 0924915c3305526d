"""CSV files of people that lie beside a policy, packed or not, read as texts by their columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from ppdm_flow.core.digests import open_definition


def csv_header(path: Path, delimiter: str) -> list[str]:
    """Return the names of a file's columns. Raises OSError, and ArrowInvalid where it is no CSV file."""
    parse = pa.csv.ParseOptions(delimiter=delimiter)
    with _opened(path) as source, pa.csv.open_csv(source, parse_options=parse) as reader:
        names: list[str] = reader.schema.names
    return names


def csv_texts(path: Path, delimiter: str, columns: Iterable[str], *, line_ends: bool = False) -> pa.Table:
    """Return these columns as texts, null where a cell is empty; cells may have ``line_ends``.

    Raises OSError, KeyError where the file lacks a column, and ArrowInvalid, whose message may quote a cell.
    """
    wanted = list(dict.fromkeys(columns))
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.string()),
        include_columns=wanted,
        null_values=[""],
        strings_can_be_null=True,
    )
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=line_ends)
    with _opened(path) as source:
        return pa.csv.read_csv(source, parse_options=parse, convert_options=convert)


def _opened(path: Path) -> pa.NativeFile:
    try:
        packed = pa.Codec.detect(path).name
    except (TypeError, ValueError):  # its name has no ending of a packed file
        packed = None
    return pa.input_stream(open_definition(path), compression=packed)
