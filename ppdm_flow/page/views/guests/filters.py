"""The fields by which a table is filtered, and the conditions that hold, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ppdm_flow.page.services.tables.column import CopiedColumn
from ppdm_flow.page.services.tables.layout import SUPPRESSED, ColumnAbout, ColumnForm
from ppdm_flow.page.services.tables.question import CellState
from ppdm_flow.page.services.tables.table import CopiedTable
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.guests.asking import GuestQuestion

_LONGEST = 60
"""Characters of a value in a list to choose from."""


@dataclass(frozen=True, slots=True)
class FilterField:
    """The fields of one column: ``choices`` for a column of choices, ``states`` where some cells are no values.

    ``has`` is what is in the fields, by the end of their names. ``is_wrong``: a bound is no value of the column's type.
    """

    about: ColumnAbout
    choices: Sequence[tuple[str, str]]
    states: Sequence[tuple[str, str]]
    has: dict[str, str]
    is_wrong: bool

    @property
    def name(self) -> str:
        """How the names of its fields begin."""
        return f"c{self.about.number}"


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A condition in words, and the words of an address without it."""

    column: str
    text: str
    without: dict[str, str]


def filter_fields(
    table: CopiedTable, asked: GuestQuestion, columns: Sequence[ColumnAbout], wrong: int | None
) -> list[FilterField]:
    """Return the fields of the columns that are shown; a column of coded sets has none."""
    return [
        FilterField(
            about,
            _choices(table.column(about.number)) if about.form is ColumnForm.CHOICE else (),
            _states(about) if about.form is not ColumnForm.CHOICE else (),
            {name.removeprefix(f"c{about.number}"): word for name, word in asked.of_column(about.number).items()},
            is_wrong=about.number == wrong,
        )
        for about in columns
        if about.form is not ColumnForm.CODED
    ]


def active_filters(table: CopiedTable, asked: GuestQuestion) -> list[ActiveFilter]:
    """Return what is asked of columns now, be they shown or not."""
    columns = {condition.column: table.about.columns[condition.column] for condition in asked.question.conditions}
    return [
        ActiveFilter(about.name, text, asked.without_column(number))
        for number, about in columns.items()
        for text in (_sentence(table, about, asked.of_column(number)),)
    ]


def _sentence(table: CopiedTable, about: ColumnAbout, words: dict[str, str]) -> str:
    name, told = f"c{about.number}", list[str]()
    if about.form is ColumnForm.CHOICE:
        return dict(_choices(table.column(about.number)))[words[name]]
    text = catalogue()
    if name in words:
        word = words[name]
        told.append(text("guests.equals", text=word[1:]) if word[0] == "=" else text("guests.contains", text=word))
    if f"{name}from" in words:
        told.append(text("guests.at_least", text=words[f"{name}from"]))
    if f"{name}to" in words:
        told.append(text("guests.at_most", text=words[f"{name}to"]))
    if f"{name}is" in words:
        told.append(text(f"guests.is_{words[f'{name}is']}"))
    return "; ".join(told)


@lru_cache(maxsize=512)
def _choices(column: CopiedColumn) -> tuple[tuple[str, str], ...]:
    return tuple((str(code), text) for code, text in _each_choice(column))


def _each_choice(column: CopiedColumn) -> Iterator[tuple[int, str]]:
    about = column.about
    text = catalogue()
    for code, (value, rows) in enumerate(column.choices()):
        short = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
        yield code, text("guests.choice", text=short or text("guests.empty_text"), rows=f"{rows:,}")
    for code, word, rows in (
        (about.suppressed_code, f"{SUPPRESSED} {text('guests.is_suppressed')}", about.suppressed),
        (about.missing_code, text("guests.is_missing"), about.missing),
    ):
        if rows:
            yield code, text("guests.choice", text=word, rows=f"{rows:,}")


def _states(about: ColumnAbout) -> tuple[tuple[str, str], ...]:
    text = catalogue()
    there = {CellState.KNOWN: about.suppressed + about.missing, CellState.SUPPRESSED: about.suppressed}
    there[CellState.MISSING] = about.missing
    return tuple((str(state), text(f"guests.is_{state}")) for state, rows in there.items() if rows)
