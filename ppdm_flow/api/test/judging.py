"""What happened in a test against what was expected: each difference is drawn at its line (PPF652)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.requirement import TOLERANCE, within
from ppdm_flow.core.results import HELD, RELEASED, Figure, Finding, RequirementResult
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.run.scratch_run import CandidateContents
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.test import (
    ExpectedContents,
    ExpectedFigure,
    ExpectedNames,
    ExpectedSuppression,
    LoadedTests,
    PolicyTestCase,
    says,
)

CODE = "PPF652"
_APPROVED = "everything holds, and the policy's `approvals` say who has to sign before it is released"
_UNAPPROVED = "everything holds, and nobody has to approve it: the policy has no `approvals`"


@dataclass(frozen=True, slots=True)
class CheckedPolicy:
    """What `check` says of the policy."""

    diagnostics: tuple[Diagnostic, ...]

    def codes(self) -> frozenset[str]:
        """Return the codes of its errors and warnings."""
        return frozenset(d.code for d in self.diagnostics if d.severity is not Severity.INFO)


@dataclass(frozen=True, slots=True)
class PolicyTestRun:
    """One run of a test. ``given`` says that the release was given, ``shown`` that its values may be told."""

    verdict: str
    judged: tuple[RequirementResult, ...] = ()
    metrics: Mapping[str, Figure] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    contents: Mapping[str, CandidateContents] = field(default_factory=dict)
    refused: tuple[Diagnostic, ...] = ()
    changed: frozenset[str] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()
    shown: bool = True
    given: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares one test with what happened. ``shown`` says that the data stands in the test file."""

    file: LoadedTests
    name: str
    case: PolicyTestCase
    shown: bool

    def checked(self, policy: CheckedPolicy) -> Iterator[Diagnostic]:
        """Yield the differences from what `check` is expected to say."""
        if self.case.expect.check is None:
            return
        codes = policy.codes()
        for text, key in _differences(self.case.expect.check, codes, "`check` says nothing of", "`check` reports"):
            said = [d for d in policy.diagnostics if d.code in text and d.severity is not Severity.INFO]
            related = tuple(RelatedPlace(d.span, d.message) for d in said if d.span is not None)[:3]
            yield self._fault(text, ("check", key), related=related)

    def policy_errors(self, errors: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield the policy's own errors, unless the test expects one of them by its code."""
        expect = self.case.expect
        if expect.code is not None and any(d.code == expect.code for d in errors):
            return
        first = errors[0]
        related = (RelatedPlace(first.span, f"{first.code}: {first.message}"),) if first.span else ()
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        text = f"the policy cannot be run: it has errors ({first.code}{more})"
        yield self._fault(text, ("code",) if expect.code else ("verdict",), related=related)

    def happened(self, run: PolicyTestRun) -> Iterator[Diagnostic]:
        """Yield every difference from what is expected of the run."""
        expect = self.case.expect
        wanted = expect.verdict or ("refused" if expect.code is not None else None)
        if run.verdict == "refused" or wanted == "refused":
            yield from self._refusal(run, wanted)
            return
        if wanted is not None and run.verdict != wanted:
            yield self._verdict(run, wanted)
        yield from self._fails(run)
        for number_, each in enumerate(expect.waived):
            yield from self._waived(each, number_, run)
        for number_, each in enumerate(expect.holds):
            yield from self._holds(each, number_, run)
        for name, figure in expect.metrics.items():
            yield from self._metric(name, figure, run)
        codes = frozenset(f.code for f in run.findings)
        if expect.findings is not None:
            for text, key in _differences(expect.findings, codes, "no finding is", "there is a finding"):
                yield self._fault(text, ("findings", key))
        yield from self._contents(run)

    def _refusal(self, run: PolicyTestRun, wanted: str | None) -> Iterator[Diagnostic]:
        expect = self.case.expect
        if run.verdict != "refused":
            key = "verdict" if expect.verdict else "code"
            yield self._fault(f"expected to be refused, and it was {run.verdict}", (key,), hint=run.verdict)
            return
        codes = [d.code for d in run.refused]
        notes = tuple(f"{d.code}: {d.message}" for d in run.refused[:5])
        if wanted != "refused":
            text = f"expected {f'`{wanted}`' if wanted else 'a run'}, and the input was refused ({listing(codes)})"
            yield self._fault(text, ("verdict",), hint="refused", notes=notes)
        elif expect.code is not None and expect.code not in codes:
            text = f"refused with {listing(codes)}, not with {expect.code}"
            yield self._fault(text, ("code",), hint=listing(codes), notes=notes)

    def _verdict(self, run: PolicyTestRun, wanted: str) -> Diagnostic:
        failing = [r for r in run.judged if not r.passes]
        notes = tuple(f"`{r.id}` fails: {r.sentence}" for r in failing[:5])
        if HELD in (run.verdict, wanted) and RELEASED in (run.verdict, wanted):
            notes = (_APPROVED if run.verdict == HELD else _UNAPPROVED,)
        text = f"expected `{wanted}`, and the verdict is `{run.verdict}`"
        return self._fault(text, ("verdict",), hint=run.verdict, notes=notes)

    def _fails(self, run: PolicyTestRun) -> Iterator[Diagnostic]:
        some = self.case.expect.fails
        if some is None:
            return
        failing = [r for r in run.judged if not r.passes]
        for key in ("exactly", "include", "exclude"):
            for number_, each in enumerate(getattr(some, key) or ()):
                meant = _meant(each, run.judged)
                if key == "exclude":
                    yield from (self._fails_too(r, ("fails", key, str(number_))) for r in meant if not r.passes)
                elif not any(not r.passes for r in meant):
                    yield self._unmet(each, meant, "fail", ("fails", key, str(number_)))
        if some.exactly is not None:
            known = {(r.id, r.release) for each in some.exactly for r in _meant(each, run.judged)}
            for result in failing:
                if (result.id, result.release) not in known:
                    yield self._fails_too(result, ("fails",))

    def _waived(self, each: str, number_: int, run: PolicyTestRun) -> Iterator[Diagnostic]:
        meant = _meant(each, run.judged)
        if not any(r.waived_by for r in meant):
            does = "it holds" if meant and all(r.holds for r in meant) else "no waiver covers it"
            text = f"`{each}` is expected to fail and be waived, and {does if meant else 'it was not judged'}"
            hint = _measured(meant[0]) if meant else None
            yield self._fault(text, ("waived", str(number_)), hint=hint, related=_written(meant[0]) if meant else ())

    def _holds(self, each: str, number_: int, run: PolicyTestRun) -> Iterator[Diagnostic]:
        meant = _meant(each, run.judged)
        if not meant or not all(r.holds for r in meant):
            yield self._unmet(each, [r for r in meant if not r.holds], "hold", ("holds", str(number_)))

    def _unmet(self, each: str, meant: Sequence[RequirementResult], verb: str, path: PolicyPath) -> Diagnostic:
        if not meant:
            return self._fault(f"`{each}` was not judged", path)
        does = "fails" if verb == "hold" else "holds"
        text = f"`{each}` is expected to {verb}, and it {does}"
        return self._fault(text, path, hint=_measured(meant[0]), related=_written(meant[0]), notes=(meant[0].sentence,))

    def _fails_too(self, result: RequirementResult, path: PolicyPath) -> Diagnostic:
        on = f" on `{result.release}`" if result.release else ""
        text = f"`{result.id}`{on} fails, and is not expected to"
        return self._fault(text, path, hint=_measured(result), related=_written(result), notes=(result.sentence,))

    def _metric(self, name: str, figure: ExpectedFigure, run: PolicyTestRun) -> Iterator[Diagnostic]:
        release, _, own = name.rpartition("/")
        plain = own if [release] == list(run.contents) else name  # with one release, figures do not carry its name
        figures = {n: f for n, f in run.metrics.items() if plain == n or plain == n.partition("/")[2]}
        path = ("metrics", name)
        if not figures:
            hint = did_you_mean(name, run.metrics)
            notes = ("figures that need the steps are absent where the release is given",) if run.given else ()
            yield self._fault(f"there is no figure `{name}`", path, hint=hint, notes=notes)
        for full, measured in figures.items():
            if not meets(figure, measured.value):
                value = "does not exist" if measured.value is None else f"is {number(measured.value)}"
                notes = (measured.note,) if measured.value is None and measured.note else ()
                text = f"`{full}` {value}, and is expected to be {bounds(figure)}"
                yield self._fault(text, (*path, _key(figure, measured.value)), hint=value, notes=notes)

    def _contents(self, run: PolicyTestRun) -> Iterator[Diagnostic]:
        expect = self.case.expect
        looking = ContentsCheck(shown=self.shown and run.shown)
        wanted = {**expect.releases}
        paths: dict[str, PolicyPath] = {name: ("releases", name) for name in wanted}
        if says(expect) and len(run.contents) == 1:
            name = next(iter(run.contents))
            wanted, paths = {name: expect}, {name: ()}
        for name, contents in wanted.items():
            for text, path, hint in looking.differences(contents, run.contents[name]):
                yield self._fault(text, (*paths[name], *path), hint=hint)

    def _fault(
        self,
        text: str,
        path: PolicyPath,
        hint: str | None = None,
        related: tuple[RelatedPlace, ...] = (),
        notes: Iterable[str] = (),
    ) -> Diagnostic:
        place = ("tests", self.name, "expect", *path)
        at = self.file.places
        span = at.value(*place) if place in at.values else None
        if span is None or span.end_line > span.line:
            span = at.key(*place)
        return Diagnostic(CODE, text, span, hint=hint, related=related, notes=tuple(notes), path=place)


def _meant(each: str, judged: Sequence[RequirementResult]) -> list[RequirementResult]:
    release, slash, own = each.rpartition("/")
    return [r for r in judged if r.id == own and (not slash or r.release == release)]


def _measured(result: RequirementResult) -> str:
    if result.measured is None:
        return "not measured"
    word = "at most" if result.direction == "at_most" else "at least"
    return f"measured {number(result.measured)}, {word} {number(result.bound)}"


def _written(result: RequirementResult) -> tuple[RelatedPlace, ...]:
    return (RelatedPlace(result.span, "required here"),) if result.span is not None else ()


def _differences(some: ExpectedNames, actual: frozenset[str], absent: str, present: str) -> Iterator[tuple[str, str]]:
    """Yield what is not there and should be, and the other way round, with the key that says so."""
    for key in ("exactly", "include"):
        for each in getattr(some, key) or ():
            if each not in actual:
                yield f"{absent} {each}", key
    unwanted = actual - set(some.exactly) if some.exactly is not None else actual & set(some.exclude)
    for each in sorted(unwanted):
        yield f"{present} {each}, and is not expected to", "exactly" if some.exactly is not None else "exclude"


def _key(figure: ExpectedFigure, value: float | None) -> str:
    if figure.equals is not None:
        return "equals"
    low = value is None or (figure.min is not None and value < figure.min)
    return "min" if low and figure.min is not None else "max"


# What a release holds against what a test expects of it.


def meets(figure: ExpectedFigure, value: float | None) -> bool:
    """Whether a measured figure is as expected; one that does not exist never is."""
    if value is None:
        return False
    if figure.equals is not None:
        slack = TOLERANCE * max(1.0, abs(figure.equals)) if figure.tolerance is None else figure.tolerance
        return abs(value - figure.equals) <= slack + TOLERANCE * max(1.0, abs(figure.equals))
    low = figure.min is None or within(value, figure.min, at_most=False)
    return low and (figure.max is None or within(value, figure.max, at_most=True))


def bounds(figure: ExpectedFigure) -> str:
    """Say what is expected: ``4``, ``at least 1 and at most 4``."""
    if figure.equals is not None:
        return number(figure.equals) + (f" ± {number(figure.tolerance)}" if figure.tolerance else "")
    low = f"at least {number(figure.min)}" if figure.min is not None else ""
    high = f"at most {number(figure.max)}" if figure.max is not None else ""
    return f"{low} and {high}" if low and high else low or high


def number(value: float) -> str:
    """Write a figure as a reader wants it: whole ones whole, others with six digits."""
    integral = float(value).is_integer() and abs(value) < 1e15
    return f"{int(value)}" if integral else f"{value:.6g}"


def listing(names: Iterable[str], limit: int = 8) -> str:
    """Return names in a row, each once."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


Difference = tuple[str, PolicyPath, str | None]
"""What is different, the place below the expected contents, and a word beside the caret."""


@dataclass(frozen=True, slots=True)
class ContentsCheck:
    """``shown`` says that the data stands in the test file: then values that it does not name may be told."""

    shown: bool

    def differences(self, wanted: ExpectedContents, contents: CandidateContents) -> Iterator[Difference]:
        """Yield every difference."""
        if wanted.rows is not None and not meets(wanted.rows, contents.rows):
            yield f"{contents.rows} rows, and expected are {bounds(wanted.rows)}", ("rows",), f"{contents.rows}"
        if wanted.columns is not None:
            yield from self._names("column", wanted.columns, contents.columns, ("columns",), show_values=True)
        for column, some in wanted.released_values.items():
            path = ("released_values", column)
            if column not in contents.values:
                yield f"the release has no column `{column}`", path, None
            else:
                yield from self._names("value", some, contents.values[column], path, show_values=self.shown)
        for column, hidden in wanted.suppressed.items():
            yield from _hidden(column, hidden, contents)

    def _names(
        self, noun: str, some: ExpectedNames, present: Iterable[str], path: PolicyPath, *, show_values: bool
    ) -> Iterator[Difference]:
        there = set(present)
        for key in ("exactly", "include"):
            for number, each in enumerate(getattr(some, key) or ()):
                if each not in there:
                    yield f"{noun} `{each}` is not in the release", (*path, key, str(number)), None
        if some.exactly is not None and (more := sorted(there - set(some.exactly))):
            names = listing(f"`{each}`" for each in more) if show_values else f"{len(more)} more"
            yield f"the release has {noun}s that are not expected: {names}", (*path, "exactly"), None
        for number, each in enumerate(some.exclude):
            if each in there:
                yield f"{noun} `{each}` is in the release", (*path, "exclude", str(number)), None


def _hidden(column: str, wanted: ExpectedSuppression, contents: CandidateContents) -> Iterator[Difference]:
    path = ("suppressed", column)
    if column not in contents.hidden:
        yield f"the release has no column `{column}`", path, None
        return
    counted = contents.hidden[column]
    for key in ("somewhere", "everywhere", "nowhere"):
        for number, value in enumerate(getattr(wanted, key)):
            text = _misplaced(key, value, counted)
            if text:
                yield text, (*path, key, str(number)), None


def _misplaced(key: str, value: str, counted: Mapping[str, tuple[int, int]]) -> str | None:
    rows, gone = counted.get(value, (0, 0))
    if not rows:
        return f"the data has no row with `{value}`"
    if key == "somewhere":
        return None if gone else f"`{value}` is suppressed in none of its {rows} rows"
    if key == "everywhere":
        return None if gone == rows else f"`{value}` is suppressed in {gone} of its {rows} rows"
    return f"`{value}` is suppressed in {gone} of its {rows} rows" if gone else None
