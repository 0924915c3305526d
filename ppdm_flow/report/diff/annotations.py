"""A comparison on GitHub: a note at the line of every clause that is not as strict any more."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report.annotation import Annotation, commands
from ppdm_flow.report.diff import markdown
from ppdm_flow.report.diff.fields import ClauseSide, PolicyPair
from ppdm_flow.report.diff.subject import Difference

_SEVERITY = {"weaker": Severity.ERROR, "incomparable": Severity.WARNING, "stronger": Severity.INFO}
_CUT = "\n*Cut here: the rest does not fit.*\n"


def render(subject: Difference) -> str:
    """Return workflow commands for what is weaker, incomparable or stronger; neutral changes are left out."""
    return commands(a for pair in subject.document["pairs"] for a in _pair(pair))


def summary(subject: Difference, limit: int) -> str:
    """Return Markdown of at most ``limit`` bytes."""
    text = markdown.render(subject)
    if len(text.encode()) <= limit:
        return text
    return text.encode()[: limit - len(_CUT)].decode(errors="ignore").rpartition("\n")[0] + _CUT


def _pair(pair: PolicyPair) -> Iterator[Annotation]:
    for change in pair["changes"]:
        severity = _SEVERITY.get(change["verdict"])
        if severity is not None:
            file, span = _where(change["new"], pair["new"])
            sides = {"old": change["old"], "new": change["new"]}
            texts = [f"{name}: {side['text']}" for name, side in sides.items() if side is not None]
            yield Annotation(severity, f"{change['clause']}: {change['verdict']}", (change["why"], *texts), file, span)


def _where(side: ClauseSide | None, file: str) -> tuple[str, Span | None]:
    """Return the place in the new policy; what was removed has none but the file itself."""
    if side is None or "file" not in side:
        return file, None
    line, column = side["line"], side["column"]
    return side["file"], Span(side["file"], line, column, line, column + 1)
