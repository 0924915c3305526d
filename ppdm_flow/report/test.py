"""The outcome of policy tests as text, for people and for CI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.texts import json_text
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.junit import JUnitCase, Suite, render
from ppdm_flow.report.junit import JUnitOutcome as Ended
from ppdm_flow.report.snippet import printable

# What came of policy tests, as values.


class PolicyTestOutcome(StrEnum):
    """How a test ended. ERROR: it could not be carried out."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


# Policy tests for programs: JSON, and JUnit.


_ENDED = {
    PolicyTestOutcome.PASSED: Ended.PASSED,
    PolicyTestOutcome.FAILED: Ended.FAILED,
    PolicyTestOutcome.ERROR: Ended.ERROR,
}


def as_json(tested: PolicyTestResults) -> str:
    """Return everything as a JSON object."""
    return json_text(document(tested))


def document(tested: PolicyTestResults) -> dict[str, Any]:
    """Return the outcome: ``tests``, how many there are of each kind, and ``coverage`` where it was asked for."""
    counts: dict[str, Any] = {
        "passed": tested.count(PolicyTestOutcome.PASSED),
        "failed": tested.count(PolicyTestOutcome.FAILED),
        "errors": tested.count(PolicyTestOutcome.ERROR),
        "not_selected": tested.unselected,
        "seconds": round(tested.seconds, 3),
        "tests": [_test(each) for each in tested.results],
    }
    if tested.coverage is not None:
        percent = None if tested.percent is None else round(tested.percent, 2)
        counts["coverage"] = {"percent": percent, "policies": [_covered(each) for each in tested.coverage]}
    return counts


def as_junit(tested: PolicyTestResults) -> str:
    """Return JUnit XML: a suite for each test file, a case for each test."""
    files = dict.fromkeys(each.file for each in tested.results)
    return render([_suite(file, [r for r in tested.results if r.file == file]) for file in files], "ppdm-flow test")


def _suite(file: str, results: list[PolicyTestResult]) -> Suite:
    return Suite(file, [_case(each) for each in results], {"policy": results[0].policy})


def _case(result: PolicyTestResult) -> JUnitCase:
    first = result.failures[0] if result.failures else None
    return JUnitCase(
        classname=result.file,
        name=result.name,
        outcome=_ENDED[result.outcome],
        message=first.message if first else "",
        text=drawing.render(result.failures, result.sources),
        kind=first.code if first else "",
        seconds=result.seconds,
        properties={"verdict": result.verdict} if result.verdict else {},
        file=result.file,
        line=result.line,
    )


def _test(result: PolicyTestResult) -> dict[str, Any]:
    return {
        "file": result.file,
        "name": result.name,
        "line": result.line,
        "policy": result.policy,
        "outcome": result.outcome.value,
        "verdict": result.verdict,
        "seconds": round(result.seconds, 3),
        "repetitions": result.runs,
        "failures": [_failure(each) for each in result.failures],
        "judged": [
            {"id": j.id, "release": j.release, "holds": j.holds, "measured": j.measured, "bound": j.bound}
            for j in result.judged
        ],
        "metrics": dict(result.metrics),
        "untold": list(result.untold),
    }


def _failure(each: Diagnostic) -> dict[str, Any]:
    place = {"file": each.span.file, "line": each.span.line, "column": each.span.column} if each.span else {}
    return {"code": each.code, "message": each.message, "notes": list(each.notes), **place}


def _covered(each: PolicyCoverage) -> dict[str, Any]:
    items = [
        {"kind": i.kind, "id": i.id, "file": i.file, "line": i.line, "exercised": i.exercised}
        | ({} if i.challenged is None else {"challenged": i.challenged})
        for i in each.items
    ]
    return {"policy": each.policy, "tests": each.tests, "items": items}


