"""The steps of a plan, fitted one after another where they depend on each other, side by side where they do not."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import StepResult
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.calls.lending import guard_plugin_call, lent_view
from ppdm_flow.engine.calls.plain import PlainRebuilder
from ppdm_flow.engine.calls.quotations import PluginText, of_step, refuse_quotations
from ppdm_flow.engine.events import Listener, RowProgress, StepFinished, StepStarted
from ppdm_flow.engine.faults import data_fault, output_fault, run_fault
from ppdm_flow.engine.machine import peak_mb
from ppdm_flow.engine.opening.opening import make_algorithm
from ppdm_flow.engine.parallel import run_all
from ppdm_flow.engine.seam import Engine, Resources, StepTimer
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.stream import DistributedStream, LoadedStream, Stream, StreamPart
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import SOURCE, Plan, StepNode
from ppdm_flow.sdk.anonymizer import (
    Fitted,
    Generator,
    OrderTransform,
    RowTransform,
    SizedGenerator,
    StepContext,
    TableTransform,
)
from ppdm_flow.tables.column import union
from ppdm_flow.tables.table import Table, concat


@dataclass(slots=True)
class Graph:
    """Streams, views and fitted steps by name. ``numbering`` is there where weighted rows are written out."""

    plan: Plan
    key: RunKey
    source: Stream
    numbering: Numbering | None
    engine: Engine
    resources: Resources
    listener: Listener
    streams: dict[str, Stream] = field(default_factory=dict)
    views: dict[str, StreamView] = field(default_factory=dict)
    fitted: dict[str, Fitted] = field(default_factory=dict)
    clocks: dict[str, StepTimer] = field(default_factory=dict)
    fit_seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._put(SOURCE, self.source)

    def fit(self, workers: int) -> None:
        """Fit every step. Raises the PpdmError of the first step that fails."""
        for node in self.plan.steps:
            if len(node.inputs) > 1:
                advice = "take steps with one input"
                raise data_fault(
                    "PPF636", f"{_who(node)} has several inputs, and no engine carries it out", advice=advice
                )
        work = {node.name: partial(self._fit, node) for node in self.plan.steps}
        run_all(work, workers, self.resources.stop, self.plan.graph.subgraph(work).pred)

    def results(self) -> tuple[StepResult, ...]:
        """Return what each step did, in the plan's order. Raises RunError where one of them quotes the data."""
        step_results = tuple(self._result(node) for node in self.plan.steps)
        if isinstance(self.source, LoadedStream):
            every = (self._said(node, result) for node, result in zip(self.plan.steps, step_results, strict=True))
            refuse_quotations(self.plan, self.source, chain.from_iterable(every))
        return step_results

    def _said(self, node: StepNode, result: StepResult) -> Iterator[PluginText]:
        fitted, view = self.fitted[node.name], self.views[node.input]
        attributes = {operator.attribute for operator in fitted.operators.values()}
        domains = {a: {*view.counts([a]).names(a).to_pylist(), None} for a in attributes & {*view.schema.names}}
        return of_step(node, result, fitted, domains)

    def expanded(self, reference: str) -> bool:
        """Whether the rows at ``reference`` are numbered as single rows of a weighted table."""
        return self.numbering is not None and any(n.expands for n in self.plan.upstream(reference))

    def _fit(self, node: StepNode) -> None:
        self.resources.stop.check()
        self.listener(StepStarted(node.name))
        started = time.perf_counter()
        view = self.views[node.input]
        facts = {a.name: a for a in view.stream.attributes if not (node.expands and a.role is Role.WEIGHT)}
        plan = self.plan
        context = StepContext(
            node.name,
            facts,
            plan.requirements,
            plan.nulls,
            Path(plan.home),
            MappingProxyType(dict(plan.declared)),
            plan.show_values,
            self._progress(node),
            plan.people,
        )
        algorithm = make_algorithm(node.bound)
        with guard_plugin_call(node, view.stream.attributes):
            fitted = PlainRebuilder(_who(node)).fitted(algorithm.fit(lent_view(node.bound, view), context))
        self.fitted[node.name] = fitted
        self.clocks[node.name] = StepTimer()
        self._attach(node, fitted)
        self.fit_seconds[node.name] = time.perf_counter() - started
        rows = self._rows(node)
        self.listener(StepFinished(node.name, time.perf_counter() - started, rows, peak_mb()))

    def _progress(self, node: StepNode) -> Callable[[int, int | None], None]:
        def tell(done: int, total: int | None) -> None:
            self.resources.stop.check()
            self.listener(RowProgress(node.name, done, total, "candidates"))

        return tell

    def _attach(self, node: StepNode, fitted: Fitted) -> None:
        """Make the step's output from its input."""
        source = self._input(node)
        transform, clock = fitted.transform, self.clocks[node.name]
        draws = Draws(self.key.step(node.name), transform.draws_per_row)
        if isinstance(transform, RowTransform):
            self._put(node.name, self.engine.row_step(source, node, transform, draws, clock))
        elif isinstance(transform, OrderTransform):
            self._put(node.name, self.engine.order_step(source, node, transform, draws, clock))
        elif isinstance(transform, TableTransform):
            outputs = self.engine.table_step(source, node, transform, draws, clock, self.resources)
            for name, stream in outputs.items():
                self._put(f"{node.name}.{name}" if name else node.name, stream)
        elif isinstance(transform, Generator):
            like_input = self.views[node.input].row_count
            rows = int(transform.row_count) if isinstance(transform, SizedGenerator) else like_input
            self._put(node.name, self.engine.generator(rows, node, transform, draws, clock, self.resources))
        else:
            raise run_fault("PPF905", f"step `{node.name}` ({node.bound.info.name}) made no known kind of transform")

    def _input(self, node: StepNode) -> Stream:
        source = self.streams[node.input]
        weighted = any(a.role is Role.WEIGHT for a in source.attributes)
        if node.expands and weighted and self.numbering is not None:
            return self.engine.expanded(source, self.numbering)
        return source

    def _put(self, reference: str, stream: Stream) -> None:
        self.streams[reference] = stream
        self.views[reference] = StreamView(stream)

    def _rows(self, node: StepNode) -> int:
        if node.effect.rows in ("same", "reordered") and not node.expands:
            return self.views[node.input].row_count
        return self.views[node.name].row_count if node.name in self.views else self.views[node.input].row_count

    def _result(self, node: StepNode) -> StepResult:
        fitted = self.fitted[node.name]
        with guard_plugin_call(node, node.attributes):
            described = PlainRebuilder(_who(node)).document(fitted.transform.describe())
        return StepResult(
            name=node.name,
            use=node.bound.info.name,
            version=node.bound.info.version,
            rows_in=self.views[node.input].row_count,
            rows_out=self._rows(node),
            seconds=self._seconds(node),
            figures=dict(fitted.figures),
            description=described,
            charts=fitted.charts,
            findings=fitted.findings,
        )

    def _seconds(self, node: StepNode) -> float | None:
        if isinstance(self.streams.get(node.name), DistributedStream):
            return None
        return self.fit_seconds[node.name] + self.clocks[node.name].seconds


