"""A judged release, and a run that broke: the values that every form is made from, and Markdown of the latter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.check import LIMIT, fenced
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.snippet import escaped

if TYPE_CHECKING:  # `check` imports this for its forms, and needs no report
    from ppdm_flow.report.run.fields import ReportDocument
    from ppdm_flow.report.run.released import ReportedRun


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """``document`` is a report; ``warnings`` are about the policy, ``file`` is where that stands.

    ``words`` replace "released" and "withheld", where nothing was released by this tool itself; ``last`` ends the text.
    ``run`` are the files of a finished run, which forms for other programs describe.
    """

    document: ReportDocument
    places: Locations
    file: str = ""
    warnings: Sequence[Diagnostic] = ()
    width: int = 100
    words: tuple[str, str] | None = None
    last: str = ""
    run: ReportedRun | None = None

    def shown(self, file: str) -> str:
        """Return the path of a policy's file from the repository's root; of absolute ones documents have the name."""
        return self.places.shown(self.file if PurePath(self.file).name == file else file)


@dataclass(frozen=True, slots=True)
class BrokenJudgement:
    """Why there is no judgement: the diagnostics of the error, and the texts that they quote."""

    what: str
    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, str]
    places: Locations


_NOTICE = "\n*Cut here: {} more do not fit.*\n"


def broken_markdown(failure: BrokenJudgement, limit: int = LIMIT) -> str:
    """Return the text in at most ``limit`` bytes."""
    text = f"## ❌ No verdict: {escaped(failure.what)}\n\nThe work ended before anything was judged.\n"
    for done, each in enumerate(failure.diagnostics):
        block = "\n" + fenced(drawing.render([each], failure.sources)) + "\n"
        if len(text.encode()) + len(block.encode()) + len(_NOTICE) + 8 > limit:
            return text + _NOTICE.format(len(failure.diagnostics) - done)
        text += block
    return text
