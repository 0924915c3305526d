"""Which forms a comparison can be written in, by name; and the one for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ppdm_flow.report.diff.ci import junit_xml, workflow_commands
from ppdm_flow.report.diff.fields import (
    REMOVED,
    SAYS,
    ClauseChange,
    Difference,
    PolicyPair,
    added,
    as_json,
    changed,
    in_order,
    place,
    tally,
)
from ppdm_flow.report.diff.markdown import render, summary
from ppdm_flow.report.diff.measured import lines as measured
from ppdm_flow.report.forms import OutputFormat, broken_junit, broken_markdown, github, named
from ppdm_flow.report.snippet import printable

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


DIFFED = named(
    OutputFormat("text", "clause by clause, with both lines", text, log=True),
    OutputFormat("json", "every change and figure, for programs", as_json),
    github(workflow_commands, summary),
    OutputFormat("junit", "JUnit XML: each changed clause a test case", junit_xml, broken=broken_junit),
    OutputFormat("markdown", "a comment on a pull request", render, broken=broken_markdown),
)
"""Every form of a comparison of policies or runs."""
