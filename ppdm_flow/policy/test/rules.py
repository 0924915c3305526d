"""What a test says against itself, before any policy is looked at (PPF141, PPF145, PPF146)."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.policy.test.models import (
    CaseFile,
    ExpectedContents,
    ExpectedFigure,
    ExpectedNames,
    ExpectedResult,
    ExpectedSuppression,
    PolicyTestCase,
    PolicyTestTable,
)
from ppdm_flow.policy.test.tables import given


def figures(figure: ExpectedFigure | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected figure."""
    if figure is None:
        return
    bounded = figure.min is not None or figure.max is not None
    if figure.equals is None and not bounded:
        yield _key_fault(
            "PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give `equals`, `min` or `max`"
        )
    if figure.equals is not None and bounded:
        yield _key_fault("PPF145", "`equals` leaves nothing to `min` and `max`", at, (*path, "equals"))
    if figure.min is not None and figure.max is not None and figure.min > figure.max:
        text = f"nothing is at least {number(figure.min)} and at most {number(figure.max)}"
        yield _key_fault("PPF145", text, at, (*path, "min"))
    if figure.tolerance is not None and figure.equals is None:
        yield _key_fault("PPF145", "`tolerance` goes with `equals`", at, (*path, "tolerance"))


def names(some: ExpectedNames | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected set of names."""
    if some is None:
        return
    if some.exactly is None and not some.include and not some.exclude:
        yield _key_fault("PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give a list, or `include`")
    if some.exactly is not None and (some.include or some.exclude):
        yield _key_fault("PPF145", "`exactly` leaves nothing to `include` and `exclude`", at, (*path, "exactly"))
    for place, each in enumerate(some.exclude):
        if each in some.include:
            text = f"`{short(each)}` is both included and excluded"
            yield _key_fault("PPF145", text, at, (*path, "exclude", str(place)))


def places(hidden: ExpectedSuppression, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield what is wrong with the values that are expected to be suppressed."""
    if not (hidden.somewhere or hidden.everywhere or hidden.nowhere):
        text = f"nothing is expected of `{short(path[-1])}`"
        yield _key_fault("PPF141", text, at, path, "list values that are suppressed")
    for number_, each in enumerate(hidden.nowhere):
        if each in hidden.somewhere or each in hidden.everywhere:
            text = f"`{short(each)}` is expected to be suppressed, and not to be"
            yield _key_fault("PPF145", text, at, (*path, "nowhere", str(number_)))


def _key_fault(code: str, text: str, at: ResolvedPlaces, path: PolicyPath, hint: str | None = None) -> Diagnostic:
    return Diagnostic(code, text, _nearest(at, path), hint=hint, path=path)


def _nearest(at: ResolvedPlaces, path: PolicyPath) -> Span | None:
    return at.value(*path) if path[-1].isdecimal() else at.key(*path)


FORMS = "`text`, `rows`, `csv` and `file`"


def judge(cases: CaseFile, at: ResolvedPlaces) -> list[Diagnostic]:
    """Return the faults of every test."""
    diagnostics = [*_table(cases.data, ("data",), at), *_tables(cases, (), at)]
    for name, case in cases.tests.items():
        path = ("tests", name)
        diagnostics += [*_table(case.data, (*path, "data"), at), *_table(case.released, (*path, "released"), at)]
        diagnostics += _tables(case, path, at)
        diagnostics += [*_case(name, case, path, at, shared=cases.data is not None or bool(cases.tables))]
        diagnostics += [*_verdict(case.expect, (*path, "expect"), at), *_expect(case.expect, (*path, "expect"), at)]
    return diagnostics


def expects_a_run(expect: ExpectedResult) -> bool:
    """Whether there is anything to look at but what `check` says."""
    return bool(expect.model_fields_set - {"check"})


def says(contents: ExpectedContents) -> set[str]:
    """Return which keys about a released file are given."""
    return contents.model_fields_set & {"rows", "columns", "released_values", "suppressed"}


def _table(table: PolicyTestTable | None, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    if table is not None and len(forms := given(table)) != 1:
        what = f"both `{forms[0]}` and `{forms[1]}`" if forms else "no rows"
        yield _fault("PPF146", f"`{path[-1]}` has {what}", at, path, f"it takes one of {FORMS}")


def _tables(owner: CaseFile | PolicyTestCase, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Judge the data of linked tables."""
    for name, table in owner.tables.items():
        yield from _table(table, (*path, "tables", name), at)
    if owner.tables and owner.data is not None:
        text = "`data` is of one table, and `tables` of linked ones"
        yield _fault("PPF146", text, at, (*path, "tables"), "leave one of the two out")


def _case(
    name: str, case: PolicyTestCase, path: PolicyPath, at: ResolvedPlaces, *, shared: bool
) -> Iterator[Diagnostic]:
    run = expects_a_run(case.expect)
    if not case.expect.model_fields_set:
        yield _fault("PPF141", f"test `{name}` expects nothing", at, (*path, "expect"), "add `verdict: released`")
    elif run and case.data is None and not case.tables and not shared:
        yield _fault("PPF141", f"test `{name}` has no `data` to run on", at, path, "add `data: |` and a small table")
    elif not run and (case.data is not None or case.tables or case.released is not None):
        key = "data" if case.data is not None else "tables" if case.tables else "released"
        text = f"test `{name}` has `{key}`, and expects nothing of a run"
        yield _fault("PPF141", text, at, (*path, key), "add `verdict: …` to `expect`, or remove the data")
    if case.release is not None and case.released is None:
        yield _fault("PPF145", "`release` says what `released` is, which is not given", at, (*path, "release"))
    if case.released is not None and case.repeat > 1:
        yield _fault("PPF145", "nothing is random where `released` is given", at, (*path, "repeat"), "remove `repeat`")
    if case.released is not None:
        yield from _given_release(case.expect, (*path, "expect"), at)


def _given_release(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    if expect.suppressed:
        text = "`suppressed` needs the steps: rows of a given release cannot be paired with those of the data"
        yield _fault("PPF145", text, at, (*path, "suppressed"), "use `released_values`")
    if expect.releases:
        text = "a given release is judged alone: `releases` has no place here"
        yield _fault("PPF145", text, at, (*path, "releases"), "write its keys under `expect`")


def _verdict(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    refused = expect.verdict == "refused" or (expect.verdict is None and expect.code is not None)
    given_ = expect.model_fields_set
    if expect.code is not None and not refused:
        text = f"`code` is that of refused input, and the verdict is `{expect.verdict}`"
        yield _fault("PPF145", text, at, (*path, "code"), "write `verdict: refused`")
    if refused:
        for key in sorted(given_ - {"verdict", "code", "check"}):
            yield _fault("PPF145", f"refused data comes to no release, so there is no `{key}`", at, (*path, key))
    failing = {*(expect.fails.exactly or ()), *expect.fails.include} if expect.fails else set()
    if expect.verdict in ("released", "held") and failing:
        yield _fault("PPF145", f"what fails is withheld, not {expect.verdict}", at, (*path, "fails"))
    if expect.verdict == "withheld" and expect.fails and expect.fails.exactly == ():
        yield _fault("PPF145", "a release is withheld because something fails", at, (*path, "fails"))
    for key, named in (("holds", expect.holds), ("waived", expect.waived)):
        for place, each in enumerate(named):
            if each in failing or (key == "waived" and each in expect.holds):
                text = f"`{each}` cannot both fail and hold" if key == "holds" else f"`{each}` is waived, or it is not"
                yield _fault("PPF145", text, at, (*path, key, str(place)))


def _expect(expect: ExpectedResult, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    for key in ("fails", "findings", "check"):
        yield from names(getattr(expect, key), (*path, key), at)
    for name, figure in expect.metrics.items():
        yield from figures(figure, (*path, "metrics", name), at)
    yield from _contents(expect, path, at)
    for name, contents in expect.releases.items():
        if not says(contents):
            text = f"nothing is expected of release `{name}`"
            yield _fault("PPF141", text, at, (*path, "releases", name))
        yield from _contents(contents, (*path, "releases", name), at)


def _contents(contents: ExpectedContents, path: PolicyPath, at: ResolvedPlaces) -> Iterator[Diagnostic]:
    yield from figures(contents.rows, (*path, "rows"), at)
    yield from names(contents.columns, (*path, "columns"), at)
    for column, values in contents.released_values.items():
        yield from names(values, (*path, "released_values", column), at)
    for column, hidden in contents.suppressed.items():
        yield from places(hidden, (*path, "suppressed", column), at)


def _fault(code: str, text: str, at: ResolvedPlaces, path: PolicyPath, hint: str | None = None) -> Diagnostic:
    span = at.value(*path) if path[-1].isdecimal() else at.key(*path)
    return Diagnostic(code, text, span, hint=hint, path=path)
