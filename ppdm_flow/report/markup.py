"""Text as Markdown shows it: nothing of it is markup."""

from __future__ import annotations

import re

from ppdm_flow.report.snippet import printable

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_CALLS = re.compile(r"([@#])(?=\w)")  # people and issues that a forge would link and tell
_LINKS = re.compile(r"(?i)(https?|ftp|www)([:.])")
_LONGEST_CELL = 600


def escaped(text: str) -> str:
    """Return text that Markdown and HTML show as it is, on one line, in a table cell too."""
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST_CELL:
        line = line[: _LONGEST_CELL - 1] + "\N{HORIZONTAL ELLIPSIS}"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _SPECIAL.sub(r"\\\1", line)
    line = _CALLS.sub(r"\1<!-- -->", line)
    return _LINKS.sub(lambda match: f"{match[1]}&#{ord(match[2])};", line)
