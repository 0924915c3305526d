"""What a text file holds beside its cells: a byte order mark, and what a gzip header says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_FIELDS = {0x04: "fields of its own", 0x08: "the name of the file that was packed", 0x10: "a comment"}


def beside(path: Path) -> Iterator[Finding]:
    """Yield what there is; never a text of it."""
    with path.open("rb") as file:
        head = file.read(10)
    if head.startswith(_BOM):
        text = "the file begins with a byte order mark, which tells what wrote it"
        yield Finding("PPF925", Severity.INFO, text, "byte order mark")
    if head.startswith(_GZIP) and len(head) == 10:
        told = [what for bit, what in _FIELDS.items() if head[3] & bit]
        told += ["the time when it was packed"] if any(head[4:8]) else []
        if told:
            text = f"the gzip header has {', '.join(told)}"
            yield Finding("PPF925", Severity.WARNING, text, "gzip header")
