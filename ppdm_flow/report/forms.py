"""Which forms checks and runs can be written in: a registry by name. A form is imported when it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_flow.report.check.result import CheckResult
    from ppdm_flow.report.run.judgement import BrokenJudgement, Judgement
    from ppdm_flow.report.run.released import FinishedRun

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


def github(write: Writer, summary: Summarizer) -> OutputFormat:
    """Annotations, and the step's summary: errors look the same, whatever was asked for."""
    return OutputFormat(
        "github",
        "annotations and step summary",
        write,
        log=True,
        summary=summary,
        broken=_broken_github,
        broken_summary=_broken_summary,
    )


def _check_github(result: CheckResult) -> str:
    from ppdm_flow.report.check import ci

    return ci.render(result)


def _check_summary(result: CheckResult, limit: int) -> str:
    from ppdm_flow.report.check import ci

    return ci.summary(result, limit)


def _run_github(judged: Judgement) -> str:
    from ppdm_flow.report.run import ci

    return ci.render(judged)


def _run_summary(judged: Judgement, limit: int) -> str:
    from ppdm_flow.report.run import ci

    return ci.summary(judged, limit)


def _check_text(result: CheckResult) -> str:
    from ppdm_flow.report.check import plain

    return plain.text(result)


def _check_concise(result: CheckResult) -> str:
    from ppdm_flow.report.check import plain

    return plain.concise(result)


def _check_json(result: CheckResult) -> str:
    from ppdm_flow.report.check import plain

    return plain.as_json(result)


def _check_sarif(result: CheckResult) -> str:
    from ppdm_flow.report.check import sarif

    return sarif.render(result)


def _check_junit(result: CheckResult) -> str:
    from ppdm_flow.report.check import ci

    return ci.junit_xml(result)


def broken_junit(failure: BrokenJudgement) -> str:
    """Return JUnit XML with an error of an error that ended the work."""
    from ppdm_flow.report.run import ci

    return ci.broken_junit(failure)


def _check_gitlab(result: CheckResult) -> str:
    from ppdm_flow.report.check import ci

    return ci.gitlab(result)


def _check_markdown(result: CheckResult) -> str:
    from ppdm_flow.report.check import markdown

    return markdown.render(result)


def broken_markdown(failure: BrokenJudgement) -> str:
    """Return Markdown for a pull request of an error that ended the work."""
    from ppdm_flow.report.run import judgement

    return judgement.broken_markdown(failure)


def _run_text(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.text(judged)


def _run_markdown(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.md(judged)


def _run_html(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.html(judged)


def _run_json(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.as_json(judged)


def _run_junit(judged: Judgement) -> str:
    from ppdm_flow.report.run import ci

    return ci.junit_xml(judged)


def _run_comment(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.comment(judged)


def _described(judged: Judgement) -> FinishedRun:
    """Return the run behind a report, as the readers of that report may see it."""
    if judged.run is None:
        raise TypeError("forms for other programs need a finished run")
    return judged.run.to_public() if judged.document.get("audience") == "public" else judged.run


def _croissant(judged: Judgement) -> str:
    from ppdm_flow.report.croissant import document

    return document.render(_described(judged))


def _ro_crate(judged: Judgement) -> str:
    from ppdm_flow.report.ro_crate import crate

    return crate.render(_described(judged))


def _openlineage(judged: Judgement) -> str:
    from ppdm_flow.report.openlineage import event

    return event.render(_described(judged))


def _odcs(judged: Judgement) -> str:
    from ppdm_flow.report.odcs import document

    return document.render(_described(judged))


def _run_expert(judged: Judgement) -> str:
    from ppdm_flow.report.expert import markdown

    return markdown.render(judged.document)


def _run_expert_page(judged: Judgement) -> str:
    from ppdm_flow.report.expert import html

    return html.render(judged.document)


def _broken_github(failure: BrokenJudgement) -> str:
    from ppdm_flow.report.run import ci

    return ci.broken(failure)


def _broken_summary(failure: BrokenJudgement, limit: int) -> str:
    from ppdm_flow.report.run import judgement

    return judgement.broken_markdown(failure, limit)


CHECK = named(
    OutputFormat("text", "each fault drawn with its line", _check_text, log=True),
    OutputFormat("concise", "a line for each fault", _check_concise, log=True),
    OutputFormat("json", "all faults, for programs", _check_json),
    OutputFormat("sarif", "SARIF 2.1.0, for code scanning", _check_sarif),
    OutputFormat("junit", "JUnit XML: each policy a test case", _check_junit, broken=broken_junit),
    github(_check_github, _check_summary),
    OutputFormat("gitlab", "code quality report", _check_gitlab),
    OutputFormat("markdown", "a comment on a pull request", _check_markdown, broken=broken_markdown),
)
"""Forms of what a check of policies found (`check.result.CheckResult`)."""

JUDGED = named(
    OutputFormat("text", "verdict and checks", _run_text, log=True),
    OutputFormat("md", "the whole report as Markdown", _run_markdown),
    OutputFormat("html", "the whole report as a page", _run_html),
    OutputFormat("json", "the whole report, for programs", _run_json),
    OutputFormat("expert", "for an expert determination, as Markdown", _run_expert),
    OutputFormat("expert-html", "for an expert determination, as a page", _run_expert_page),
    OutputFormat("junit", "JUnit XML: each requirement and gate a test case", _run_junit, broken=broken_junit),
    github(_run_github, _run_summary),
    OutputFormat("markdown", "a comment on a pull request", _run_comment, broken=broken_markdown),
)
"""Forms of a judged release (`judgement.Judgement`)."""

PORTABLE = named(
    OutputFormat("croissant", "Croissant 1.1 of one release, for catalogues of data sets; always public", _croissant),
    OutputFormat("ro-crate", "RO-Crate 1.2 of the Five Safes profile", _ro_crate),
    OutputFormat("openlineage", "the run as an event of OpenLineage", _openlineage),
    OutputFormat("odcs", "one release as a data contract (ODCS 3.1); always public", _odcs),
)
"""Forms that describe a finished run to other programs (`judgement.Judgement` with its run)."""

FINISHED = {**JUDGED, **PORTABLE}
"""Forms of a finished run."""
