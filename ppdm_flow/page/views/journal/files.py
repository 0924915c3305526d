"""The journal as files that other programs read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice

from ppdm_flow.page.services.journal.journal import JournalEntry

COLUMNS = ("number", "at", "account", "action", "subject", "outcome", "chain")
_TOGETHER = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(entries: Iterable[JournalEntry]) -> Iterator[str]:
    """Give the lines of a CSV file. A text that a spreadsheet would compute gets an apostrophe before it."""
    yield _line(COLUMNS)
    for entry in entries:
        yield _line([_plain(value) for value in _fields(entry).values()])


def json_lines(entries: Iterable[JournalEntry]) -> Iterator[str]:
    """Give one JSON document a line. ``chain`` hashes the one before and the other fields, under the server's key."""
    for entry in entries:
        yield json.dumps(_fields(entry)) + "\n"


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Give many lines at once: each piece of an answer is made in a thread of its own."""
    every = iter(lines)
    while piece := "".join(islice(every, _TOGETHER)):
        yield piece


def _fields(entry: JournalEntry) -> dict[str, str | int | None]:
    values = (
        entry.number,
        entry.at.isoformat(timespec="seconds"),
        entry.account,
        entry.action,
        entry.subject,
        entry.outcome,
        entry.chain,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _plain(value: str | int | None) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(values: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
