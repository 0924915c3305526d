"""Which forms each kind of outcome can be written in: a registry by name. A form is imported when it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_flow.report.check.result import CheckResult
    from ppdm_flow.report.diff.subject import Difference
    from ppdm_flow.report.run.judgement import BrokenJudgement, Judgement
    from ppdm_flow.report.verify import Verification

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


def _named(*forms: OutputFormat) -> Mapping[str, OutputFormat]:
    return {form.name: form for form in forms}


def _github(write: Writer, summary: Summarizer) -> OutputFormat:
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
    from ppdm_flow.report.check import github

    return github.render(result)


def _check_summary(result: CheckResult, limit: int) -> str:
    from ppdm_flow.report.check import github

    return github.summary(result, limit)


def _run_github(judged: Judgement) -> str:
    from ppdm_flow.report.run import github

    return github.render(judged)


def _run_summary(judged: Judgement, limit: int) -> str:
    from ppdm_flow.report.run import github

    return github.summary(judged, limit)


def _verify_github(found: Verification) -> str:
    from ppdm_flow.report import verify

    return verify.github(found)


def _verify_summary(found: Verification, limit: int) -> str:
    from ppdm_flow.report import verify

    return verify.markdown(found, limit)


def _diff_github(difference: Difference) -> str:
    from ppdm_flow.report.diff import annotations

    return annotations.render(difference)


def _diff_summary(difference: Difference, limit: int) -> str:
    from ppdm_flow.report.diff import annotations

    return annotations.summary(difference, limit)


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
    from ppdm_flow.report.check import junit

    return junit.render(result)


def _broken_junit(failure: BrokenJudgement) -> str:
    from ppdm_flow.report.run import junit

    return junit.broken(failure)


def _check_gitlab(result: CheckResult) -> str:
    from ppdm_flow.report.check import gitlab

    return gitlab.render(result)


def _check_markdown(result: CheckResult) -> str:
    from ppdm_flow.report.check import markdown

    return markdown.render(result)


def _broken_markdown(failure: BrokenJudgement) -> str:
    from ppdm_flow.report.run import broken_markdown

    return broken_markdown.render(failure)


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
    from ppdm_flow.report.run import junit

    return junit.render(judged)


def _run_comment(judged: Judgement) -> str:
    from ppdm_flow.report.run import forms

    return forms.comment(judged)


def _verify_text(found: Verification) -> str:
    from ppdm_flow.report import verify

    return verify.text(found)


def _verify_json(found: Verification) -> str:
    from ppdm_flow.report import verify

    return verify.as_json(found)


def _verify_junit(found: Verification) -> str:
    from ppdm_flow.report import verify

    return verify.as_junit(found)


def _verify_markdown(found: Verification) -> str:
    from ppdm_flow.report import verify

    return verify.markdown(found)


def _diff_text(difference: Difference) -> str:
    from ppdm_flow.report.diff import plain

    return plain.text(difference)


def _diff_json(difference: Difference) -> str:
    from ppdm_flow.report.diff import subject

    return subject.as_json(difference)


def _diff_markdown(difference: Difference) -> str:
    from ppdm_flow.report.diff import markdown

    return markdown.render(difference)


def _broken_github(failure: BrokenJudgement) -> str:
    from ppdm_flow.report.run import github

    return github.broken(failure)


def _broken_summary(failure: BrokenJudgement, limit: int) -> str:
    from ppdm_flow.report.run import broken_markdown

    return broken_markdown.render(failure, limit)


CHECK = _named(
    OutputFormat("text", "each fault drawn with its line", _check_text, log=True),
    OutputFormat("concise", "a line for each fault", _check_concise, log=True),
    OutputFormat("json", "all faults, for programs", _check_json),
    OutputFormat("sarif", "SARIF 2.1.0, for code scanning", _check_sarif),
    OutputFormat("junit", "JUnit XML: each policy a test case", _check_junit, broken=_broken_junit),
    _github(_check_github, _check_summary),
    OutputFormat("gitlab", "code quality report", _check_gitlab),
    OutputFormat("markdown", "a comment on a pull request", _check_markdown, broken=_broken_markdown),
)
"""Forms of what a check of policies found (`check.result.CheckResult`)."""

JUDGED = _named(
    OutputFormat("text", "verdict and checks", _run_text, log=True),
    OutputFormat("md", "the whole report as Markdown", _run_markdown),
    OutputFormat("html", "the whole report as a page", _run_html),
    OutputFormat("json", "the whole report, for programs", _run_json),
    OutputFormat(
        "junit",
        "JUnit XML: each requirement and gate a test case",
        _run_junit,
        broken=_broken_junit,
    ),
    _github(_run_github, _run_summary),
    OutputFormat("markdown", "a comment on a pull request", _run_comment, broken=_broken_markdown),
)
"""Forms of a judged release (`judgement.Judgement`)."""

VERIFIED = _named(
    OutputFormat("text", "what is not as it was", _verify_text, log=True),
    OutputFormat("json", "every point, for programs", _verify_json),
    OutputFormat("junit", "JUnit XML: each point a test case", _verify_junit, broken=_broken_junit),
    _github(_verify_github, _verify_summary),
    OutputFormat("markdown", "a comment on a pull request", _verify_markdown, broken=_broken_markdown),
)
"""Forms of a verification (`verification.Verification`)."""

DIFFED = _named(
    OutputFormat("text", "clause by clause, with both lines", _diff_text, log=True),
    OutputFormat("json", "every change and figure, for programs", _diff_json),
    _github(_diff_github, _diff_summary),
    OutputFormat("markdown", "a comment on a pull request", _diff_markdown, broken=_broken_markdown),
)
"""Forms of a comparison of policies or runs (`difference.subject.Difference`)."""
