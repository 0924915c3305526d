"""What an uploaded file is: its bytes decide, and its name must agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import listed
from ppdm_flow.plan.formats import inferred, usual_ending
from ppdm_flow.sdk import registry

_HEAD = 1 << 16
_SAS = bytes.fromhex("00000000000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_DATABASES = "sql"
_OLD_STATA = frozenset(range(0x69, 0x74))
"""First bytes of Stata files before version 13."""


@dataclass(frozen=True, slots=True)
class UploadKind:
    """The format that reads a file, the ending that says so, and whether it is packed by gzip."""

    format: str
    ending: str
    packed: bool


def kind_of(file: Path, name: str) -> UploadKind:
    """Return what a file is. Raises DataError where name and bytes disagree, or no table is read of such (PPF995)."""
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    if not head:
        raise _no_table("the file is empty")
    said = inferred("sources", name)
    if said is None:
        help_ = f"tables end in {listed(endings())}"
        raise _no_table("the ending of its name tells no format", help_)
    if said == _DATABASES:
        raise _no_table("it is a database", "write the table that is wanted into a Parquet or CSV file")
    signature = _recognize_bytes(head)
    wanted = _SIGNED.get(said, "text")
    packed = signature == "gzip" and wanted == "text" and name.lower().endswith(".gz")
    if signature != wanted and not packed:
        raise _no_table(f"its name says {_WORDS[wanted]}, and its bytes {_WORDS[signature]}")
    return UploadKind(said, usual_ending("sources", said, name), packed)


def endings() -> tuple[str, ...]:
    """Return the endings of files that can be uploaded."""
    cards = (registry.load_listed(each).info for each in registry.listed("sources"))
    return tuple(sorted(ending for card in cards if card.name != _DATABASES for ending in card.endings))


def _no_table(text: str, help_: str = "send the table as the program wrote it that made it") -> DataError:
    return DataError(Diagnostic("PPF995", f"the upload is refused: {text}", help=help_))


_SIGNED: Mapping[str, str] = {"parquet": "parquet", "excel": "zip", "spss": "spss", "stata": "stata", "sas": "sas"}
"""What the bytes of a format say; those of all others are text."""
_WORDS: Mapping[str, str] = {
    "text": "text",
    "parquet": "a Parquet file",
    "zip": "a workbook or another ZIP archive",
    "spss": "a file of SPSS",
    "stata": "a file of Stata",
    "sas": "a file of SAS",
    "gzip": "a file packed by gzip",
    "other": "another kind of file",
}
_FOREIGN = (
    b"%PDF", b"\x7fELF", b"MZ", b"SQLite format 3\0", b"7z\xbc\xaf", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BZh",
    b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"Rar!", b"OggS", b"{\\rtf",
)  # fmt: skip
_TELLING: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("parquet", lambda head: head.startswith(b"PAR1")),
    ("zip", lambda head: head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))),
    ("gzip", lambda head: head.startswith(b"\x1f\x8b")),
    ("spss", lambda head: head.startswith((b"$FL2", b"$FL3")) or b"SPSS PORT" in head[:260]),
    ("sas", lambda head: _SAS[12:28] in head[:64] or head.startswith(b"HEADER RECORD*******LIB")),
    ("stata", lambda head: head.startswith(b"<stata_dta>") or (head[0] in _OLD_STATA and head[1:2] in (b"\1", b"\2"))),
    ("other", lambda head: head.startswith(_FOREIGN)),
)


def _recognize_bytes(head: bytes) -> str:
    for kind, tells in _TELLING:
        if tells(head):
            return kind
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, which has zero bytes
    return "text" if wide or b"\0" not in head else "other"
