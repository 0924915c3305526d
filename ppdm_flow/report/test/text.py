"""Policy tests on a terminal: a line for each, then what failed, then the sum."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.report import diagnostics as drawing
from ppdm_flow.report.snippet import printable
from ppdm_flow.report.test.results import Item, PolicyTestOutcome, PolicyTestResult, PolicyTestResults

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
        held, failed = sum(i.exercised for i in judged), sum(bool(i.challenged) for i in judged)
        steps = [i.exercised for i in each.items if i.kind == "step"]
        values = [i.exercised for i in each.items if i.kind == "value"]
        cells = (f"{held}/{len(judged)}", f"{failed}/{len(judged)}", _of(steps), _of(values))
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
    """Tell of templates that policies extend: what one policy's tests exercise counts."""
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
