"""The report as Markdown for a pull request: verdict and checks first, the rest folded, never too long to post."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ppdm_flow.core.amounts import between, duration, noted
from ppdm_flow.report.run.checks import CheckedRequirement, audience
from ppdm_flow.report.run.columns import columns, losses
from ppdm_flow.report.run.fields import FigureDocument, FindingDocument, ReportDocument, facts, information_kept
from ppdm_flow.report.run.verdict import PageVerdict, verdict
from ppdm_flow.report.snippet import escaped

LIMIT = 900_000
"""Bytes of UTF-8. A comment on a pull request takes far less: give its own limit then."""
_NOTICE = "\n*Cut here: {} more sections do not fit. `report.html` and `report.json` have everything.*\n"
_OPEN_ROWS = 40
_MORE = 50
"""Bytes for the line that says how many more do not hold."""
_MARK = {"holds": "✅", "waived": "🟠", "fails": "❌"}

_Rows = Iterable[Sequence[str]]


def render(document: ReportDocument, limit: int = LIMIT, words: tuple[str, str] | None = None) -> str:
    """Return the report in at most ``limit`` bytes; a notice says so where sections are left out.

    The verdict is always kept, and what does not hold comes before all that does. ``words`` are as in `verdict`.
    """
    judged = verdict(document, words)
    room = limit - len(_NOTICE) - 8
    text = _head(document, judged, room)
    sections = list(_sections(document, judged))
    for done, section in enumerate(sections):
        if len(text.encode()) + len(section.encode()) > room:
            return text + _NOTICE.format(len(sections) - done)
        text += section
    return text


def _head(document: ReportDocument, judged: PageVerdict, room: int) -> str:
    """Return the verdict and, where checks are folded, the first failing ones: as many as there is room for."""
    lines = [f"## {_MARK[judged.state]} {judged.word}: {escaped(document['policy'])}", "", escaped(judged.sentence)]
    readers = audience(document)
    lines += ["", f"**{readers.word}.** {escaped(readers.sentence)}"]
    for warning in (judged.contradiction, judged.caution):
        if warning:
            lines += ["", f"> ⚠️ **{escaped(warning)}**"]
    for kept in information_kept(document):
        note = f" ({kept.note})" if kept.note else ""
        lines += ["", f"**{kept.heading[0].upper()}{escaped(kept.heading[1:])}: {kept.text}**{escaped(note)}"]
    failing = judged.failing
    folded = len(judged.requirements) + len(judged.gates) > _OPEN_ROWS
    table = _checks(failing[:_OPEN_ROWS]) if folded and failing else []
    while table and len("\n".join([*lines, *table]).encode()) + _MORE > room:
        table.pop()
    if len(table) > 2:
        lines += ["", *table]
    if folded and (left := len(failing) - max(0, len(table) - 2)):
        lines += ["", f"{left:,} more do not hold."]
    return "\n".join(lines) + "\n"


def _sections(document: ReportDocument, judged: PageVerdict) -> Iterable[str]:
    """Yield the sections in the order of their weight."""
    for title, part in (("Requirements", judged.requirements), ("Gates", judged.gates)):
        if part:
            yield _section(title, _checks(part), folded=len(part) > _OPEN_ROWS)
    for kept in information_kept(document):
        rows = ((each.name, each.text, each.note) for each in kept.attributes)
        heading = f"{kept.heading[0].upper()}{kept.heading[1:]}"
        yield _section(
            escaped(heading), _table(("Attribute", "Kept", ""), rows), folded=len(kept.attributes) > _OPEN_ROWS
        )
    yield _section("Waivers", _table(("Waiver", "Of", "Until", "", "Owner", "Reason", "Covers"), _waivers(judged)))
    yield _findings(document["findings"])
    yield _section("Releases", _table(("Release", "What", ""), _releases(document)))
    head = ("Release", "Column", "Its values", "Computed from", "Chosen by", "Through")
    yield _section("Where each column comes from", _table(head, _columns(document)), folded=True)
    yield _suppressed(document)
    yield _section("Steps", _table(("Step", "Plugin", "Rows in", "Rows out", "Time"), _steps(document)), folded=True)
    yield _section(
        "All figures", _table(("Figure", "Value", "Interval", "Note"), _metrics(document["metrics"])), folded=True
    )
    yield _section("Provenance", _table(("", ""), ((f.name, f.text) for f in facts(document["run"]))), folded=True)


def _section(title: str, table: Sequence[str], *, folded: bool = False) -> str:
    if len(table) <= 2:
        return ""
    body = "\n".join(table)
    if folded:
        return f"\n<details><summary>{title} ({len(table) - 2:,})</summary>\n\n{body}\n\n</details>\n"
    return f"\n### {title}\n\n{body}\n"


def _table(head: Sequence[str], rows: _Rows) -> list[str]:
    """Return the lines of a table; the cells are escaped here and nowhere else."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows]


def _checks(checks: Sequence[CheckedRequirement]) -> list[str]:
    several = len({check.release for check in checks}) > 1
    head = ("", "Check", *(("Release",) if several else ()), "Measured", "Asked", "What it means", "Policy")
    return _table(head, (_check(check, several) for check in checks))


def _check(check: CheckedRequirement, several: bool) -> tuple[str, ...]:
    measured = check.measured
    if check.interval:
        measured += f" ({check.interval})"
    if check.before:
        measured += f"; original {check.before}"
    where = (check.release,) if several else ()
    means = f"{check.sentence} Next: {check.advice}" if check.advice else check.sentence
    if check.waiver:
        means = f"{check.waiver.terms[0].upper()}{check.waiver.terms[1:]}: {check.waiver.reason}. {means}"
    return (_MARK[check.state], check.id, *where, measured, check.bound, means, check.place)


def _waivers(judged: PageVerdict) -> _Rows:
    for each in judged.waivers:
        covers = ", ".join(each.covers) or "nothing"
        yield each.name, each.of, each.until, each.left, each.owner, each.reason, covers


def _releases(document: ReportDocument) -> _Rows:
    for name, about in document["releases"].items():
        for fact in facts(about, 12):
            yield name, fact.name, fact.text


def _columns(document: ReportDocument) -> _Rows:
    for each in columns(document):
        for c in each.every:
            yield each.release, c.name, c.done, c.computed_from, c.chosen_by, c.steps


def _suppressed(document: ReportDocument) -> str:
    rows = ((loss.attribute, loss.step, loss.values, loss.cells, loss.text) for loss in losses(document))
    return _section("Suppressed", _table(("Attribute", "Step", "Values hidden", "Cells", "Share"), rows))


def _steps(document: ReportDocument) -> _Rows:
    for step in document["steps"]:
        rows = f"{step['rows_in']:,}", f"{step['rows_out']:,}"
        yield step["name"], f"{step['use']} {step['version']}", *rows, duration(step["seconds"])


def _metrics(metrics: dict[str, FigureDocument]) -> _Rows:
    for name, figure in metrics.items():
        unit, note = figure["unit"], figure.get("note", "")
        yield name, noted(figure["value"], unit, note), between(figure.get("interval"), unit), note


def _findings(findings: Sequence[FindingDocument]) -> str:
    rows = ((_severity(f), f["code"], f["text"], f["hash"]) for f in findings)
    return _section("Findings", _table(("", "Code", "What", "Hash"), rows), folded=len(findings) > _OPEN_ROWS)


def _severity(finding: FindingDocument) -> str:
    by = finding.get("waived_by")
    return f"{finding['severity']}, waived by {by}" if by else str(finding["severity"])
