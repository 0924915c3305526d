"""Whether a statement in parentheses stays inside them, for databases whose transactions cannot be made read-only."""

from __future__ import annotations

import re

_PIECES = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | \[(?:[^\]]|\]\])*\] | --[^\n]*(?:\n|\Z) | /\* | \*/ | ['"\[();]""",
    re.VERBOSE,
)
"""Texts, quoted names, comments to the end of a line, and the marks that open, close or end something."""
_OTHER_LINES = re.compile(r"\r(?!\n)|[\v\f\x1c-\x1e\x85\u2028\u2029\0]")
"""What some take for the end of a line, and with it of a comment, and others do not."""


_FOREIGN = {
    "bigquery": re.compile(r"""\\ | \# | ''' | \"\"\" | `[^`]*['"()\-/*;][^`]*` """, re.VERBOSE),
    "snowflake": re.compile(r"\\|\$\$|//"),
}
"""What other dialects have for texts, names and comments: none of it is read here, so that it is refused."""


def stays_enclosed(relation: str, dialect: str = "mssql") -> bool:
    """Whether every parenthesis closes what was opened, the first at the very end, and no ``;`` ends the statement.

    Then it is one table expression, with any content. T-SQL's comments can be nested; their content is ignored.
    """
    if _OTHER_LINES.search(relation) or (dialect in _FOREIGN and _FOREIGN[dialect].search(relation)):
        return False
    depth = comments = 0
    position = 0
    while match := _PIECES.search(relation, position):
        piece, position = match[0], match.end()
        if comments or piece == "/*":
            if comments and piece not in ("/*", "*/"):
                position = match.start() + 1  # a quote inside a comment opens nothing
            comments += {"/*": 1, "*/": -1}.get(piece, 0)
        elif piece in ("'", '"', "[", "*/", ";"):
            return False
        elif piece == "(":
            depth += 1
        elif piece == ")":
            depth -= 1
            if depth < 0 or (not depth and relation.startswith("(") and relation[position:].strip()):
                return False
    return not depth and not comments
