"""Which requirements, gates, steps and named values of the policies no test exercises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ppdm_flow.api.loading.policies import find_policies
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import load
from ppdm_flow.report.test import Item, PolicyCoverage, PolicyTestResult, Trace


def coverage(
    results: Sequence[PolicyTestResult], sets: Mapping[str, Mapping[str, str]], words: Sequence[str]
) -> tuple[PolicyCoverage, ...]:
    """Return what the tests exercise of each policy that they name, or that stands in a folder of ``words``.

    ``sets`` are params that make a policy complete, by its file. A policy that cannot be compiled is left out.
    """
    tests: dict[Path, list[PolicyTestResult]] = {path: [] for path in _policies(words)}
    shown: dict[Path, str] = {path: str(path) for path in _policies(words)}
    for each in results:
        path = Path(each.policy).resolve()
        shown.setdefault(path, each.policy)
        tests.setdefault(path, []).append(each)
    coverages = []
    for path, own in tests.items():
        plan = compile_policy(load(Path(shown[path]), dict(sets.get(shown[path], {})))).plan
        if plan is not None:
            coverages.append(PolicyCoverage(_short(shown[path]), len(own), tuple(_items(plan, _together(own)))))
    return tuple(sorted(coverages, key=lambda each: each.policy))


def _policies(words: Sequence[str]) -> dict[Path, str]:
    folders = [word for word in words if Path(word).is_dir()]
    if not folders:
        return {}
    try:
        return {path.resolve(): str(path) for path in find_policies(folders).policies}
    except UsageError:
        return {}


def _together(results: Iterable[PolicyTestResult]) -> Trace:
    traces = [each.trace for each in results]
    none: frozenset[str] = frozenset()
    return Trace(
        none.union(*(t.held for t in traces)),
        none.union(*(t.failed for t in traces)),
        none.union(*(t.changed for t in traces)),
        frozenset[tuple[str, str]]().union(*(t.values for t in traces)),
    )


def _items(plan: Plan, trace: Trace) -> Iterator[Item]:
    for requirement in plan.requirements:
        yield _judged("requirement", requirement.id, requirement.span, trace)
        yield from _values(requirement, trace)
    for gate in plan.gates:
        yield _judged("gate", gate.id, gate.span, trace)
    for step in plan.steps:
        if not step.implicit:
            span = step.spans[0] if step.spans else None
            yield Item("step", f"steps.{step.name}", *_place(span), exercised=step.name in trace.changed)


def _judged(kind: str, id_: str, span: Span | None, trace: Trace) -> Item:
    return Item(kind, id_, *_place(span), exercised=id_ in trace.held, challenged=id_ in trace.failed)


def _values(requirement: Requirement, trace: Trace) -> Iterator[Item]:
    for attribute, value, span in dict.fromkeys(requirement.named_values()):
        id_ = f"{requirement.id}: {attribute} = {value}"
        yield Item("value", id_, *_place(span), exercised=(attribute, value) in trace.values)


def _place(span: Span | None) -> tuple[str, int]:
    return (_short(span.file), span.line) if span is not None else ("", 0)


def _short(file: str) -> str:
    """Return the name of a file from here, without detours."""
    if file.startswith(("builtin:", "pkg:")):
        return file
    path = Path(file).resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
