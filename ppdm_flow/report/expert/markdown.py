"""A determination as Markdown, with boxes that nobody has ticked."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.report.expert.chapter import Chapter
from ppdm_flow.report.expert.chapters import determination
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.snippet import escaped

TITLE = "For an expert determination"
PREAMBLE = (
    "Laid out by the parts of 45 CFR 164.514(b)(1), ISO/IEC 27559:2022 and the Five Safes. Every row was measured by"
    " the run or is said by its policy, and names its place. Every box is for a person: no tool can say it, and none is"
    " ticked here. This is no determination, and no legal advice."
)


def render(document: ReportDocument) -> str:
    """Return the whole text; the same document gives the same text."""
    whole = determination(document)
    head = [
        f"# {TITLE}: {escaped(whole.policy)}",
        "",
        f"**{whole.readers}.** {escaped(whole.sentence)}",
        "",
        PREAMBLE,
        "",
        f"Run finished {escaped(whole.stamp)}. {escaped(whole.verdict)}",
    ]
    return (
        "\n".join([*head, *(line for number, c in enumerate(whole.chapters, 1) for line in _lines(number, c))]) + "\n"
    )


def _lines(number: int, chapter: Chapter) -> Iterator[str]:
    yield from ("", f"## {number}. {chapter.title}", "", f"*{escaped(chapter.sources)}.* {escaped(chapter.intro)}")
    if chapter.known:
        yield from ("", "| What | Measured, or said by the policy | Place |", "| --- | --- | --- |")
        for row in chapter.known:
            yield f"| {escaped(row.name)} | {escaped(row.text)} | {escaped(row.place)} |"
    else:
        yield from ("", "The run has nothing to say on this.")
    yield from ("", "For a person to fill in:", "")
    for question in chapter.questions:
        yield from (f"- [ ] {escaped(question)}", "", "  Answer: ______________________________________________", "")
    yield "Name, role, date: ______________________________________________"
