"""A comparison as Markdown: a table of the changes of every policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ppdm_flow.report.diff.fields import (
    REMOVED,
    SAYS,
    ClauseChange,
    ClauseSide,
    Difference,
    OutcomePair,
    PolicyPair,
    added,
    changed,
    in_order,
    place,
    tally,
)
from ppdm_flow.report.diff.measured import tables
from ppdm_flow.report.snippet import escaped

_SHOWN = {"weaker": "**weaker**", "incomparable": "**incomparable**", "stronger": "stronger", "neutral": "neutral"}


def render(subject: Difference) -> str:
    """Return every pair as a table; neutral changes are folded away."""
    document = subject.document
    shown, same = changed(document["pairs"])
    lines = [line for pair in shown for line in _pair(pair)]
    lines += [f"{same}.\n"] if same else []
    for name, accepted, why in added(document):
        lines.append(f"{'Added' if accepted else '**Added**'}: {escaped(name)} ({why})\n")
    lines += [f"Removed: {escaped(name)} ({REMOVED})\n" for name in document["removed"]]
    if "runs" in document:
        lines += _measured(document["runs"])
    return "\n".join(lines) + "\n"


def _pair(pair: PolicyPair) -> Iterator[str]:
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


def summary(subject: Difference, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    text = render(subject)
    if len(text.encode()) <= limit:
        return text
    return text.encode()[: limit - len(_CUT)].decode(errors="ignore").rpartition("\n")[0] + _CUT
