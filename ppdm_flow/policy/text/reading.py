"""Turns bytes into a text for the YAML parser; checks size, encoding, forbidden characters, conflict markers."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.digests import open_definition
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.text.nodes import UnreadableError

SIZE_LIMIT = 1_000_000
"""Bytes; a policy that needs more keeps its lists of values in hierarchy files."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_CONFLICT = re.compile(r"^(<{7}|>{7})(?=[ \n\r]|\Z)", re.MULTILINE)


def read(path: Path, shown: str | None = None) -> str:
    """Return the text of a file, without a byte order mark, as `decode` does; else as `read_bytes`."""
    return decode(read_bytes(path, shown), shown or str(path))


def read_bytes(path: Path, shown: str | None = None, *, pipes: bool = True) -> bytes:
    """Return the bytes of a file, or of a pipe where ``pipes`` may be read; diagnostics name it ``shown``.

    Raises
    ------
    UsageError
        Where the file is not there or may not be read, or is one of the system's own (PPF100).
    UnreadableError
        Where it is too large (PPF101).
    """
    name = shown or str(path)
    try:
        about = path.stat()
        if stat.S_ISREG(about.st_mode) and about.st_size > SIZE_LIMIT:
            raise UnreadableError(_too_large(name))
        with open_definition(path, pipes=pipes) as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise UsageError(_not_read(path, error)) from None
    return limited(data, name)


def limited(data: bytes, file: str) -> bytes:
    """Return the bytes of a file. Raises UnreadableError where they are too many (PPF101)."""
    if len(data) > SIZE_LIMIT:
        raise UnreadableError(_too_large(file))
    return data


def decode(data: bytes, file: str) -> str:
    """Return bytes as text without a byte order mark. Raises UnreadableError where they are not UTF-8 (PPF102)."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnreadableError(_not_utf8(file, 1, "it begins like UTF-16"))
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(
            _not_utf8(file, line, f"line {line} holds a byte that UTF-8 does not have there")
        ) from None


def forbidden(text: str, file: str) -> Diagnostic | None:
    """Find the first character that YAML does not allow (PPF103), or conflict markers of a merge (PPF106)."""
    match = _FORBIDDEN.search(text)
    if match is not None:
        return Diagnostic(
            "PPF103",
            f"the control character U+{ord(match[0]):04X} is not allowed",
            place(text, file, match.start(), 1),
            hint="remove it",
        )
    marks = list(_CONFLICT.finditer(text))
    if not marks:
        return None
    spans = [place(text, file, m.start(), 7) for m in marks[:2]]
    return Diagnostic(
        "PPF106",
        "the file holds the markers of an unresolved merge",
        spans[0],
        hint="choose one side and delete the markers",
        related=tuple(RelatedPlace(s, "the other side ends here") for s in spans[1:]),
    )


def place(text: str, file: str, offset: int, length: int) -> Span:
    """Return the span of ``length`` characters from ``offset``, on one line."""
    line, begin = 1, 0
    for line_break in _BREAK.finditer(text, 0, offset):
        line, begin = line + 1, line_break.end()
    column = offset - begin + 1
    return Span(file, line, column, line, column + length)


def _too_large(file: str) -> Diagnostic:
    return Diagnostic(
        "PPF101",
        f"the file is larger than {SIZE_LIMIT // 1_000_000} MB",
        Span(file, 1, 1, 1, 1),
        help="keep long lists of values in hierarchy files, not in the policy",
    )


def _not_utf8(file: str, line: int, why: str) -> Diagnostic:
    return Diagnostic(
        "PPF102", f"the file is not UTF-8: {why}", Span(file, line, 1, line, 1), help="save it as UTF-8 and try again"
    )


def _not_read(path: Path, error: OSError) -> Diagnostic:
    reason = (error.strerror or type(error).__name__).lower()
    return Diagnostic("PPF100", f"cannot read the policy file {path}: {reason}", help="check the path")
