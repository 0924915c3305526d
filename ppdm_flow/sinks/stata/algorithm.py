"""Stata files that version 14 and later read (release 118): doubles and texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ppdm_flow.sinks import statistical
from ppdm_flow.sinks.refusals import refused_table
from ppdm_flow.sinks.stata.spec import StataSinkParams
from ppdm_flow.tables.numeric.epochs import DAYS_FROM_1960, STATA

_LONGEST_NAME = 32
_LONGEST_LABEL = 80
_MOST_COLUMNS = 32_767
_KEYWORDS = "_all _b _coef _cons _n _N _pi _pred _rc _skip byte double float if in int long strL using with"
_RESERVED = frozenset(_KEYWORDS.split(" "))
_STRING = re.compile(r"str\d+")
_TIME = re.compile(rb"<timestamp>\x11(.{17})</timestamp>", re.DOTALL)


class StataSink(statistical.StatisticalSink):
    """One file."""

    title = "Stata"
    longest = 2_045
    largest = 8.988465674311579e307
    dates = DAYS_FROM_1960
    moments = STATA
    first_day = -683_003
    since = "the year 100"
    formats = {"integer": "%17.0g", "float": "%12.0g", "date": "%td", "moment": "%tc"}  # noqa: RUF012  # as declared
    written_at = _TIME
    fixed_time = b"01 Jan 1970 00:00"

    def __init__(self, _params: StataSinkParams, path: Path, names: Sequence[str]) -> None:
        super().__init__(path, names)

    def check_names(self) -> None:
        """Raise DataError for names that Stata does not have, and for too many columns."""
        if len(self.names) > _MOST_COLUMNS:
            raise refused_table(
                f"{len(self.names):,} columns are more than the {_MOST_COLUMNS:,} of Stata", "drop some"
            )
        for name in self.names:
            if not name.isidentifier() or len(name) > _LONGEST_NAME or name in _RESERVED or _STRING.fullmatch(name):
                reason = (
                    f"column `{name}`: a name in Stata has at most {_LONGEST_NAME} letters, digits or `_`, does not"
                    " begin with a digit, and is no keyword"
                )
                raise refused_table(reason, "the step `rename` gives it another one")

    def shortened(self, text: str) -> str:
        """Return the first 80 characters."""
        return text[:_LONGEST_LABEL]

    def save(self, frame: pd.DataFrame, formats: Mapping[str, str]) -> None:
        """Write the file."""
        words = {"column_labels": self.described, "variable_format": dict(formats)}
        statistical.pyreadstat.write_dta(frame, str(self.path), version=14, **words)
