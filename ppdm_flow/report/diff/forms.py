"""Which forms a comparison can be written in, by name; and the one for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report import junit
from ppdm_flow.report.diff.fields import (
    REMOVED,
    SAYS,
    ClauseChange,
    ClauseSide,
    DiffDocument,
    Difference,
    OutcomePair,
    PolicyPair,
    added,
    as_json,
    changed,
    in_order,
    place,
    tables,
    tally,
)
from ppdm_flow.report.diff.fields import lines as measured
from ppdm_flow.report.forms import OutputFormat, broken_junit, broken_markdown, github, named
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite
from ppdm_flow.report.snippet import Annotation, commands, escaped, printable

_MARKS = {"weaker": "-", "incomparable": "?", "stronger": "+", "neutral": "="}
_COLORS = {
    "weaker": "1;31",
    "incomparable": "1;33",
    "stronger": "1;32",
    "stricter": "1;32",
    "neutral": "2",
    "equal": "1;32",
}


def text(subject: Difference) -> str:
    """Return every change with its verdict, both texts with their lines, and why."""
    document = subject.document
    shown, same = changed(document["pairs"])
    blocks = ["\n".join(_pair(each, subject)) for each in shown]
    blocks += [same] if same else []
    for name, accepted, why in added(document):
        mark = _ink("added" if accepted else "- added", "neutral" if accepted else "weaker", subject)
        blocks.append(f"{mark}: {printable(name)} ({why})")
    blocks += [f"removed: {printable(name)} ({REMOVED})" for name in document["removed"]]
    if "runs" in document:
        blocks.append("\n".join(measured(document["runs"])))
    return "\n\n".join(blocks) + "\n"


def _pair(pair: PolicyPair, subject: Difference) -> Iterator[str]:
    yield f"{printable(pair['old'])} -> {printable(pair['new'])}"
    for change in in_order(pair["changes"]):
        yield ""
        yield from _change(change, subject)
    if pair["governance"]:
        yield ""
        yield "floors and params (they bind those who extend these policies, or run them, and no release):"
        for change in pair["governance"]:
            yield from _change(change, subject)
    yield ""
    relation = pair["relation"]
    yield f"{_ink(relation.upper(), relation, subject)}: {SAYS[relation]} ({tally(pair['changes'])})"
    if "measured" in pair:
        yield ""
        yield from measured(pair["measured"])


def _change(change: ClauseChange, subject: Difference) -> Iterator[str]:
    verdict = change["verdict"]
    head = f"{_MARKS[verdict]} {verdict}"
    yield f"{_ink(head, verdict, subject)}  {printable(change['clause'])}"
    name: Literal["old", "new"]
    for name in ("old", "new"):
        side = change[name]
        if side is not None:
            where = place(side)
            yield f"    {name}: {printable(side['text'])}" + (f"  [{printable(where)}]" if where else "")
    yield f"    {printable(change['why'])}"


def _ink(words: str, verdict: str, subject: Difference) -> str:
    return f"\x1b[{_COLORS[verdict]}m{words}\x1b[0m" if subject.color else words


# What a comparison says in CI: on GitHub at the line of every clause that changed, and as JUnit XML.


def workflow_commands(subject: Difference) -> str:
    """Return workflow commands for what is weaker, incomparable or stronger; neutral changes are left out."""
    return commands(_annotations(subject.document))


def junit_xml(subject: Difference) -> str:
    """Return a suite for each pair of policies, with a case for each change, and one for what came and what went."""
    document = subject.document
    suites = [Suite(pair["new"], list(_cases(pair)), {"relation": pair["relation"]}) for pair in document["pairs"]]
    came = [
        JUnitCase("added", name, _outcome(not ok), why, why, "added", file=name) for name, ok, why in added(document)
    ]
    gone = [
        JUnitCase("removed", name, JUnitOutcome.SKIPPED, REMOVED, REMOVED, "removed") for name in document["removed"]
    ]
    suites += [Suite("added and removed policies", [*came, *gone])] if came or gone else []
    suites += [Suite(document["runs"]["new"]["name"], _judged(document["runs"]))] if "runs" in document else []
    return junit.render(suites, "ppdm-flow diff")


# A comparison as Markdown: a table of the changes of every policy.


def render(subject: Difference) -> str:
    """Return every pair as a table; neutral changes are folded away."""
    document = subject.document
    shown, same = changed(document["pairs"])
    lines = [line for pair in shown for line in _markdown_pair(pair)]
    lines += [f"{same}.\n"] if same else []
    for name, accepted, why in added(document):
        lines.append(f"{'Added' if accepted else '**Added**'}: {escaped(name)} ({why})\n")
    lines += [f"Removed: {escaped(name)} ({REMOVED})\n" for name in document["removed"]]
    if "runs" in document:
        lines += _measured(document["runs"])
    return "\n".join(lines) + "\n"


def summary(subject: Difference, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    text = render(subject)
    if len(text.encode()) <= limit:
        return text
    return text.encode()[: limit - len(_CUT)].decode(errors="ignore").rpartition("\n")[0] + _CUT


DIFFED = named(
    OutputFormat("text", "clause by clause, with both lines", text, log=True),
    OutputFormat("json", "every change and figure, for programs", as_json),
    github(workflow_commands, summary),
    OutputFormat("junit", "JUnit XML: each changed clause a test case", junit_xml, broken=broken_junit),
    OutputFormat("markdown", "a comment on a pull request", render, broken=broken_markdown),
)
"""Every form of a comparison of policies or runs."""

_SEVERITY = {"weaker": Severity.ERROR, "incomparable": Severity.WARNING, "stronger": Severity.INFO}
_LAX = ("weaker", "incomparable")


def _annotations(document: DiffDocument) -> Iterator[Annotation]:
    for pair in document["pairs"]:
        for change in (*pair["changes"], *pair["governance"]):
            severity = _SEVERITY.get(change["verdict"])
            if severity is not None:
                file, span = _where(change["new"], pair["new"])
                title = f"{change['clause']}: {change['verdict']}"
                yield Annotation(severity, title, (change["why"], *_texts(change)), file, span)
    for name, accepted, why in added(document):
        severity = Severity.INFO if accepted else Severity.ERROR
        yield Annotation(severity, f"{name}: added", (why,), name)
    for name in document["removed"]:
        yield Annotation(Severity.WARNING, f"{name}: removed", (REMOVED,))


def _texts(change: ClauseChange) -> Iterator[str]:
    sides = {"old": change["old"], "new": change["new"]}
    yield from (f"{name}: {side['text']}" for name, side in sides.items() if side is not None)


def _where(side: ClauseSide | None, file: str) -> tuple[str, Span | None]:
    """Return the place in the new policy; what was removed has none but the file itself."""
    if side is None or "file" not in side:
        return file, None
    line, column = side["line"], side["column"]
    return side["file"], Span(side["file"], line, column, line, column + 1)


def _cases(pair: PolicyPair) -> Iterator[JUnitCase]:
    changes = (*pair["changes"], *pair["governance"])
    if not changes:
        yield JUnitCase(pair["new"], "policy", text="no change")
    for change in changes:
        verdict = change["verdict"]
        file, span = _where(change["new"], pair["new"])
        text = "\n".join((change["why"], *_texts(change)))
        message = f"{verdict}: {change['why']}"
        line = span.line if span else None
        yield JUnitCase(
            pair["new"], change["clause"], _outcome(verdict in _LAX), message, text, verdict, file=file, line=line
        )


def _judged(both: OutcomePair) -> list[JUnitCase]:
    """Return a case for each requirement and gate of the new run."""
    cases = []
    for each in both["results"]:
        if each["new"] is not None:
            name = f"{each['metric']} [{each['release']}]" if each["release"] else each["metric"]
            fails = not each["new"]["holds"]
            cases.append(
                JUnitCase(both["new"]["name"], name, _outcome(fails), "does not hold" if fails else "", "", each["id"])
            )
    return cases


def _outcome(fails: bool) -> JUnitOutcome:
    return JUnitOutcome.FAILED if fails else JUnitOutcome.PASSED


_SHOWN = {"weaker": "**weaker**", "incomparable": "**incomparable**", "stronger": "stronger", "neutral": "neutral"}


def _markdown_pair(pair: PolicyPair) -> Iterator[str]:
    yield f"## {escaped(pair['new'])}: {pair['relation']}"
    yield ""
    yield f"Compared with {escaped(pair['old'])}, {SAYS[pair['relation']]} ({tally(pair['changes'])})."
    yield ""
    changes = in_order(pair["changes"])
    yield from _table([c for c in changes if c["verdict"] != "neutral"])
    neutral = [c for c in changes if c["verdict"] == "neutral"]
    if neutral:
        yield f"<details><summary>{len(neutral)} neutral</summary>"
        yield ""
        yield from _table(neutral)
        yield "</details>"
        yield ""
    if pair["governance"]:
        yield "Floors and params, which bind those who extend these policies, or run them, and no release:"
        yield ""
        yield from _table(pair["governance"])
    if "measured" in pair:
        yield from _measured(pair["measured"])


def _table(changes: list[ClauseChange]) -> Iterator[str]:
    if not changes:
        return
    yield "| | Clause | Old | New | Why |"
    yield "| --- | --- | --- | --- | --- |"
    for change in changes:
        cells = [_SHOWN[change["verdict"]], escaped(change["clause"])]
        cells += [_side(change["old"]), _side(change["new"]), escaped(change["why"])]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _side(side: ClauseSide | None) -> str:
    if side is None:
        return ""
    where = place(side)
    return escaped(side["text"]) + (f"<br>{escaped(where)}" if where else "")


def _measured(compared: OutcomePair) -> Iterator[str]:
    for title, head, rows in tables(compared):
        if rows:
            yield f"### {title.capitalize()}"
            yield ""
            yield f"| {' | '.join(head)} |"
            yield f"|{' --- |' * len(head)}"
            yield from (f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)
            yield ""
    kind: Literal["new", "gone"]
    for kind, words in (("new", "only in the new one"), ("gone", "gone")):
        yield from (f"- finding {words}: {escaped(each)}" for each in compared["findings"][kind])
    yield f"Verdict: {compared['old']['verdict']}, then {compared['new']['verdict']}."
    yield ""


_CUT = "\n*Cut here: the rest does not fit.*\n"
