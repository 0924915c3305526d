"""The result of verifying a run: the value that every form of it is made from, and its forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.texts import json_text
from ppdm_flow.report import junit
from ppdm_flow.report.check import LIMIT
from ppdm_flow.report.forms import OutputFormat, broken_junit, broken_markdown, named
from ppdm_flow.report.forms import github as github_form
from ppdm_flow.report.junit import JUnitCase, JUnitOutcome, Suite
from ppdm_flow.report.snippet import Annotation, commands, escaped

_NOTICE = "\n*Cut here: {:,} more rows do not fit.*\n"
_MARK = {True: "✅", False: "❌", None: "➖"}
_OUTCOME = {True: JUnitOutcome.PASSED, False: JUnitOutcome.FAILED, None: JUnitOutcome.SKIPPED}


@dataclass(frozen=True, slots=True)
class ComparedPoint:
    """One thing that was compared; ``holds`` is None where it could not be."""

    name: str
    holds: bool | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class SignaturePoint:
    """A signature: who signed which release in which role, and when, as it says.

    ``signer`` is empty where no list of signers has the key. ``counts`` is None where no list was given; ``fault`` says
    why it does not count.
    """

    file: str
    release: str
    role: str
    signer: str
    key_id: str
    signed: str
    counts: bool | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """A run by its directory's name and policy, what was compared, and the outcome as lines for people.

    ``exit_status`` is that of the command which verified it.
    """

    run: str
    policy: str
    verdict: str
    points: Sequence[ComparedPoint]
    summary: str
    signatures: Sequence[SignaturePoint] = ()
    exit_status: int = 0

    @property
    def holds(self) -> bool:
        """Whether everything that could be compared is as it was."""
        return all(point.holds is not False for point in self.points)


def text(outcome: Verification) -> str:
    """Return the outcome for a terminal."""
    return outcome.summary + "\n"


def as_json(outcome: Verification) -> str:
    """Return the outcome and every point as JSON."""
    points = [{"name": p.name, "holds": p.holds, "text": p.text} for p in outcome.points]
    document = {
        "run": outcome.run,
        "policy": outcome.policy,
        "verdict": outcome.verdict,
        "holds": outcome.holds,
    }
    signatures = [asdict(signature) for signature in outcome.signatures]
    return json_text({**document, "signatures": signatures, "points": points})


def as_junit(outcome: Verification) -> str:
    """Return a suite with a case for each point."""
    cases = [
        JUnitCase(outcome.policy, p.name, _OUTCOME[p.holds], p.text, p.text if p.holds else "") for p in outcome.points
    ]
    return junit.render([Suite(f"{outcome.policy} {outcome.run}", cases, {"verdict": outcome.verdict})])


def github(outcome: Verification) -> str:
    """Return workflow commands for the differences."""
    state = "as it was" if outcome.holds else "NOT as it was"
    bad = [Annotation(Severity.ERROR, p.name, (p.text or state,)) for p in outcome.points if p.holds is False]
    good = [Annotation(Severity.INFO, f"{outcome.policy} {outcome.run}", (f"the run is {state}",))] if not bad else []
    return commands([*bad, *good])


def markdown(outcome: Verification, limit: int = LIMIT) -> str:
    """Return a table, differences first, in at most ``limit`` bytes."""
    state = "as it was" if outcome.holds else "not as it was"
    table = f"## {_MARK[outcome.holds]} Run {escaped(outcome.run)} of {escaped(outcome.policy)} is {state}\n"
    table += "\n| | What | |\n| --- | --- | --- |\n"
    points = sorted(outcome.points, key=lambda p: (p.holds is not False, p.holds is None))
    for done, point in enumerate(points):
        row = f"| {_MARK[point.holds]} | {escaped(point.name)} | {escaped(point.text)} |\n"
        if len(table.encode()) + len(row.encode()) + len(_NOTICE) + 8 > limit:
            return table + _NOTICE.format(len(points) - done)
        table += row
    return table


VERIFIED = named(
    OutputFormat("text", "the differences", text, log=True),
    OutputFormat("json", "every point, for programs", as_json),
    OutputFormat("junit", "JUnit XML: each point a test case", as_junit, broken=broken_junit),
    github_form(github, markdown),
    OutputFormat("markdown", "a comment on a pull request", markdown, broken=broken_markdown),
)
"""Every form of a verification."""
