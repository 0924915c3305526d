"""Names of files: those that stand beside a released file, and those that some systems cannot have."""

from __future__ import annotations

import re
from collections.abc import Iterable

DICTIONARY = "dictionary.json"
OPERATOR = "operator.json"
CONTRACT = "mining_contract.json"
SHEET_MARKDOWN = "datasheet.md"
SHEET_HTML = "datasheet.html"
BESIDE = (DICTIONARY, OPERATOR, CONTRACT, SHEET_MARKDOWN, SHEET_HTML)
"""What a run writes into a release's folder, beside the released file."""

INTERNAL = "internal"
"""The folder of a run with what its owner alone may read, and no recipient of a release."""

ATTESTATIONS = "attestations"
"""The folder of signatures, beside the released file."""

_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_REFUSED = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u2028\u2029]')
_LONGEST = 255


def beside(part: str) -> str | None:
    """Return the file beside a release that ``part`` of a path would be, on systems that read A as a, too."""
    folded = part.casefold()
    if folded == ATTESTATIONS:
        return ATTESTATIONS
    return next((name for name in BESIDE if folded == name or folded.endswith(f"-{name}")), None)


def refused(part: str) -> str | None:
    """Return why some system cannot have a file or folder of that name; None where all can."""
    if match := _REFUSED.search(part):
        character = "a backslash" if match[0] == "\\" else f"U+{ord(match[0]):04X}"
        return f"holds {character}, which file names of some systems cannot have"
    if _DEVICE.fullmatch(part):
        return "is the name of a device on Windows"
    if part.endswith((".", " ")) or part.startswith(" "):
        return "begins or ends with a blank, or ends with a dot, which Windows drops"
    if len(part.encode(errors="surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    return None


def alike(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are one file with an earlier one where A is a, each with that one."""
    first: dict[str, str] = {}
    return {name: first[name.casefold()] for name in names if first.setdefault(name.casefold(), name) != name}
