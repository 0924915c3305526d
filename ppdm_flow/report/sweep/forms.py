"""A sweep as text for a terminal, for a pull request and for a spreadsheet, and as a page that needs nothing else."""

from __future__ import annotations

import csv as writer
import io
from collections.abc import Iterable, Iterator, Sequence

from ppdm_flow.pictures.svg import Caption
from ppdm_flow.report.run.facts import facts
from ppdm_flow.report.run.html import environment, script_hash
from ppdm_flow.report.snippet import escaped
from ppdm_flow.report.sweep.fields import SweepDocument, SweepFigure, figure_at
from ppdm_flow.report.sweep.picture import legend, panels
from ppdm_flow.report.sweep.rows import SweepRow, recommended, rows, said


def plain(document: SweepDocument) -> str:
    """Return a sweep as aligned text. The frontier's points have a ``*`` before their number."""
    table = rows(document)
    lines = [["", "#", *table.axes, "verdict", *table.metrics, "standing", "time"]]
    lines += [_cells(row) for row in table.rows]
    text = [f"{document['policy']}: {said(document)}", *filter(None, [recommended(document)]), "", *_aligned(lines), ""]
    text += [f"{short}: {name}, {better}" for short, name, better in table.legend]
    failing = sorted({each for row in table.rows for each in row.failing})
    if failing:
        text += ["", "withheld because of: " + ", ".join(failing)]
    if any(row.on_frontier for row in table.rows):
        text.append("* not dominated: no other released point is at least as good in every figure and better in one")
    return "\n".join(text)


def markdown(document: SweepDocument) -> str:
    """Return a sweep as Markdown."""
    table = rows(document)
    head = ("#", *table.axes, "Verdict", *table.metrics, "Standing", "Time")
    lines = [f"## Sweep of {escaped(document['policy'])}", "", escaped(said(document)), ""]
    if choice := recommended(document):
        lines += [f"**{escaped(choice)}**", ""]
    lines += [f"| {' | '.join(escaped(cell) for cell in head)} |", f"|{' --- |' * len(head)}"]
    for row in table.rows:
        cells = [escaped(cell) for cell in _cells(row)[1:]]
        if row.on_frontier:
            cells[0] = f"**{cells[0]}**"
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- `{short}`: `{name}`, {better}" for short, name, better in table.legend)]
    return "\n".join(lines) + "\n"


def csv(document: SweepDocument) -> str:
    """Return a sweep as CSV: one line a point, figures with their interval ends, unrounded."""
    names = [m["name"] for m in document["metrics"]]
    out = io.StringIO()
    sheet = writer.writer(out, lineterminator="\n")
    ends = [name + end for name in names for end in ("", ".low", ".high")]
    paths = [axis["path"] for axis in document["over"]]
    sheet.writerow(["number", *paths, "verdict", "on_frontier", "dominated_by", "seconds", "error", *ends])
    for point in document["points"]:
        figures = [cell for name in names for cell in _ends(figure_at(point, name))]
        standing = [str(point["on_frontier"]).lower(), point["dominated_by"], point["seconds"]]
        values = [point["values"][path] for path in paths]
        error = point["error"]["code"] if "error" in point else None
        sheet.writerow([point["number"], *values, point["verdict"], *standing, error, *figures])
    return out.getvalue()


def _cells(row: SweepRow) -> list[str]:
    figures = [f"{f} ({i})" if i else f for f, i in zip(row.figures, row.intervals, strict=True)]
    mark = "*" if row.on_frontier else ""
    return [mark, str(row.number), *row.values, row.verdict, *figures, row.standing, row.time]


def _ends(figure: SweepFigure) -> Iterable[float | None]:
    low, high = figure.get("interval") or (None, None)
    return figure["value"], low, high


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def render(document: SweepDocument) -> str:
    """Return the page of a sweep's document; the same document gives the same text."""
    template = environment().get_template("sweep.html.jinja")
    drawn = panels(document)
    pictures = [(panel.title, panel.plot.picture(Caption(panel.spoken))) for panel in drawn]
    keys = legend(drawn).picture(Caption("What the marks mean")) if drawn else ""
    return template.render(
        policy=document["policy"],
        said=said(document),
        recommended=recommended(document),
        pictures=pictures,
        keys=keys,
        table=rows(document),
        run=facts(document["run"]),
        script_hash=script_hash(),
    )
