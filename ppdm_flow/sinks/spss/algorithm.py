"""SPSS system files: doubles and texts; `.zsav` is compressed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.sinks import statistical
from ppdm_flow.sinks.refusals import refused_cell, refused_table
from ppdm_flow.sinks.spss.spec import SpssSinkParams
from ppdm_flow.tables.numeric.epochs import SPSS

_LONGEST_NAME = 64
_LONGEST_LABEL = 256
_RESERVED = frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"})
_NAME = re.compile(r"[^\W\d_][\w.$#@]*")
_TIME = re.compile(rb"\A\$FL[23].{88}(\d\d \w{3} \d\d\d\d:\d\d:\d\d)", re.DOTALL)
"""Where the header has the day and the time of writing."""


class SpssSink(statistical.StatisticalSink):
    """One file."""

    title = "SPSS"
    longest = 32_767
    largest = 1.797693134862315e308
    dates = moments = SPSS
    first_day = -141_427
    since = "15 October 1582"
    formats = {"integer": "F17.0", "date": "SDATE10", "moment": "DATETIME23.3"}  # noqa: RUF012  # as declared above
    written_at = _TIME
    fixed_time = b"01 Jan 7000:00:00"

    def __init__(self, _params: SpssSinkParams, path: Path, names: Sequence[str]) -> None:
        super().__init__(path, names)

    def check_names(self) -> None:
        """Raise DataError for names that SPSS does not have, or does not tell apart."""
        seen: set[str] = set()
        for name in self.names:
            if not _is_name(name):
                reason = (
                    f"column `{name}`: a name in SPSS has at most {_LONGEST_NAME} bytes, begins with a letter, goes on"
                    " with letters, digits, `.`, `_`, `$`, `#` or `@`, does not end with `.`, and is no keyword"
                )
                raise refused_table(reason, "the step `rename` gives it another one")
            if name.upper() in seen:
                reason = f"column `{name}`: another one has this name in other capitals, which SPSS does not tell apart"
                raise refused_table(reason, "the step `rename` gives it another one")
            seen.add(name.upper())

    def check_more(self, name: str, texts: pa.StringArray) -> None:
        """Raise DataError for blanks at the end of a text, which SPSS takes away."""
        if pc.any(pc.ends_with(texts, " "), min_count=0).as_py():
            reason = "a text ends with a blank, which SPSS takes away"
            raise refused_cell(name, reason, "`strip: true` of a CSV source takes it away before anything is measured")

    def shortened(self, text: str) -> str:
        """Return the first 256 bytes, without half a character."""
        return text.encode()[:_LONGEST_LABEL].decode(errors="ignore")

    def save(self, frame: pd.DataFrame, formats: Mapping[str, str]) -> None:
        """Write the file."""
        compress = self.path.suffix.lower() == ".zsav"
        words = {"column_labels": self.described, "variable_format": dict(formats)}
        statistical.pyreadstat.write_sav(frame, str(self.path), compress=compress, **words)


def _is_name(name: str) -> bool:
    fits = len(name.encode()) <= _LONGEST_NAME and _NAME.fullmatch(name) and not name.endswith(".")
    return bool(fits) and name.upper() not in _RESERVED
