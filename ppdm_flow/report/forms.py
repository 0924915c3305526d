"""Which forms each kind of outcome can be written in: a registry by name. A form is imported when it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

_HERE = "ppdm_flow.report."


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """``home`` names the function (``module:name`` of this room) that writes it.

    ``log`` says that its lines are for a log, where other such lines may stand. ``summary`` also writes the summary
    of a step, within a limit of bytes; ``broken`` and ``broken_summary`` are the same for where there is no outcome.
    """

    name: str
    what: str
    home: str
    log: bool = False
    summary: str = ""
    broken: str = ""
    broken_summary: str = ""

    def render(self, subject: Any) -> str:
        """Return an outcome in this form."""
        return str(_function(self.home)(subject))

    def render_broken(self, failure: Any) -> str | None:
        """Return what is said of an error; None where this form has no word for it."""
        return str(_function(self.broken)(failure)) if self.broken else None

    def render_summary(self, subject: Any, limit: int, *, broken: bool = False) -> str:
        """Return the summary of a step in at most ``limit`` bytes; empty where this form has none."""
        home = self.broken_summary if broken else self.summary
        return str(_function(home)(subject, limit)) if home else ""


def _function(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(_HERE + module), name)


def _named(*forms: OutputFormat) -> Mapping[str, OutputFormat]:
    return {form.name: form for form in forms}


def _github(home: str, summary: str) -> OutputFormat:
    """Annotations, and the step's summary: errors look the same, whatever was asked for."""
    return OutputFormat(
        "github",
        "annotations and step summary",
        home,
        log=True,
        summary=summary,
        broken="run.github:broken",
        broken_summary="run.broken_markdown:render",
    )


CHECK = _named(
    OutputFormat("text", "each fault drawn with its line", "check.plain:text", log=True),
    OutputFormat("concise", "a line for each fault", "check.plain:concise", log=True),
    OutputFormat("json", "all faults, for programs", "check.plain:as_json"),
    OutputFormat("sarif", "SARIF 2.1.0, for code scanning", "check.sarif:render"),
    OutputFormat("junit", "JUnit XML: each policy a test case", "check.junit:render", broken="run.junit:broken"),
    _github("check.github:render", "check.github:summary"),
    OutputFormat("gitlab", "code quality report", "check.gitlab:render"),
    OutputFormat(
        "markdown", "a comment on a pull request", "check.markdown:render", broken="run.broken_markdown:render"
    ),
)
"""Forms of what a check of policies found (`check.result.CheckResult`)."""

JUDGED = _named(
    OutputFormat("text", "verdict and checks", "run.forms:text", log=True),
    OutputFormat("md", "the whole report as Markdown", "run.forms:md"),
    OutputFormat("html", "the whole report as a page", "run.forms:html"),
    OutputFormat("json", "the whole report, for programs", "run.forms:as_json"),
    OutputFormat(
        "junit",
        "JUnit XML: each requirement and gate a test case",
        "run.junit:render",
        broken="run.junit:broken",
    ),
    _github("run.github:render", "run.github:summary"),
    OutputFormat("markdown", "a comment on a pull request", "run.forms:comment", broken="run.broken_markdown:render"),
)
"""Forms of a judged release (`judgement.Judgement`)."""

VERIFIED = _named(
    OutputFormat("text", "what is not as it was", "verify:text", log=True),
    OutputFormat("json", "every point, for programs", "verify:as_json"),
    OutputFormat("junit", "JUnit XML: each point a test case", "verify:as_junit", broken="run.junit:broken"),
    _github("verify:github", "verify:markdown"),
    OutputFormat("markdown", "a comment on a pull request", "verify:markdown", broken="run.broken_markdown:render"),
)
"""Forms of a verification (`verification.Verification`)."""

DIFFED = _named(
    OutputFormat("text", "clause by clause, with both lines", "diff.plain:text", log=True),
    OutputFormat("json", "every change and figure, for programs", "diff.subject:as_json"),
    _github("diff.annotations:render", "diff.annotations:summary"),
    OutputFormat(
        "markdown", "a comment on a pull request", "diff.markdown:render", broken="run.broken_markdown:render"
    ),
)
"""Forms of a comparison of policies or runs (`difference.subject.Difference`)."""
