"""Stata: files of version 5 (release 104) and later."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.sources.faults import fault
from ppdm_flow.sources.stata.spec import StataSourceParams
from ppdm_flow.sources.statistical import NumberReading, StatisticalSource, of_stata


class StataSource(StatisticalSource):
    """One file."""

    title = "Stata"

    def __init__(self, params: StataSourceParams, path: Path) -> None:
        super().__init__(params, path)
        self.labels = params.labels
        self.encoding = params.encoding

    def reader(self, _head: bytes) -> str:
        """Return the one reader that there is."""
        return "read_dta"

    def reading(self, name: str, display: str) -> NumberReading:
        """Return what the column's format says. Raises DataError for moments that count leap seconds."""
        reading = of_stata(display)
        if reading is None:
            text = f"column `{name}` has moments with leap seconds (`%tC`)"
            raise fault("PPF719", text, help="write it as `%tc` in Stata: `generate double t = cofC(x)`")
        return reading
