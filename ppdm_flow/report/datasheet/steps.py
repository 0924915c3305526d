"""What the steps up to a release tell its recipients, by their cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.recipients.statements import RecipientStatement, Topic, said
from ppdm_flow.report.datasheet.given import DatasheetInput
from ppdm_flow.sdk import registry

_SILENT = (
    "The author of this step does not say what it leaves true. Take no figure of what it changed for one of the"
    " original before you have asked the owner of the data."
)
_BY_CHANGE: Mapping[str, str] = {
    Change.GENERALIZED: "Values were replaced by coarser ones.",
    Change.SUPPRESSED: "Some values were suppressed.",
    Change.PERTURBED: "Values were changed at random.",
    Change.PSEUDONYMIZED: "Values were replaced by pseudonyms.",
    Change.GENERATED: "Values were generated: a row belongs to nobody.",
    Change.OTHER: "Values were changed.",
}
_BY_ROWS = {
    "fewer": "Some rows may have been left out, and nothing is said of which.",
    "reordered": "Rows were put into another order.",
    "generated": "Rows were made anew: a row belongs to nobody.",
}
_SINGLY = "Rows that counted for several were written out singly before this step."


@dataclass(frozen=True, slots=True)
class StepAccount:
    """What one step tells: of which released columns, and what remains true of its table, what does not, what helps.

    ``done`` is what it did where it did that to rows: what it did to columns is told with these.
    """

    name: str
    use: str
    summary: str
    columns: tuple[str, ...]
    done: tuple[str, ...]
    true: tuple[str, ...]
    untrue: tuple[str, ...]
    correct: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepWords:
    """The words of a step: those of its card, or where that is silent what its plan tells."""

    step: Mapping[str, Any]
    statements: tuple[RecipientStatement, ...]
    summary: str

    @classmethod
    def of(cls, step: Mapping[str, Any]) -> StepWords:
        """Look up the card of a step; a plugin that is not installed is silent."""
        try:
            info = registry.load("anonymizers", step["use"]).info
        except PluginError:
            return cls(step, (), "")
        return cls(step, info.recipients, info.summary)

    def on(self, topic: Topic) -> tuple[str, ...]:
        """Return what the card says on a topic with the step's parameters."""
        return said(self.statements, topic, self.step["parameters"])

    def done(self, change: str | None) -> tuple[str, ...]:
        """Return what was done to a column, of which the plan says what kind of change it was."""
        if self.statements:
            return self.on("done")
        return (_BY_CHANGE.get(change or Change.OTHER, _BY_CHANGE[Change.OTHER]),)


def accounts(given: DatasheetInput) -> Iterator[StepAccount]:
    """Yield what each step up to the release tells, the first one first."""
    for step in given.steps:
        columns = tuple(c["name"] for c in given.node["attributes"] if step["name"] in c.get("steps", ()))
        if step["changes"] and not columns and step["rows"] == "same":
            continue  # all that it changed is not in this file
        words = StepWords.of(step)
        rows = (_BY_ROWS[step["rows"]],) if not words.statements and step["rows"] in _BY_ROWS else ()
        silent = () if words.statements else (*rows, _SILENT)
        singly = (_SINGLY,) if step["expands_weights"] else ()
        done = () if columns else words.on("done")
        told = (done, words.on("true"), (*words.on("not true"), *silent, *singly), words.on("correct"))
        yield StepAccount(step["name"], step["use"], words.summary, columns, *told)
