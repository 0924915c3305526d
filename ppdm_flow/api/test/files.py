"""Finding test files, and checking them against the policies that they test; no data is read."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.api.loading.policies import expanded, is_test, sound_project
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.file_sets import is_file_set
from ppdm_flow.core.pages import pages
from ppdm_flow.core.results import PERSONAL_DATA
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.formats import handling
from ppdm_flow.policy import load as load_policy
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.loaded import PolicyReading as Policy
from ppdm_flow.policy.test import (
    CaseFile,
    ExpectedContents,
    ExpectedNames,
    LoadedTests,
    PolicyTestCase,
    PolicyTestTable,
    load,
    says,
)


def find(words: Sequence[str | Path]) -> tuple[Path, ...]:
    """Return the test files that files, folders and glob patterns mean, each once.

    Raises UsageError for none, PolicyError where that may be since the project file has faults.
    """
    test_files = dict.fromkeys(p for word in words for p, named in expanded(str(word)) if is_test(p) or named)
    if not test_files:
        sound_project()
        names = ", ".join(f"`{word}`" for word in words)
        text = f"no tests found in {names}"
        raise UsageError(Diagnostic("PPF690", text, help="tests are files `*.test.yaml`: give them or their folder"))
    return tuple(test_files)


@dataclass(slots=True)
class CompiledPolicies:
    """Policies as they were read and compiled, each once for each set of params."""

    _found: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Policy, CompileResult]] = field(default_factory=dict)

    def compiled(self, path: Path, sets: Mapping[str, str]) -> tuple[Policy, CompileResult]:
        """Return the policy and its plan. Raises UsageError where the file cannot be read."""
        key = (str(path), tuple(sorted(sets.items())))
        if key not in self._found:
            loaded = load_policy(path, sets)
            self._found[key] = (loaded, compile_policy(loaded))
        return self._found[key]


def sets_of(file: LoadedTests, name: str) -> dict[str, str]:
    """Return the params of a test: its own over those of its file."""
    if file.cases is None:
        return {}
    return {**file.cases.set, **file.cases.tests[name].set}


def read(paths: Iterable[Path]) -> tuple[tuple[LoadedTests, ...], tuple[Diagnostic, ...], dict[str, str]]:
    """Return the test files, everything that is wrong with them, and their texts."""
    policies = CompiledPolicies()
    files = [examined(path, policies) for path in paths]
    sources = {name: text for file in files for name, text in file.sources.items()}
    return tuple(files), in_order(d for file in files for d in file.diagnostics), sources


def examined(path: Path, policies: CompiledPolicies) -> LoadedTests:
    """Return a test file with everything that is wrong with it, by itself and beside its policy."""
    return beside_policy(load(path), policies)


def beside_policy(file: LoadedTests, policies: CompiledPolicies) -> LoadedTests:
    """Return a test file that was read, with what is wrong with it beside its policy."""
    return replace(file, diagnostics=in_order((*file.diagnostics, *checked(file, policies))))


def checked(file: LoadedTests, policies: CompiledPolicies) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a test file beside its policy. What is wrong with the policy itself is left out."""
    if file.cases is None or has_errors(file.diagnostics):
        return ()
    diagnostics = [*files_there(file), *codes_known(file)]
    for name, case in file.cases.tests.items():
        sets = sets_of(file, name)
        try:
            _, compiled = policies.compiled(file.policy, sets)
            wrong = {_param(d, sets): d for d in compiled.diagnostics if d.span is None and d.code == "PPF310"}
            if wrong:
                _, compiled = policies.compiled(file.policy, {k: v for k, v in sets.items() if k not in wrong})
        except UsageError as error:
            return (*diagnostics, _no_policy(file, error))
        diagnostics += [_placed(fault, param, file, name) for param, fault in wrong.items()]
        if compiled.plan is not None:
            diagnostics += PolicyTestNames(file, name, case, compiled.plan).faults()
    return tuple(diagnostics)


def _param(fault: Diagnostic, sets: Mapping[str, str]) -> str:
    """Return which of the given params the policy does not have."""
    return next((name for name in sets if fault.message.endswith(f" has no param `{name}`")), "")


def _placed(fault: Diagnostic, param: str, file: LoadedTests, name: str) -> Diagnostic:
    """Give a param that the policy does not have its place in the test file."""
    paths = (("tests", name, "set", param), ("set", param))
    span = next((file.places.keys[p] for p in paths if p in file.places.keys), file.places.key("policy"))
    return replace(fault, message=fault.message.removeprefix("--set: "), span=span)


def _no_policy(file: LoadedTests, error: UsageError) -> Diagnostic:
    place = file.policy
    there = sorted(p.name for p in place.parent.glob("*.y*ml")) if place.parent.is_dir() else []
    reason = error.diagnostics[0].message.rpartition(": ")[2]
    hint = did_you_mean(place.name, [name for name in there if not is_test(Path(name))])
    return Diagnostic("PPF100", f"cannot read the policy {place}: {reason}", file.places.value("policy"), hint=hint)


def matching(patterns: Sequence[str], id_: str) -> bool:
    """Whether a test is meant by one of the patterns: a part of its file and name, or a glob over its name."""
    if not patterns:
        return True
    lowered = id_.lower()
    name = lowered.rpartition("::")[2]
    return any(p in lowered or fnmatch.fnmatchcase(name, p) for p in map(str.lower, patterns))


# Names in a test file against the policy that it tests (PPF143, PPF147 to PPF149, PPF615).


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
