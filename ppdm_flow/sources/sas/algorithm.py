"""SAS: data sets (.sas7bdat) and transport files (.xpt)."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.sources.faults import fault, unreadable
from ppdm_flow.sources.sas.spec import SasParams
from ppdm_flow.sources.statistical import NumberReading, StatisticalSource, of_sas

_RECORD = 80
_LIBRARY = b"HEADER RECORD*******LIB"
_MEMBERS = (b"HEADER RECORD*******MEMBER  HEADER RECORD", b"HEADER RECORD*******MEMBV8  HEADER RECORD")
_BLOCK = _RECORD << 14


class SasSource(StatisticalSource):
    """One file; its first bytes tell which of the two it is."""

    title = "SAS"

    def __init__(self, params: SasParams, path: Path) -> None:
        super().__init__(params, path)
        self.encoding = params.encoding

    def reader(self, head: bytes) -> str:
        """Return the reader of transport files where the file begins like one."""
        return "read_xport" if head.startswith(_LIBRARY) else "read_sas7bdat"

    def reading(self, _name: str, display: str) -> NumberReading:
        """Return what the column's format says."""
        return of_sas(display)

    def inspect(self) -> None:
        """Raise DataError for a transport file that ends within a record, or holds several tables."""
        try:
            with self.path.open("rb") as file:
                if not file.read(_RECORD).startswith(_LIBRARY):
                    return
                members = rest = 0
                while block := file.read(_BLOCK):
                    members += sum(block.count(mark) for mark in _MEMBERS)
                    rest = len(block) % _RECORD
        except OSError as error:
            raise unreadable(self.path, error) from None
        if rest:
            raise self._broken(None)
        if members > 1:
            text = f"`{self.path}` holds {members} tables, of which only the first would be read"
            raise fault("PPF717", text, help="write each to a file of its own")
