"""Names in a test file against the policy that it tests (PPF143, PPF147 to PPF149, PPF615)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.file_sets import is_file_set
from ppdm_flow.core.pages import pages
from ppdm_flow.core.results import PERSONAL_DATA
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.formats import handling
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.test import (
    CaseFile,
    ExpectedContents,
    ExpectedNames,
    LoadedTests,
    PolicyTestCase,
    PolicyTestTable,
    says,
)

_GLOB = frozenset("*?[")


def files_there(file: LoadedTests) -> Iterator[Diagnostic]:
    """Yield a fault for every data file that is not there."""
    if file.cases is None:
        return
    yield from _files(file, file.cases, ())
    for name, case in file.cases.tests.items():
        yield from _files(file, case, ("tests", name))
        yield from _file(file, case.released, ("tests", name, "released"))


def _files(file: LoadedTests, owner: CaseFile | PolicyTestCase, path: PolicyPath) -> Iterator[Diagnostic]:
    yield from _file(file, owner.data, (*path, "data"))
    for name, table in owner.tables.items():
        yield from _file(file, table, (*path, "tables", name))


def _file(file: LoadedTests, table: PolicyTestTable | None, path: PolicyPath) -> Iterator[Diagnostic]:
    for key in ("csv", "file") if table is not None else ():
        name = getattr(table, key)
        if name is not None and not (file.beside(name).is_file() or is_file_set(file.beside(name))):
            place = file.beside(name)
            there = sorted(p.name for p in place.parent.iterdir() if p.is_file()) if place.parent.is_dir() else []
            hint = did_you_mean(place.name, there)
            yield Diagnostic("PPF149", f"there is no file {place}", file.places.value(*path, key), hint=hint)


@dataclass(frozen=True, slots=True)
class PolicyTestNames:
    """One test beside the plan that it is about."""

    file: LoadedTests
    name: str
    case: PolicyTestCase
    plan: Plan

    def faults(self) -> Iterator[Diagnostic]:
        """Yield everything that the test names and the policy does not have."""
        expect, path = self.case.expect, ("tests", self.name, "expect")
        yield from self._some(expect.fails, (*path, "fails"))
        yield from self._listed(expect.holds, (*path, "holds"))
        yield from self._listed(expect.waived, (*path, "waived"))
        for metric in expect.metrics:
            yield from self._metric(metric, (*path, "metrics", metric))
        yield from self._releases(path)
        yield from self._sets()

    def _sets(self) -> Iterator[Diagnostic]:
        """Sets of items have no rows of single values."""
        kind = self.plan.source.format
        shared = self.file.cases.data if self.file.cases is not None else None
        path = ("tests", self.name, "data") if self.case.data is not None else ("data",)
        table = self.case.data or shared
        if table is not None and table.rows is not None and kind and handling("sources", kind) == "only":
            text = "rows of single values are no sets"
            hint = f"write `data: |` as a file of format `{kind}` has it"
            yield Diagnostic("PPF146", text, self.file.places.key(*path), hint=hint, path=path)

    def _some(self, some: ExpectedNames | None, path: PolicyPath) -> Iterator[Diagnostic]:
        for key in ("exactly", "include", "exclude") if some is not None else ():
            yield from self._listed(getattr(some, key) or (), (*path, key))

    def _listed(self, ids: Iterable[str], path: PolicyPath) -> Iterator[Diagnostic]:
        known = [*(r.id for r in self.plan.requirements), *(g.id for g in self.plan.gates), PERSONAL_DATA]
        for number, each in enumerate(ids):
            release, slash, own = each.rpartition("/")
            place = (*path, str(number))
            if slash and release not in self._known():
                yield self._release(release, place)
            elif own not in known:
                text = f"the policy has no requirement or gate `{short(own)}`"
                yield self._fault("PPF143", text, place, own, known, _among(known))

    def _metric(self, metric: str, path: PolicyPath) -> Iterator[Diagnostic]:
        release, slash, own = metric.rpartition("/")
        owners = [r.id for r in self.plan.requirements]
        owners += [*(n.name for n in self.plan.steps), *dict.fromkeys(n.name for n in self.plan.audits)]
        if slash and release not in self._known():
            yield self._release(release, path)
        elif own in owners:
            text = f"`{short(own)}` is not a complete metric: write `{short(own)}.FIGURE`"
            yield Diagnostic("PPF615", text, self.file.places.key(*path))
        elif not any(own.startswith(f"{owner}.") for owner in owners):
            owner = own.rpartition(".")[0] if own.startswith("privacy.") else own.partition(".")[0]
            text = f"no audit, step or requirement is named `{short(owner or own)}`"
            yield self._fault("PPF615", text, path, owner or own, owners)

    def _releases(self, path: PolicyPath) -> Iterator[Diagnostic]:
        expect, case, known = self.case.expect, self.case, self._known()
        keys = says(expect)
        if case.release is not None and case.release not in known:
            yield self._release(case.release, ("tests", self.name, "release"))
        elif case.released is not None and case.release is None and len(known) > 1:
            text = f"which of the releases {_among(known)} is `released`?"
            yield Diagnostic("PPF147", text, self.file.places.key(*path[:2], "released"), hint="add `release: NAME`")
        elif keys and len(known) > 1 and case.released is None:
            key = min(keys)
            text = f"the policy has several releases: of which is `{key}`?"
            hint = f"write `releases: {{{known[0]}: {{{key}: …}}}}`"
            yield Diagnostic("PPF147", text, self.file.places.key(*path, key), hint=hint)
        elif keys:
            yield from self._columns(expect, case.release or known[0], path)
        for name, contents in expect.releases.items():
            place = (*path, "releases", name)
            yield from [self._release(name, place)] if name not in known else self._columns(contents, name, place)

    def _columns(self, contents: ExpectedContents, release: str, path: PolicyPath) -> Iterator[Diagnostic]:
        node = next(r for r in self.plan.releases if r.name == release)
        known = [a.name for a in node.attributes]
        if any(not _GLOB.isdisjoint(name) for name in (*known, *self.plan.source.patterns)):
            return  # which columns there are is known with the data
        named = [(*path, key, c) for key in ("released_values", "suppressed") for c in getattr(contents, key)]
        some = contents.columns or ExpectedNames()
        for key in ("exactly", "include"):
            named += [(*path, "columns", key, str(i)) for i, _ in enumerate(getattr(some, key) or ())]
        for place in named:
            column = getattr(some, place[-2])[int(place[-1])] if place[-3] == "columns" else place[-1]
            if column not in known:
                text = f"release `{release}` has no column `{short(column)}`"
                yield self._fault("PPF147", text, place, column, known, f"it has {_among(known)}")
        yield from self._excluded(some.exclude, known, path)

    def _excluded(self, columns: Iterable[str], released: Sequence[str], path: PolicyPath) -> Iterator[Diagnostic]:
        """A column that is nowhere is excluded for ever: where its name is nearly one that is there, it is meant."""
        known = list(dict.fromkeys((*released, *(a.name for a in self.plan.source.attributes))))
        for number, column in enumerate(columns):
            if column not in known and closest(column, known):
                text = f"the policy has no column `{short(column)}`"
                yield self._fault("PPF147", text, (*path, "columns", "exclude", str(number)), column, known)

    def _known(self) -> list[str]:
        joins = [release.name for join in self.plan.joins for release in join.plan.releases]
        return [*(r.name for r in self.plan.releases), *joins]

    def _release(self, name: str, path: PolicyPath) -> Diagnostic:
        text = f"the policy has no release `{short(name)}`"
        return self._fault("PPF147", text, path, name, self._known(), f"it has {_among(self._known())}")

    def _fault(
        self, code: str, text: str, path: PolicyPath, name: str, known: Sequence[str], help_: str | None = None
    ) -> Diagnostic:
        near = closest(name, known)
        at = self.file.places
        span = at.value(*path) if path[-1].isdecimal() else at.values.get(path) if path[-1] == "release" else None
        hint = f"did you mean `{near}`?" if near else None
        return Diagnostic(code, text, span or at.key(*path), hint=hint, help=None if near else help_, path=path)


def codes_known(file: LoadedTests) -> Iterator[Diagnostic]:
    """Yield a fault for every code that ppdm-flow does not have."""
    for path, code in _codes(file):
        if code.startswith("PPF") and code not in pages():
            hint = did_you_mean(code, pages())
            yield Diagnostic("PPF148", f"there is no code `{short(code)}`", file.places.value(*path), hint=hint)


def _codes(file: LoadedTests) -> Iterator[tuple[PolicyPath, str]]:
    for name, case in file.cases.tests.items() if file.cases is not None else ():
        path = ("tests", name, "expect")
        if case.expect.code is not None:
            yield (*path, "code"), case.expect.code
        for key in ("check", "findings"):
            some = getattr(case.expect, key) or ExpectedNames()
            for form in ("exactly", "include", "exclude"):
                yield from (((*path, key, form, str(i)), c) for i, c in enumerate(getattr(some, form) or ()))


def _among(names: Sequence[str]) -> str:
    return ", ".join(f"`{short(name)}`" for name in names[:12]) + (", …" if len(names) > 12 else "")
