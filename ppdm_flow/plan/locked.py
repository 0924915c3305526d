"""The parts of a plan that a lock fixes: its plugins, and the definition files that marked parameters name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import Plan, SourceNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import FileMark, SecretMark

Plugin = tuple[str, str, str]
"""``group/name``, distribution and version."""


def plugins_of(plan: Plan) -> Iterator[tuple[Plugin, Span | None]]:
    """Yield each plugin that a run of the plan loads, once, with the place that first asks for it.

    Audits that nobody wrote, since a requirement implies them or every release has them, are among them.
    """
    seen: set[str] = set()
    for group, name, span in _named(plan):
        key = f"{group}/{name}"
        if key not in seen:
            seen.add(key)
            plugin = registry.find(group, name)
            yield (key, plugin.distribution, plugin.version), span


def _named(plan: Plan) -> Iterator[tuple[str, str, Span | None]]:
    for source in _sources(plan):
        if source.format is not None:
            yield "sources", source.format, source.span
    for step in plan.steps:
        yield "anonymizers", step.bound.info.name, _last(step.spans)
    for audit in plan.audits:
        yield "audits", audit.bound.info.name, _last(audit.spans)
    for release in plan.releases:
        yield "sinks", release.format, _last(release.spans)


def _last(spans: tuple[Span, ...]) -> Span | None:
    """Return the place of the value that names the plugin: it stands after the step's own name."""
    return spans[-1] if spans else None


def files_of(plan: Plan) -> Iterator[tuple[str, Span | None]]:
    """Yield the absolute path of each file of definitions: operators of clients, hierarchies, what steps take, signers.

    Data is not among them: not the source, nor populations and other releases that audits compare with, nor the
    ledger, since all these change while the policy stays the same. Nor are keys: a digest of a short one gives it away.
    """
    seen: set[str] = set()
    for relative, span in (*_operators(plan), *_hierarchies(plan), *_of_steps(plan), *_signers(plan)):
        path = os.path.normpath(os.path.join(plan.home, relative))  # noqa: PTH118  (text, not a Path)
        if path not in seen:
            seen.add(path)
            yield path, span


def _sources(plan: Plan) -> tuple[SourceNode, ...]:
    return tuple(table.plan.source for table in plan.tables) or (plan.source,)


def _operators(plan: Plan) -> Iterator[tuple[str, Span | None]]:
    for source in _sources(plan):
        if source.operator_file is not None:
            yield source.operator_file, source.span


def _hierarchies(plan: Plan) -> Iterator[tuple[str, Span | None]]:
    for facts in (facts for source in _sources(plan) for facts in source.attributes):
        if facts.hierarchy is not None and facts.hierarchy.csv is not None:
            yield facts.hierarchy.csv, facts.span


def _signers(plan: Plan) -> Iterator[tuple[str, Span | None]]:
    if plan.approvals is not None:
        yield plan.approvals.signers, plan.approvals.span


def _of_steps(plan: Plan) -> Iterator[tuple[str, Span | None]]:
    for step in plan.steps:
        yield from ((path, _last(step.spans)) for path in marked_files(step.bound.params, secret=False))


def marked_files(params: BaseModel, *, secret: bool) -> Iterator[str]:
    """Yield the values of parameters that are marked as files (or as keys), in models within models too."""
    for name, field in type(params).model_fields.items():
        value = getattr(params, name)
        marks = {*field.metadata, *_marks(field.annotation)}
        if FileMark() in marks and (SecretMark() in marks) is secret:
            yield from _texts(value)
        yield from (path for model in _models(value) for path in marked_files(model, secret=secret))


def _marks(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from (each for each in get_args(annotation)[1:] if isinstance(each, FileMark | SecretMark))
    for inner in get_args(annotation):
        yield from _marks(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    for each in _items(value):
        yield from _texts(each)


def _models(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
    for each in _items(value):
        yield from _models(each)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
