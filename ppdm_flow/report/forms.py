"""Which forms checks and runs can be written in: a registry by name. A form is imported when it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ppdm_flow.sdk.spec import imported

if TYPE_CHECKING:
    from ppdm_flow.report.run.judgement import RunJudgement

Writer = Callable[[Any], str]
Summarizer = Callable[[Any, int], str]


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """``write`` returns an outcome in this form.

    ``log`` says that its lines are for a log, where other such lines may stand. ``summary`` also writes the summary
    of a step, within a limit of bytes; ``broken`` and ``broken_summary`` are the same for where there is no outcome.
    """

    name: str
    what: str
    write: Writer
    log: bool = False
    summary: Summarizer | None = None
    broken: Writer | None = None
    broken_summary: Summarizer | None = None

    def render(self, subject: Any) -> str:
        """Return an outcome in this form."""
        return self.write(subject)

    def render_broken(self, failure: Any) -> str | None:
        """Return what is said of an error; None where this form has no word for it."""
        return self.broken(failure) if self.broken else None

    def render_summary(self, subject: Any, limit: int, *, broken: bool = False) -> str:
        """Return the summary of a step in at most ``limit`` bytes; empty where this form has none."""
        summarize = self.broken_summary if broken else self.summary
        return summarize(subject, limit) if summarize else ""


def named(*forms: OutputFormat) -> Mapping[str, OutputFormat]:
    """Return the forms by their names."""
    return {form.name: form for form in forms}


def written_by(name: str) -> Callable[..., str]:
    """Return the function with a name such as ``check.ci:render`` below this package; a call imports it."""

    def write(*subject: Any) -> str:
        written: str = imported(f"ppdm_flow.report.{name}")(*subject)
        return written

    return write


def github(write: Writer, summary: Summarizer) -> OutputFormat:
    """Write annotations, and the step's summary: errors look the same in every form."""
    return OutputFormat(
        "github",
        "annotations and step summary",
        write,
        log=True,
        summary=summary,
        broken=written_by("run.ci:broken"),
        broken_summary=broken_markdown,
    )


def _described_by(name: str) -> Callable[[RunJudgement], str]:
    """Return a function that writes the run behind a report, as the readers of that report may see it."""
    write = written_by(name)

    def describe(judged: RunJudgement) -> str:
        if judged.run is None:
            raise TypeError("forms for other programs need a finished run")
        return write(judged.run.to_public() if judged.document.get("audience") == "public" else judged.run)

    return describe


def _expert_by(name: str) -> Callable[[RunJudgement], str]:
    write = written_by(name)
    return lambda judged: write(judged.document)


broken_junit = written_by("run.ci:broken_junit")
"""Writes JUnit XML with an error of an error that ended the work."""
broken_markdown = written_by("run.judgement:broken_markdown")
"""Writes Markdown for a pull request of an error that ended the work."""
CHECK = named(
    OutputFormat("text", "each fault drawn with its line", written_by("check:text"), log=True),
    OutputFormat("concise", "a line for each fault", written_by("check:concise"), log=True),
    OutputFormat("json", "all faults, for programs", written_by("check:as_json")),
    OutputFormat("sarif", "SARIF 2.1.0, for code scanning", written_by("check:render_sarif")),
    OutputFormat("junit", "JUnit XML: each policy a test case", written_by("check:junit_xml"), broken=broken_junit),
    github(written_by("check:render"), written_by("check:summary")),
    OutputFormat("gitlab", "code quality report", written_by("check:gitlab")),
    OutputFormat(
        "markdown", "a comment on a pull request", written_by("check:render_markdown"), broken=broken_markdown
    ),
)
"""Forms of what a check of policies found (`check.result.CheckResult`)."""

JUDGED = named(
    OutputFormat("text", "verdict and checks", written_by("run.forms:text"), log=True),
    OutputFormat("md", "the whole report as Markdown", written_by("run.forms:md")),
    OutputFormat("html", "the whole report as a page", written_by("run.forms:html")),
    OutputFormat("json", "the whole report, for programs", written_by("run.forms:as_json")),
    OutputFormat("expert", "for an expert determination, as Markdown", _expert_by("expert.chapters:render")),
    OutputFormat("expert-html", "for an expert determination, as a page", _expert_by("expert.html:render")),
    OutputFormat(
        "junit", "JUnit XML: each requirement and gate a test case", written_by("run.ci:junit_xml"), broken=broken_junit
    ),
    github(written_by("run.ci:render"), written_by("run.ci:summary")),
    OutputFormat("markdown", "a comment on a pull request", written_by("run.forms:comment"), broken=broken_markdown),
)
"""Forms of a judged release (`judgement.Judgement`)."""

PORTABLE = named(
    OutputFormat(
        "croissant",
        "Croissant 1.1 of one release, for catalogues of data sets; always public",
        _described_by("croissant:render"),
    ),
    OutputFormat("ro-crate", "RO-Crate 1.2 of the Five Safes profile", _described_by("ro_crate:render")),
    OutputFormat("openlineage", "the run as an event of OpenLineage", _described_by("openlineage:render")),
    OutputFormat("odcs", "one release as a data contract (ODCS 3.1); always public", _described_by("odcs:render")),
)
"""Forms that describe a finished run to other programs (`judgement.Judgement` with its run)."""

FINISHED = {**JUDGED, **PORTABLE}
"""Forms of a finished run."""
