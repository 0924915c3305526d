"""A judged release, and a run that broke: the values that every form of them is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report.locations import Locations

if TYPE_CHECKING:  # `check` imports this for its forms, and needs no report
    from ppdm_flow.report.run.fields import ReportDocument


@dataclass(frozen=True, slots=True)
class Judgement:
    """``document`` is a report; ``warnings`` are about the policy, ``file`` is where that stands.

    ``words`` stand for released and withheld, where nothing was released by this tool itself; ``last`` ends the text.
    """

    document: ReportDocument
    places: Locations
    file: str = ""
    warnings: Sequence[Diagnostic] = ()
    width: int = 100
    words: tuple[str, str] | None = None
    last: str = ""

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
