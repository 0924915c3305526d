"""What formats of other programs cannot hold, told by the names of columns and never by a value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PluginError

EXACT = 1 << 53
"""Up to here a double has every whole number."""


def refused_cell(column: str, reason: str, advice: str) -> DataError:
    """Say that a cell of a column does not fit."""
    return DataError(Diagnostic("PPF677", f"column `{column}`: {reason}", help=advice))


def refused_table(reason: str, advice: str) -> DataError:
    """Say that the names or the size of a table do not fit."""
    return DataError(Diagnostic("PPF677", reason, help=advice))


def without_extra(title: str, extra: str) -> PluginError:
    """Say which optional package is missing."""
    return PluginError(
        Diagnostic("PPF723", f"writing {title} needs an extra", help=f"pip install 'ppdm_flow[{extra}]'")
    )


def distinct_texts(column: pa.Array) -> pa.StringArray:
    """Return the texts that a column has, each once."""
    if not pa.types.is_dictionary(column.type):
        return pc.unique(column.drop_null()).cast(pa.string())
    used = pc.unique(column.indices.drop_null())
    return column.dictionary.take(used).cast(pa.string())


def check_texts(name: str, texts: pa.StringArray, title: str, *, longest: int | None = None) -> None:
    """Raise DataError for the empty text, a NUL, or more than ``longest`` bytes of UTF-8."""
    if _any(pc.equal(texts, "")):
        reason = f"{title} cannot tell an empty text from a missing one"
        raise refused_cell(name, reason, '`missing: [""]` in the source reads empty texts as missing')
    if _any(pc.match_substring(texts, "\0")):
        raise refused_cell(name, f"{title} has no NUL in texts", "take it out beforehand, or release a CSV file")
    if longest is not None and _any(pc.greater(pc.binary_length(texts), longest)):
        raise refused_cell(name, f"a text is longer than {longest:,} bytes, the most of {title}", "release a CSV file")


def check_numbers(name: str, values: npt.NDArray[np.generic], title: str, largest: float) -> None:
    """Raise DataError for whole numbers that no double has, and numbers larger than those of the format."""
    if values.dtype.kind == "i":
        if values.size and (int(values.max()) > EXACT or int(values.min()) < -EXACT):
            reason = f"a whole number is beyond 2^53, where {title} has no exact ones"
            raise refused_cell(name, reason, "leave it a text (no `type:`), or release a Parquet file")
        return
    if not bool((np.abs(values.astype(np.float64)) <= largest).all()):
        raise refused_cell(name, f"a number is larger than those of {title}", "release a Parquet file")


def _any(mask: pa.BooleanArray) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())