@dataclass(frozen=True, slots=True)
class JudgedRequirement:
    """A requirement or gate as a test measured it."""

    id: str
    release: str
    holds: bool
    measured: float | int | None
    bound: float
    direction: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What a test has exercised: ids that held, ids that failed, steps that changed something, named values."""

    passed: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """What came of one test.

    ``judged`` are the requirements and gates of the first run that did not meet the expectations, else of the last;
    ``metrics`` its figures; ``untold`` the requirements of which it is not known what is behind the cells, as the
    release was given. ``exit_status`` is 3 where the tool failed.
    """

    file: str
    name: str
    line: int
    policy: str
    outcome: PolicyTestOutcome
    seconds: float
    description: str = ""
    failures: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    verdict: str | None = None
    runs: int = 1
    judged: tuple[JudgedRequirement, ...] = ()
    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    untold: tuple[str, ...] = ()
    exit_status: int = 0
    trace: Trace = Trace()

    @property
    def id(self) -> str:
        """File and name, as ``-k`` looks for them."""
        return f"{self.file}::{self.name}"


@dataclass(frozen=True, slots=True)
class Item:
    """Something of a policy that tests can exercise.

    ``kind`` is ``requirement``, ``gate``, ``step`` or ``value``; ``file`` and ``line`` are where it is written. A
    requirement or gate is ``challenged`` where some test makes it fail; for others that means nothing.
    """

    kind: str
    id: str
    file: str
    line: int
    exercised: bool
    challenged: bool | None = None

    @property
    def points(self) -> tuple[int, int]:
        """How much of it is covered, of how much."""
        if self.challenged is None:
            return int(self.exercised), 1
        return int(self.exercised) + int(self.challenged), 2


@dataclass(frozen=True, slots=True)
class PolicyCoverage:
    """What tests exercise of one policy, and how many there are."""

    policy: str
    tests: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PolicyTestResults:
    """The outcome of all tests. ``unselected`` were left out by name; ``coverage`` is None unless asked for."""

    results: tuple[PolicyTestResult, ...]
    seconds: float
    workers: int
    unselected: int = 0
    coverage: tuple[PolicyCoverage, ...] | None = None
    fail_under: float | None = None

    def count(self, outcome: PolicyTestOutcome) -> int:
        """Return how many tests ended like this."""
        return sum(each.outcome is outcome for each in self.results)

    @property
    def percent(self) -> float | None:
        """How much is covered, in percent; None where nobody asked, or there is nothing to cover."""
        points = [item.points for each in self.coverage or () for item in each.items]
        every = sum(of for _, of in points)
        return 100.0 * sum(got for got, _ in points) / every if every else None

    @property
    def enough(self) -> bool:
        """Whether the coverage is what was asked for."""
        return self.fail_under is None or self.percent is None or self.percent >= self.fail_under - 1e-9

    @property
    def exit_status(self) -> int:
        """0 where all passed, 1 where one did not or the coverage is too low, 3 where the tool failed."""
        worst = max((each.exit_status for each in self.results), default=0)
        if worst >= 3:
            return worst
        return 0 if self.count(PolicyTestOutcome.PASSED) == len(self.results) and self.enough else 1


# Policy tests on a terminal: a line for each, then what failed, then the sum.


_WORDS = {PolicyTestOutcome.PASSED: "ok   ", PolicyTestOutcome.FAILED: "FAIL ", PolicyTestOutcome.ERROR: "ERROR"}
_COLORS = {PolicyTestOutcome.PASSED: "32", PolicyTestOutcome.FAILED: "1;31", PolicyTestOutcome.ERROR: "1;31"}


def line(result: PolicyTestResult, width: int, *, color: bool = False) -> str:
    """Return one line on a test: how it ended, its name, how long it took."""
    word = _painted(_WORDS[result.outcome], _COLORS[result.outcome], color=color)
    took = f"{result.seconds:.2f} s"
    name = printable(result.name)
    return f"  {word} {name}{took:>{max(len(took) + 2, width - 8 - len(name))}}"


def heading(result: PolicyTestResult) -> str:
    """Return the line above the tests of a file."""
    return printable(result.file)


def failure(result: PolicyTestResult, *, color: bool = False) -> str:
    """Return what a test expected and what came of it, with the lines of the test file."""
    title = _painted(f"{printable(result.file)}::{printable(result.name)}", "1", color=color)
    about = f"\n{printable(result.description)}" if result.description else ""
    return f"{title}{about}\n\n{drawing.render(result.failures, result.sources, color=color)}"


def details(result: PolicyTestResult) -> str:
    """Return everything that a test measured."""
    if not result.judged and not result.metrics:
        return ""
    rows = [("", printable(result.name), result.verdict or "", "")]
    for each in result.judged:
        word = "at most" if each.direction == "at_most" else "at least"
        on = f"{each.release}/" if each.release else ""
        value = _number(each.measured)
        rows.append(("ok" if each.holds else "FAIL", f"{on}{each.id}", value, f"{word} {_number(each.bound)}"))
    rows += [("", name, _number(value), "") for name, value in result.metrics.items()]
    width = max(len(name) for _, name, _, _ in rows)
    lines = [f"    {mark:<4}  {name:<{width}}  {value}  {bound}".rstrip() for mark, name, value, bound in rows]
    untold = [f"          {name}: the release was given, so cells count as they are" for name in result.untold]
    return "\n".join([*lines, *untold])


def summary(tested: PolicyTestResults) -> str:
    """Return the sum: ``3 passed, 1 failed in 2.31 s``."""
    parts = [
        f"{tested.count(o)} {w}"
        for o, w in ((PolicyTestOutcome.PASSED, "passed"), (PolicyTestOutcome.FAILED, "failed"))
    ]
    errors = tested.count(PolicyTestOutcome.ERROR)
    parts = [p for p in parts if not p.startswith("0 ")] + ([f"{errors} in error"] if errors else [])
    if tested.unselected:
        parts.append(f"{tested.unselected} not selected")
    by = f", {tested.workers} processes" if tested.workers > 1 else ""
    return f"{', '.join(parts)} in {tested.seconds:.2f} s{by}"


def advice(tested: PolicyTestResults) -> str | None:
    """Return how to see more of the first failure."""
    first = next((r for r in tested.results if r.outcome is not PolicyTestOutcome.PASSED), None)
    return f"all that was measured: ppdm-flow test {first.file} -k {first.name} -v" if first else None


def low(tested: PolicyTestResults) -> Diagnostic | None:
    """Return the fault of a coverage below what was asked for (PPF653)."""
    if tested.enough:
        return None
    text = f"the tests cover {tested.percent:.1f} % of the policies, and {tested.fail_under:g} % are asked for"
    return Diagnostic("PPF653", text, help="the table of coverage names what no test exercises")


def coverage(tested: PolicyTestResults, width: int) -> str:
    """Return a table of what is covered of each policy, and by which file each thing is written in."""
    return "\n".join(_coverage(tested, width))


def _coverage(tested: PolicyTestResults, width: int) -> Iterator[str]:
    covered = tested.coverage or ()
    columns = max([len("policy"), *(len(c.policy) for c in covered)])
    yield f"{'policy':<{columns}}  tests  hold  fail  steps  values  covered"
    for each in covered:
        judged = [i for i in each.items if i.challenged is not None]
        passed, failed = sum(i.exercised for i in judged), sum(bool(i.challenged) for i in judged)
        steps = [i.exercised for i in each.items if i.kind == "step"]
        values = [i.exercised for i in each.items if i.kind == "value"]
        cells = (f"{passed}/{len(judged)}", f"{failed}/{len(judged)}", _of(steps), _of(values))
        row = f"{each.policy:<{columns}}  {each.tests:>5}  {cells[0]:>4}  {cells[1]:>4}  {cells[2]:>5}  {cells[3]:>6}"
        yield f"{row}  {_percent(each.items):>7}"
    yield from _by_file(tested)
    missing = list(_missing(tested))
    if missing:
        yield ""
        yield "not exercised:"
        yield from (f"  {text}"[: max(40, width)] for text in missing)
    if tested.percent is not None:
        yield ""
        yield f"coverage: {tested.percent:.1f} %"


def _by_file(tested: PolicyTestResults) -> Iterator[str]:
    """Yield lines on templates that policies extend: what one policy's tests exercise counts."""
    own = {each.policy for each in tested.coverage or ()}
    lines_of: dict[tuple[str, int, str], list[tuple[int, int]]] = {}
    for each in tested.coverage or ():
        for item in each.items:
            if item.file and item.file not in own:
                lines_of.setdefault((item.file, item.line, item.id), []).append(item.points)
    files = sorted({file for file, _, _ in lines_of})
    if files:
        yield ""
        yield "of which in templates:"
    for file in files:
        best = [max(points) for (at, _, _), points in lines_of.items() if at == file]
        got, of = sum(g for g, _ in best), sum(o for _, o in best)
        yield f"  {file}  {100 * got / of:.0f} %"


def _missing(tested: PolicyTestResults) -> Iterator[str]:
    for each in tested.coverage or ():
        if not each.tests:
            yield f"{each.policy}: no test names this policy"
            continue
        for item in each.items:
            lacks = [] if item.exercised else [_LACK[item.kind]]
            lacks += ["never fails"] if item.challenged is False else []
            if lacks:
                yield f"{item.file}:{item.line}  {item.id}  {', '.join(lacks)}"


_LACK = {
    "requirement": "never holds",
    "gate": "never holds",
    "step": "never changes anything",
    "value": "in no test's data",
}


def _of(flags: list[bool]) -> str:
    return f"{sum(flags)}/{len(flags)}" if flags else "-"


def _percent(items: tuple[Item, ...]) -> str:
    points = [item.points for item in items]
    of = sum(o for _, o in points)
    return f"{100 * sum(g for g, _ in points) / of:.0f} %" if of else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _painted(text: str, code: str, *, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
