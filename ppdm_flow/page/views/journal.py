"""The journal, for administrators."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import ADMINISTRATORS, reads
from ppdm_flow.page.services.journal import JournalEntry
from ppdm_flow.page.texts.catalogue import catalogue

_ENTRIES = 100


# The journal: pages, filters, whether it is whole and goes on from an earlier head, downloads.


def entries(call: Call) -> Response:
    """Show the newest entries, or those before one."""
    return _page(call)


def check(call: Call) -> Response:
    """Say whether the journal is whole: every entry's hash is computed again; and whether it has an earlier head."""
    head, journal = call.query.get("head", ""), call.site.journal
    contained = ""
    if head:
        try:
            contained = "yes" if journal.contains(head) else "no"
        except ValueError:
            contained = "odd"
    return _page(call, is_intact=journal.is_whole(), contained=contained)


def head(call: Call) -> Response:
    """Send the head of the journal as a file to be kept elsewhere."""
    newest = call.site.journal.newest(1)
    return PlainTextResponse("".join(f"{entry.head}\n" for entry in newest), headers=_named("journal.head"))


def as_csv(call: Call) -> Response:
    """Send the journal as CSV."""
    return StreamingResponse(
        joined(csv_lines(_every(call))), media_type="text/csv; charset=utf-8", headers=_named("journal.csv")
    )


def as_json_lines(call: Call) -> Response:
    """Send the journal as one JSON document a line, with the chain of hashes."""
    return StreamingResponse(
        joined(json_lines(_every(call))), media_type="application/jsonl", headers=_named("journal.jsonl")
    )


def _page(call: Call, is_intact: bool | None = None, contained: str = "") -> Response:
    journal, chosen = call.site.journal, _chosen(call)
    before = call.query.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    shown = journal.newest(_ENTRIES + 1, number, **chosen)
    newest, texts = journal.newest(1), catalogue()
    return call.page(
        "journal/entries.html",
        entries=shown[:_ENTRIES],
        older=shown[_ENTRIES - 1].number if len(shown) > _ENTRIES else None,
        later=number is not None,
        newest=newest[0] if newest else None,
        chosen={name: value for name, value in chosen.items() if value},
        accounts=[("", texts("journal.all")), *((name, name) for name in journal.accounts())],
        actions=[("", texts("journal.all")), *((name, name) for name in journal.actions())],
        whole=is_intact,
        contained=contained,
    )


def _every(call: Call) -> Iterator[JournalEntry]:
    return call.site.journal.every(**_chosen(call))


def _chosen(call: Call) -> dict[str, str]:
    return {name: call.query.get(name, "") for name in ("account", "action")}


def _named(file: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{file}"'}


ROUTES = (
    reads("/journal", entries, ADMINISTRATORS),
    reads("/journal/check", check, ADMINISTRATORS),
    reads("/journal/head", head, ADMINISTRATORS),
    reads("/journal/journal.csv", as_csv, ADMINISTRATORS),
    reads("/journal/journal.jsonl", as_json_lines, ADMINISTRATORS),
)


# The journal as files that other programs read.


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
