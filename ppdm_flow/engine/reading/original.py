"""Opens the original, binds it to the policy's attributes, and checks it in the first pass."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import data_identity, is_file_set
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.engine.events import Listener, RowProgress, StepFinished, StepStarted, ignore_events
from ppdm_flow.engine.faults import data_fault, naming_file, wrap_plugin_errors
from ppdm_flow.engine.machine import peak_mb
from ppdm_flow.engine.opening.opening import data_path, import_algorithms, open_source, refuse_linked
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.parallel import run_all
from ppdm_flow.engine.reading.binding import ColumnBinding, bind
from ppdm_flow.engine.reading.spellings import refuse_two_spellings, spelling_checks
from ppdm_flow.engine.streams.checks import WeightCheck, check_sampling_weights, check_subjects, check_values
from ppdm_flow.engine.streams.coding import respelled_cells
from ppdm_flow.engine.streams.lookalikes import LookalikeCheck, ValuePresence, lookalike_checks, value_presence
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.reading import PartitionCheck, PartitionObserver, ReadOptions
from ppdm_flow.engine.streams.stream import LoadedStream
from ppdm_flow.engine.streams.tallying import SetCounts
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.mining.profiling.words import named
from ppdm_flow.plan.definition import SOURCE, ConfiguredPlugin, Plan
from ppdm_flow.plan.locked import marked_files
from ppdm_flow.sdk.key_file import refuse_shared
from ppdm_flow.sdk.storage import CopiedSource, MergingSource, Source, StoredTypesSource
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

_NUMBERS = {"decimal": ".", "thousands": ""}
"""Options of readers that say how numbers are spelled, as they usually are."""
_HINTS = 10_000
"""Among so many values of the data, where it may be shown, the nearest spelling is looked for."""
_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})


@dataclass(frozen=True, slots=True)
class Original:
    """``columns`` are all that the file has; ``stat`` tells whether it was written to since.

    ``types`` are those of attributes without a declared type, where the file has types that a release can keep.

    ``name`` is that of the file, or the server and the database; ``path`` is the copy then that was read.
    """

    path: Path
    name: str
    columns: tuple[str, ...]
    stream: LoadedStream
    numbering: Numbering | None
    digest: str
    stat: tuple[int, int, int]
    types: Mapping[str, pa.DataType]
    sets: tuple[SetCounts, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()

    def unchanged(self) -> None:
        """Raise DataError where the file was written to while it was used."""
        try:
            now: tuple[int, int, int] | None = data_identity(self.path)
        except (OSError, DataError):
            now = None
        if now != self.stat:
            raise data_fault("PPF724", f"`{self.path}` was changed while it was being read")


@dataclass(slots=True)
class _RowCounter:
    """Tells how many rows have been read."""

    listener: Listener
    rows: int = 0

    def look(self, table: Table) -> None:
        self.rows += len(table)
        self.listener(RowProgress(SOURCE, self.rows, None))

    def add(self, later: _RowCounter) -> None:
        self.rows += later.rows
        self.listener(RowProgress(SOURCE, self.rows, None))

    def __reduce__(self) -> tuple[type[_RowCounter], tuple[Listener, int]]:
        """Travel without the listener, which hears of the rows where they are added up."""
        return (_RowCounter, (ignore_events, self.rows))


@dataclass(frozen=True, slots=True)
class Opening:
    """Options for opening the original of a plan."""

    context: RunContext
    data: Path | None

    @property
    def plan(self) -> Plan:
        """The plan whose source is read."""
        return self.context.plan

    def open(self) -> Original:
        """Read the file once. Raises DataError where it cannot be read, does not match the policy, or keys lie open."""
        try:
            return self.read()
        finally:
            self.context.snapshots.close()

    def read(self) -> Original:
        """Read one of several files; who asks closes the connections that they share."""
        refuse_linked(self.plan)
        check_key_files(self.plan)
        node = self.plan.source
        path = data_path(node, self.data)
        alone = not node.server and not is_file_set(path)  # of several files the one at fault is named already
        with naming_file(path, one_of_several=False) if alone else contextlib.nullcontext():
            return self._read(path)

    def _read(self, path: Path) -> Original:
        listener = self.context.listener
        listener(StepStarted(SOURCE))
        started = time.perf_counter()
        node = self.plan.source
        name = node.server or path.name
        with wrap_plugin_errors("the source"):
            before = None if node.server or not is_file_set(path) else data_identity(path)  # a new file is not read
            source = open_source(node, path)
            if isinstance(source, CopiedSource):
                source.join(self.context.snapshots)
            columns = source.names()
            binding = bind(node, columns)
            types = kept_types(source, binding, self.plan)
            if isinstance(source, CopiedSource):
                path = source.copy(tuple(binding.columns.values()), self._copied)
        stat = before or data_identity(path)
        context, attributes = self.context, read_attributes(self.plan, binding)
        stream = context.engine.source(source, attributes, self._reading(binding), context.resources)
        numbering = self._numbering(stream)
        sets = tuple(SetCounts(a.name) for a in stream.attributes if a.role is Role.ITEMS)
        present = value_presence(self.plan.requirements, stream.attributes, self.plan.declared)
        repeats = columns_to_count(binding.attributes, tuple(binding.columns))
        crowds = tuple(CrowdSizes(a) for a in stream.attributes if a.role is Role.WEIGHT)
        spellings = spelling_checks(self.plan, stream.attributes)
        looks: tuple[PartitionObserver, ...] = (*sets, *crowds, *spellings)
        digest = self._load(path, stream, binding, numbering, looks, present)
        if not stream.row_count:
            raise _no_rows(stream)
        self._attended(stream, present)
        refuse_two_spellings(self.plan, spellings, stream)
        with wrap_plugin_errors("the source"):
            reopened = source if isinstance(source, CopiedSource) else open_source(node, path)
            look_at_the_top(repeats, reopened, binding.columns, node.missing, node.normalize)
        listener(StepFinished(SOURCE, time.perf_counter() - started, stream.rows_read, peak_mb()))
        for counts in sets:
            counts.repeated = source.repeated if isinstance(source, MergingSource) else 0
        return Original(path, name, columns, stream, numbering, digest, stat, types, sets, (*repeats, *crowds))

    def _copied(self, rows: int) -> None:
        self.context.stop.check()
        self.context.listener(RowProgress(SOURCE, rows, None))

    def _load(
        self,
        path: Path,
        stream: LoadedStream,
        binding: ColumnBinding,
        numbering: Numbering | None,
        looks: tuple[PartitionObserver, ...],
        present: tuple[ValuePresence, ...],
    ) -> str:
        facts = {a.name: a for a in binding.attributes}
        counter = _RowCounter(self.context.listener)
        before: list[PartitionObserver] = [PartitionCheck(partial(check_values, attributes=facts)), counter, *present]
        after: list[PartitionObserver] = [*_weight_checks(stream), *self._written(stream), *looks]
        if numbering is not None:
            after.append(numbering)
        bound = [*(n.bound for n in self.plan.steps), *(n.bound for n in self.plan.audits)]
        work = {
            "read": lambda: stream.load(before, after),
            "import": lambda: self._prepare(bound),  # beside the reader, which hardly needs Python
            "hash": lambda: self.context.engine.digest(path),
        }
        return str(run_all(work, self.context.options.workers, self.context.stop)["hash"])

    def _prepare(self, bound: Iterable[ConfiguredPlugin]) -> None:
        import_algorithms(bound)
        self.context.engine.prepare()

    def _attended(self, stream: LoadedStream, present: tuple[ValuePresence, ...]) -> None:
        """Raise DataError where a requirement names a value that nobody has."""
        diagnostics: list[Diagnostic] = []
        for values in present:
            if values.absent:
                shown = (
                    StreamView(stream).domain(values.facts.name)[:_HINTS].to_pylist() if self.plan.show_values else ()
                )
                diagnostics += values.faults(shown)
        if diagnostics:
            raise DataError(diagnostics)

    def _written(self, stream: LoadedStream) -> tuple[LookalikeCheck, ...]:
        return lookalike_checks(self.plan.requirements, stream.attributes)

    def _reading(self, binding: ColumnBinding) -> ReadOptions:
        node = self.plan.source
        return ReadOptions(
            columns=binding.columns,
            missing=node.missing,
            partition_rows=self.context.options.partition_rows,
            incomplete=tuple(binding.columns) if node.drop_incomplete else (),
            weight=next((a.name for a in binding.attributes if a.role is Role.WEIGHT), None),
            typed=binding.attributes,
            normalize=node.normalize,
            number_spelling=tuple(n for n, usual in _NUMBERS.items() if node.options.get(n, usual) != usual),
        )

    def _numbering(self, stream: LoadedStream) -> Numbering | None:
        weights = [a.name for a in stream.attributes if a.role is Role.WEIGHT]
        return Numbering(weights[0]) if weights and any(n.expands for n in self.plan.steps) else None


def _weight_checks(stream: LoadedStream) -> Iterator[PartitionObserver]:
    for attribute in stream.attributes:
        if attribute.role is Role.WEIGHT:
            yield WeightCheck(attribute)
        elif attribute.role is Role.SAMPLING_WEIGHT:
            yield PartitionCheck(partial(check_sampling_weights, attribute))
        elif attribute.role is Role.SUBJECT:
            yield PartitionCheck(partial(check_subjects, attribute))


def read_attributes(plan: Plan, binding: ColumnBinding) -> tuple[AttributeFacts, ...]:
    """Return the attributes that go on from the source: identifiers and subjects only where a step asks for them."""
    wanted = asked_of(plan)
    return tuple(a for a in binding.attributes if a.role not in _PERSONAL or a.name in wanted)


def asked_of(plan: Plan) -> frozenset[str]:
    """Return the attributes that steps read or change, that audits or requirements ask for, or that identify people."""
    people = {plan.ledger.subject} if plan.ledger is not None and plan.ledger.subject is not None else set()
    if any(requirement.counts_people for requirement in plan.requirements):
        people |= {a.name for a in plan.source.attributes if a.role is Role.SUBJECT}
    people |= {plan.people.subject} if plan.people is not None else set()
    requested = (*(a.asks for a in plan.audits), *(r.asks for r in plan.requirements))
    return frozenset((*people, *plan.keys)).union(*(s.effect.needed for s in plan.steps), *requested)


def kept_types(source: Source, binding: ColumnBinding, plan: Plan) -> dict[str, pa.DataType]:
    """Return the types that attributes keep where they are released unchanged and the policy says no type.

    Raises DataError for a column of a data frame that would be released unchanged and has no type to keep, and for
    durations of which a declared type would make numbers.
    """
    if not isinstance(source, StoredTypesSource):
        return {}
    declared = [a for a in binding.attributes if a.has_declared_type]
    undeclared = {a.name: a for a in binding.attributes if not a.has_declared_type and a.role is not Role.ITEMS}
    released = {a.source for r in plan.releases for a in r.attributes if a.unchanged}
    foreign, stored = source.foreign_types(), source.stored_types()
    leaving = {a.source for r in plan.releases for a in r.attributes}
    faults = [
        _durations(facts)
        for facts in declared
        if facts.name in leaving and pa.types.is_duration(stored.get(binding.columns[facts.name], pa.null()))
    ]
    faults += [
        _no_type_to_keep(facts, foreign[binding.columns[name]])
        for name, facts in undeclared.items()
        if name in released and binding.columns[name] in foreign
    ]
    if faults:
        raise DataError(faults)
    return {name: stored[column] for name, column in binding.columns.items() if name in undeclared and column in stored}


def _durations(facts: AttributeFacts) -> Diagnostic:
    text = (
        f"the column `{facts.name}` holds durations: as `type: {facts.type.value}` they would be numbers without a unit"
    )
    advice = "leave `type` out, or give numbers: `frame[column].dt.total_seconds()`"
    return Diagnostic("PPF679", text, facts.span, help=advice)


def _no_type_to_keep(facts: AttributeFacts, kind: str) -> Diagnostic:
    text = f"the column `{facts.name}` of the data frame is of type `{kind}`, which no release keeps"
    advice = "declare `type: text` to release it as text, or give `frame[column].astype(str)`"
    return Diagnostic("PPF679", text, facts.span, help=advice)


def _no_rows(stream: LoadedStream) -> Exception:
    if stream.rows_read:
        text = f"all {stream.rows_read} rows have a missing value, and the policy drops such rows, or the weight 0"
        return data_fault("PPF714", text)
    return data_fault("PPF714", "the data has a header and no rows")


def check_key_files(plan: Plan) -> None:
    """Raise DataError where others than its owner may read a key file of a step or an audit."""
    for name, relative, span in _key_files(plan):
        refuse_shared(Path(plan.home) / relative, f"the key file of {name},", span)


def _key_files(plan: Plan) -> Iterator[tuple[str, str, Span | None]]:
    for kind, nodes in (("step", plan.steps), ("audit", plan.audits)):
        for node in nodes:
            for path in marked_files(node.bound.params, secret=True):
                yield f"{kind} `{node.name}`", path, node.spans[-1] if node.spans else None


# What a column of the original seems to be, other than the policy says: warnings of a preview and of a report.


class Suspicion(Protocol):
    """Counts of one column that were made while it was read."""

    code: ClassVar[str]
    facts: AttributeFacts

    @property
    def text(self) -> str | None:
        """What the column seems to be, without a value of it; None where nothing speaks for it."""


def warnings(suspicions: Iterable[Suspicion]) -> Iterator[Diagnostic]:
    """Yield a warning for each column that something speaks against."""
    for each in suspicions:
        if each.text is not None:
            yield Diagnostic(each.code, each.text, each.facts.span, Severity.WARNING)


def findings(suspicions: Iterable[Suspicion]) -> Iterator[Finding]:
    """Yield the same for a report."""
    for each in suspicions:
        if each.text is not None:
            yield Finding(each.code, Severity.WARNING, each.text, f"source.{each.facts.name}")


# Columns that repeat like a person's id: then a person has several rows, and k rows are fewer people.
#
# A subject is not among them: it says so itself.


LOOKED_AT = 1 << 16
"""So many rows from the top of the file are counted at most."""
LEAST_SHARE = 0.01
"""So many of the rows share their value with others at least: two people may have one name."""
_FEW = 5
_LIKE_IDS = frozenset({"person_id", "national_id", "document", "account", "card", "iban", "email", "phone", "uuid"})


@dataclass(slots=True)
class RepeatCounter:
    """Counts the values of one column, without keeping any; :attr:`text` says what was found, if anything."""

    code: ClassVar[str] = "PPF857"
    facts: AttributeFacts
    rows: int = 0
    parts: list[pa.StringArray] = field(default_factory=list)
    distinct: int = 0
    shared: int = 0
    most: int = 0

    def look(self, cells: pa.Array, missing: pa.Array) -> None:
        """Take in texts as they are read, but for missing ones."""
        texts = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        texts = texts.cast(pa.string()).drop_null()
        texts = texts.filter(pc.invert(pc.is_in(texts, value_set=missing)))
        self.rows += len(texts)
        self.parts.append(texts)

    def count(self) -> None:
        """Count what was taken in, and forget it."""
        counts = pc.value_counts(pa.chunked_array(self.parts, pa.string())).field("counts")
        self.distinct, self.most = len(counts), int(pc.max(counts).as_py() or 0)
        several = counts.filter(pc.greater(counts, 1))
        self.shared = int(pc.sum(several).as_py() or 0)
        self.parts = []

    @property
    def text(self) -> str | None:
        """Say that it repeats, and how; None where it does not."""
        own = self.facts.role is Role.IDENTIFIER
        if self.shared < LEAST_SHARE * self.rows or not self.shared or (self.distinct <= _FEW and not own):
            return None
        what = f"`{self.facts.name}` is {'an identifier' if own else 'named like an id of people'}, and repeats:"
        return (
            f"{what} {self.rows:,} rows have {self.distinct:,} different values, the most frequent of them"
            f" {self.most:,} times. Where a value is a person, groups of k rows are of fewer people"
        )


def look_at_the_top(
    counters: Sequence[RepeatCounter],
    source: Source,
    columns: Mapping[str, str],
    missing: Sequence[str],
    normalize: Sequence[str] = (),
) -> None:
    """Read the first rows of these columns, and no others; ``columns`` are what the file calls them."""
    if not counters:
        return
    names, marks, rows = [columns[r.facts.name] for r in counters], pa.array(list(missing), pa.string()), 0
    for batch in source.batches(list(dict.fromkeys(names))):
        part = respelled_cells(batch.slice(0, LOOKED_AT - rows), normalize)
        for each, name in zip(counters, names, strict=True):
            each.look(part.column(name), marks)
        rows += len(part)
        if rows >= LOOKED_AT:
            break
    for each in counters:
        each.count()


def columns_to_count(attributes: Iterable[AttributeFacts], columns: Sequence[str]) -> tuple[RepeatCounter, ...]:
    """Return the columns to count: identifiers, and columns named like one; none of a weighted table."""
    known = tuple(a for a in attributes if a.name in columns)
    if any(a.role is Role.WEIGHT for a in known):
        return ()
    return tuple(RepeatCounter(a) for a in known if a.role is Role.IDENTIFIER or _like_id(a))


def _like_id(facts: AttributeFacts) -> bool:
    return facts.role not in (Role.SUBJECT, Role.ITEMS) and named(facts.name) in _LIKE_IDS


LEAST_ROWS = 20
"""A table of fewer rows tells nothing about its weights."""
LEAST_MEAN = 10
"""Least mean of the counts of a column of weights. A collapsed table mostly has rows that occur once."""


@dataclass(slots=True)
class CrowdSizes:
    """Adds up the weights of one column; :attr:`text` says what they look like, if anything."""

    code: ClassVar[str] = "PPF859"
    facts: AttributeFacts
    rows: int = 0
    total: int = 0
    alone: int = 0

    def look(self, table: Table) -> None:
        """Take in a partition whose weights are known to be whole numbers above 0."""
        weights = weights_of(table[self.facts.name])
        self.rows += len(weights)
        self.total += int(weights.sum())
        self.alone += int((weights <= 1).sum())

    def add(self, later: CrowdSizes) -> None:
        """Take in the weights of the rows that follow."""
        self.rows += later.rows
        self.total += later.total
        self.alone += later.alone

    @property
    def text(self) -> str | None:
        """Return a text if every row counts several; None where a row counts 1, or where too few rows were read."""
        if self.alone or self.rows < LEAST_ROWS or self.total < LEAST_MEAN * self.rows:
            return None
        return (
            f"`{self.facts.name}` counts rows of a collapsed table, and looks like the weights of a survey: each of"
            f" {self.rows:,} rows counts 2 or more, {self.total / self.rows:,.0f} on average. A respondent who"
            " represents 20 people of the population is one row, and would count as a crowd of 20"
        )