def _who(node: StepNode) -> str:
    return f"step `{node.name}` ({node.bound.info.name})"


# The key of a run: from the operating system, or from the policy's seed.


def run_key(plan: Plan, given: RunKey | None) -> RunKey:
    """Return ``given``, or the key that the policy's ``randomness`` asks for."""
    if given is not None:
        return given
    if plan.randomness == "reproducible":
        if plan.seed is None:
            raise run_fault("PPF906", "a reproducible run without a seed")
        return RunKey.from_seed(plan.seed)
    return RunKey(secrets.token_bytes(32))


def check_escrow(path: Path | None) -> None:
    """Raise UsageError where the escrow file could not be made: before the work, not after it."""
    if path is None:
        return
    if path.exists():
        raise UsageError(Diagnostic("PPF673", f"the escrow file `{path}` exists already: it is never overwritten"))
    if not path.absolute().parent.is_dir():
        raise UsageError(Diagnostic("PPF693", f"the folder of the escrow file `{path}` does not exist"))


def escrow(path: Path, key: RunKey, plan: Plan, run: str) -> None:
    """Write the key to a new file that only its owner can read."""
    document = {"version": 1, "run": run, "plan": plan.digest, "key": key.secret.hex(), "commitment": key.commitment}
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise output_fault(error, f"the escrow file `{path}`") from None


# Which steps of a run changed something: a cell, the rows, their order, or the columns.


def changed_steps(plan: Plan, graph: Graph) -> Iterator[str]:
    """Yield the steps whose output is not their input. Meant for small tables: each is held whole."""
    for node in plan.steps:
        before = list(_input(node, graph).parts())
        names = [n for n in graph.streams if n == node.name or n.startswith(f"{node.name}.")]
        if any(_differ(before, list(graph.streams[name].parts())) for name in names):
            yield node.name


def _input(node: StepNode, graph: Graph) -> Stream:
    stream = graph.streams[node.input]
    weighted = any(a.role is Role.WEIGHT for a in stream.attributes)
    return graph.engine.expanded(stream, graph.numbering) if node.expands and weighted and graph.numbering else stream


def _differ(before: list[StreamPart], after: list[StreamPart]) -> bool:
    if not before or not after:
        return bool(before) != bool(after)
    if any(p.keys is not None for p in after) and all(p.keys is None for p in before):
        return True
    old, new = concat(p.table for p in before), concat(p.table for p in after)
    if old.names != new.names or not np.array_equal(old.rows, new.rows):
        return True
    return any(_cells_differ(old, new, name) for name in old.columns) or _sets_differ(old, new)


def _cells_differ(old: Table, new: Table, name: str) -> bool:
    known = union(t[name].categories for t in (old, new))
    return not np.array_equal(old[name].onto(known).codes, new[name].onto(known).codes)


def _sets_differ(old: Table, new: Table) -> bool:
    return any(old.sets[name] is not new.sets[name] for name in old.sets)
