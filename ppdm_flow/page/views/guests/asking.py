"""From the words of an address to a question about a table, and back.

``cN`` is what is asked of the column with the number N (a code for a column of choices, a text or ``=`` and a whole one
for a column of texts), ``cNfrom`` and ``cNto`` are bounds, ``cNis`` is a state of cells; ``by`` is the column that rows
are ordered by, and ``down`` from which end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.page.services.tables.layout import ColumnAbout, ColumnForm
from ppdm_flow.page.services.tables.question import (
    BetweenFilter,
    CellState,
    ColumnCondition,
    ContainsFilter,
    Equals,
    HasCode,
    RowFilter,
    StateFilter,
)

_LONGEST = 200
"""Characters of a text that is searched for."""


@dataclass(frozen=True, slots=True)
class GuestQuestion:
    """What an address asks for: the ``question``, the same in words of addresses, and the number of a page from 1 on.

    ``first`` is the number of the first column that is shown.
    """

    question: RowFilter
    words: Mapping[str, str]
    page: int
    first: int

    def of_column(self, number: int) -> dict[str, str]:
        """Return the words that are about one column."""
        names = (f"c{number}", f"c{number}from", f"c{number}to", f"c{number}is")
        return {name: self.words[name] for name in names if name in self.words}

    def without_column(self, number: int) -> dict[str, str]:
        """Return all words but those that ask something of this column."""
        mine = self.of_column(number)
        return {name: word for name, word in self.words.items() if name not in mine}

    def beyond(self, columns: Sequence[ColumnAbout]) -> dict[str, str]:
        """Return the words that ask nothing of these columns: what a form with fields for them has to keep."""
        mine = {name for about in columns for name in self.of_column(about.number)}
        return {name: word for name, word in self.words.items() if name not in mine}

    def ordered(self, number: int) -> dict[str, str]:
        """Return the words that order by this column; by the one that is ordered by, from its other end."""
        rest = {name: word for name, word in self.words.items() if name not in ("by", "down")}
        up = self.question.by == number and not self.question.descending
        return {**rest, "by": str(number), **({"down": "1"} if up else {})}


def asked(query: Mapping[str, str], columns: Sequence[ColumnAbout], shown: int) -> GuestQuestion:
    """Read the words of an address; what does not fit the columns is left out. ``shown`` columns fit on a page."""
    words: dict[str, str] = {}
    conditions = [
        c for about in columns if about.form is not ColumnForm.CODED for c in _conditions(query, about, words)
    ]
    by = whole_number(query.get("by"), len(columns) - 1)
    if by is not None and columns[by].form is not ColumnForm.CODED:
        words["by"] = str(by)
        if query.get("down") == "1":
            words["down"] = "1"
    else:
        by = None
    first = (whole_number(query.get("first"), len(columns) - 1) or 0) // shown * shown
    if first:
        words["first"] = str(first)
    page = max(whole_number(query.get("page"), 10**9) or 1, 1)
    return GuestQuestion(RowFilter(tuple(conditions), by, descending="down" in words), words, page, first)


def _conditions(query: Mapping[str, str], about: ColumnAbout, words: dict[str, str]) -> Iterator[ColumnCondition]:
    number = about.number

    def word(name: str) -> str:
        text = query.get(f"c{number}{name}", "")[:_LONGEST]
        if text.strip():
            words[f"c{number}{name}"] = text
        return text if text.strip() else ""

    match about.form:
        case ColumnForm.CHOICE:
            code = whole_number(query.get(f"c{number}"), about.missing_code)
            if code is not None and about.has_code(code):
                words[f"c{number}"] = str(code)
                yield HasCode(number, code)
        case ColumnForm.TEXT:
            text = word("")
            if text:
                yield Equals(number, text[1:]) if text.startswith("=") else ContainsFilter(number, text)
        case ColumnForm.NUMBER:
            least, most = word("from"), word("to")
            if least or most:
                yield BetweenFilter(number, least, most)
    state = query.get(f"c{number}is", "")
    if about.form is not ColumnForm.CHOICE and state in frozenset(CellState):
        words[f"c{number}is"] = state
        yield StateFilter(number, CellState(state))


def whole_number(text: str | None, most: int) -> int | None:
    """Return a whole number from 0 to ``most``; None where the text is none."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    return int(text) if int(text) <= most else None
