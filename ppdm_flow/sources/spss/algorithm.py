"""SPSS: system files (.sav, .zsav) and portable ones (.por)."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.sources.spss.spec import SpssSourceParams
from ppdm_flow.sources.statistical import NumberReading, StatisticalSource, of_spss


class SpssSource(StatisticalSource):
    """One file; its first bytes tell which of the two it is."""

    title = "SPSS"

    def __init__(self, params: SpssSourceParams, path: Path) -> None:
        super().__init__(params, path)
        self.labels = params.labels
        self.encoding = params.encoding

    def reader(self, head: bytes) -> str:
        """Return the reader of system files where the file begins like one."""
        return "read_por" if head and not head.startswith(b"$FL") and _is_portable(self.path, head) else "read_sav"

    def reading(self, _name: str, display: str) -> NumberReading:
        """Return what the column's format says."""
        return of_spss(display)


def _is_portable(path: Path, head: bytes) -> bool:
    return path.suffix.lower() == ".por" or b"SPSS PORT" in head
