"""The files of a data sheet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.results import Report
from ppdm_flow.core.texts import SHEET_HTML, SHEET_MARKDOWN
from ppdm_flow.report.datasheet import texts as datasheet_texts
from ppdm_flow.report.datasheet.given import inputs
from ppdm_flow.report.datasheet.sheet import Sheet, sheet
from ppdm_flow.report.datasheet.texts import (
    CHECK,
    COLUMNS,
    CORRECT,
    DONE,
    ESTIMATES,
    INTRO,
    PROMISES,
    STEPS,
    TITLES,
    TRUE,
    UNTRUE,
    named,
)
from ppdm_flow.report.run.html import environment
from ppdm_flow.report.snippet import escaped


def datasheets(report: Report, beside: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, str]]:
    """Return for each release the forms of its data sheet, by file name.

    ``beside`` are the documents in the folder of each release.
    """
    sheets = {known.release: sheet(known) for known in inputs(report, beside)}
    return {release: {SHEET_MARKDOWN: render(one), SHEET_HTML: render_html(one)} for release, one in sheets.items()}


# The data sheet as Markdown.


_TICKED = re.compile("(`[^`]+`)")


def render(sheet: Sheet) -> str:
    """Return the sheet; the same sheet gives the same text."""
    return "\n".join(_lines(sheet)) + "\n"


def _lines(sheet: Sheet) -> Iterator[str]:
    yield f"# Data sheet: {escaped(sheet.release)}"
    yield from ("", _prose(named(INTRO, sheet)))
    if sheet.description:
        yield from ("", _prose(sheet.description))
    yield from _headed(TITLES["file"], "", _table(("What", "Is"), sheet.facts))
    yield from ("", *_list(sheet.rows)) if sheet.rows else ()
    rows = [
        (c.name, f"{c.holds}{f'. {c.description}' if c.description else ''}", " ".join(c.done)) for c in sheet.columns
    ]
    yield from _headed(TITLES["columns"], COLUMNS, _table(("Column", "Holds", "What was done to it"), rows))
    if sheet.left_out:
        yield from ("", _prose(f"Left out, so that this file has nothing of it: {', '.join(sheet.left_out)}."))
    if sheet.steps:
        yield from _headed(TITLES["true"], STEPS, _steps(sheet))
    if sheet.estimates:
        yield from _headed(TITLES["estimates"], ESTIMATES, _estimates(sheet))
    yield from _headed(TITLES["promises"], PROMISES if sheet.promises else "", _promises(sheet))
    yield from _headed(TITLES["assumed"], "", [*_list(sheet.assumptions), *_list(sheet.notes)])
    if sheet.waived:
        rows = [(w.of, w.reason, w.until) for w in sheet.waived]
        yield from _headed(TITLES["waived"], "", _table(("What is waived", "Why", "Until"), rows))
    yield from _headed(TITLES["check"], CHECK, _table(("What", "Is"), sheet.provenance))


def _headed(title: str, text: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    if text:
        yield from (_prose(text), "")
    yield from lines


def _steps(sheet: Sheet) -> Iterator[str]:
    for number, step in enumerate(sheet.steps):
        yield from [""] if number else []
        of = f": {escaped(', '.join(step.columns))}" if step.columns else ""
        yield from (f"### {escaped(step.name)} ({escaped(step.use)}){of}", "")
        for word, texts in ((DONE, step.done), (TRUE, step.true), (UNTRUE, step.untrue), (CORRECT, step.correct)):
            yield from (f"- **{word}.** {_prose(text)}" for text in texts)


def _estimates(sheet: Sheet) -> Iterator[str]:
    for number, each in enumerate(sheet.estimates):
        yield from [""] if number else []
        if each.column:
            yield from (f"### {escaped(each.column)}", "")
        yield " ".join(_prose(text) for text in each.sentences)
        for kind, block in (("text", each.formula), ("sh", each.command)):
            if block:
                yield from ("", f"```{kind}", _in_block(block), "```")
        if each.example:
            yield from ("", _prose(each.example))


def _promises(sheet: Sheet) -> Iterator[str]:
    for each in sheet.promises:
        bound = f" ({escaped(each.bound)})" if each.bound else ""
        kind = f", {escaped(each.kind)}" if each.kind != each.title else ""
        yield f"- **{escaped(each.title)}**{kind}{bound}: {_prose(each.sentence)}"
    if not sheet.promises:
        yield "Nothing."
    if sheet.gates:
        yield from ("", "Other bounds that were set and measured:", "")
        yield from _list(
            f"{g.title} ({g.kind}), {g.bound}: {'held' if g.holds else 'did not hold'}" for g in sheet.gates
        )


def _list(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"- {_prose(text)}" for text in texts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(_prose(cell) for cell in row)} |" for row in rows)


def _prose(text: str) -> str:
    """Escape a text, and keep as code what stands between backticks in it."""
    return "".join(_piece(piece) for piece in _TICKED.split(text))


def _piece(piece: str) -> str:
    if not _TICKED.fullmatch(piece):
        gap = (piece[:1].isspace() * " ", piece[-1:].isspace() * " " if piece.strip() else "")
        return f"{gap[0]}{escaped(piece)}{gap[1]}"
    return f"<code>{escaped(piece[1:-1])}</code>"


def _in_block(text: str) -> str:
    """Return a line of a block of code, which no backticks in it can end."""
    return " ".join(text.split()).replace("```", "'''")


_TEMPLATE = "datasheet.html.jinja"


def render_html(sheet: Sheet) -> str:
    """Return the page of a sheet; the same sheet gives the same text."""
    template = environment().get_template(_TEMPLATE)
    return template.render(
        sheet=sheet, texts=datasheet_texts, intro=datasheet_texts.named(datasheet_texts.INTRO, sheet)
    )
