"""An error that ended the work, as Markdown for a pull request."""

from __future__ import annotations

from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.check.markdown import LIMIT, fenced
from ppdm_flow.report.run.judgement import BrokenJudgement
from ppdm_flow.report.snippet import escaped

_NOTICE = "\n*Cut here: {} more do not fit.*\n"


def render(failure: BrokenJudgement, limit: int = LIMIT) -> str:
    """Return the text in at most ``limit`` bytes."""
    text = f"## ❌ No verdict: {escaped(failure.what)}\n\nThe work ended before anything was judged.\n"
    for done, each in enumerate(failure.diagnostics):
        block = "\n" + fenced(drawing.render([each], failure.sources)) + "\n"
        if len(text.encode()) + len(block.encode()) + len(_NOTICE) + 8 > limit:
            return text + _NOTICE.format(len(failure.diagnostics) - done)
        text += block
    return text
