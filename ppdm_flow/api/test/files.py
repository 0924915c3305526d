"""Finding test files, and checking them against the policies that they test; no data is read."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ppdm_flow.api.loading.policies import expanded, is_test, sound_project
from ppdm_flow.api.test.names import PolicyTestNames, codes_known, files_there
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.policy import load as load_policy
from ppdm_flow.policy.loaded import PolicyReading as Policy
from ppdm_flow.policy.test import LoadedTests, load


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
