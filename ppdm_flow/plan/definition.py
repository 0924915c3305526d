"""A plan: the frozen value that `plan` explains and `run` executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls
from ppdm_flow.core.spans import Span
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.plan import dag
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec

SOURCE = dag.SOURCE
"""The name of the node that every DAG begins with."""
COLLAPSE = "collapse"
"""The option of a released file that names its column of counts, beside the options of the file's writer."""
COUNTS = "How many rows are equal to this record."
"""What a column of counts is, for recipients."""


@dataclass(frozen=True, slots=True)
class ConfiguredPlugin:
    """A plugin with its validated parameters. ``document`` is their JSON form, for digests and pictures."""

    spec: PluginSpec = field(compare=False)
    params: Params
    document: Mapping[str, Any]
    distribution: str
    version: str

    @property
    def info(self) -> PluginInfo:
        """The plugin's card."""
        return self.spec.info


@dataclass(frozen=True, slots=True)
class SourceNode:
    """Reading. ``path`` is absolute or None (then --data is needed); ``columns`` is the header for headless files.

    ``drop_incomplete`` drops rows with a missing value in a declared attribute. ``patterns`` are the declared
    attribute names and globs, for binding the file's columns at run time. ``server`` is the host and the database that
    the data is in, where it is at a URL; then there is no path, and ``options`` say the rest.
    ``normalize`` are the differences between spellings that are taken away at reading, ``keep_apart`` those that may
    tell two people or two sensitive values apart. ``operator``: by which clients randomized the sets that are read,
    and the file that it was read from, relative to the policy.
    """

    path: str | None
    format: str | None
    options: Mapping[str, Any]
    columns: tuple[str, ...] | None
    missing: tuple[str, ...]
    drop_incomplete: bool
    undeclared: str
    attributes: tuple[AttributeFacts, ...]
    patterns: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    server: str = ""
    normalize: tuple[str, ...] = ()
    keep_apart: tuple[str, ...] = ()
    operator: SetOperator | None = None
    operator_file: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StepNode:
    """One step. ``inputs`` are ``source``, steps' names, or ``step.output``; ``implicit`` ones were not written.

    ``attributes`` are those that leave the step. ``expands`` says that weighted rows are written out as single rows
    before it (row-wise randomization on a collapsed table).
    """

    name: str
    bound: ConfiguredPlugin
    inputs: tuple[str, ...]
    effect: Effect = field(compare=False)
    attributes: tuple[AttributeFacts, ...]
    implicit: bool = False
    expands: bool = False
    spans: tuple[Span, ...] = field(default=(), compare=False)

    @property
    def input(self) -> str:
        """What the step reads; the first of its inputs where there are several."""
        return self.inputs[0]

    @property
    def randomized(self) -> bool:
        """Whether the step draws at random."""
        return self.bound.info.randomized and self.effect.draws


@dataclass(frozen=True, slots=True)
class AuditNode:
    """One audit on one release. ``requirements`` are those that it measures; none for utility and attacks.

    ``asks`` are attributes of the source that it compares with, and that nobody may read besides.
    """

    name: str
    bound: ConfiguredPlugin
    release: str
    requirements: tuple[Requirement, ...] = ()
    implicit: bool = False
    spans: tuple[Span, ...] = field(default=(), compare=False)
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableNode:
    """A table of a database that a release becomes; ``indexes`` are lists of columns, ``grants`` who may read it."""

    url: str
    table: str
    indexes: tuple[tuple[str, ...], ...] = ()
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceivedFormat:
    """How another tool writes a file: options of its reader, texts of missing values, names where it has none.

    ``count`` is the column that says how often each record occurs, where each is there once.
    """

    options: Mapping[str, Any]
    missing: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    count: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseNode:
    """One released file; ``path`` is relative to ``released/<name>/``.

    ``ordered_by`` is the node that put the rows in their order: releases that share one have it in common. ``into`` is
    the table that the file becomes as well. With ``partition_by`` it is a folder of files, one for each combination of
    the values of these columns, which are names of folders in it. ``received`` says how a file is written that another
    tool made and that is judged as this release; no run reads it, and it is no part of the plan's digest.
    ``options`` are those of the file's writer, with :data:`COLLAPSE` where each distinct record is written once.
    """

    name: str
    input: str
    path: str
    format: str
    options: Mapping[str, Any]
    audience: str
    attributes: tuple[AttributeFacts, ...]
    description: str = ""
    spans: tuple[Span, ...] = field(default=(), compare=False)
    ordered_by: str = ""
    into: TableNode | None = None
    partition_by: tuple[str, ...] = ()
    received: ReceivedFormat | None = None

    @property
    def collapse(self) -> str:
        """The column of counts of a file that has each distinct record once; else none."""
        return str(self.options.get(COLLAPSE, ""))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order in which they are read again: those that are names of folders come last."""
        own = tuple(a.name for a in self.attributes if a.name not in self.partition_by)
        return (*own, *self.partition_by)


@dataclass(frozen=True, slots=True)
class LedgerNode:
    """The release ledger: its absolute path or its URL, the path of its key, and what is asked of it.

    ``subject`` is the attribute that names people, or None, and ``ignore`` the differences in spelling that make nobody
    another person. ``server`` is host and database where it is at a URL, which
    nothing that is written shows.
    """

    place: str
    key: str
    subject: str | None
    repeat: str
    server: str | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequiredApprovals:
    """Who has to sign a run that holds before anything of it is released; the author always has to.

    With ``distinct`` each role takes another person. ``signers`` is the absolute path of the file that says who may
    sign, ``sha256`` the digest of its bytes. ``waivers`` are the roles that have to sign waivers, by the waiver's name.
    """

    roles: tuple[str, ...]
    distinct: bool
    signers: str
    sha256: str
    waivers: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)

    @property
    def needed(self) -> tuple[str, ...]:
        """Every role that has to sign, once: those of the release, then those of waivers."""
        return tuple(dict.fromkeys((*self.roles, *self.waivers.values())))


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """One of several tables that belong together, with the plan for it alone.

    ``person`` is the attribute that says whose row it is: the key of the table of the people, a reference elsewhere.
    """

    name: str
    key: str | None
    person: str
    refers: str | None
    plan: Plan


@dataclass(frozen=True, slots=True)
class PlannedTableJoin:
    """The releases of several tables, joined by a reader who has them: attributes are called ``table.attribute``.

    ``releases`` are those of each of the tables. ``plan`` has no steps, and one release, which is the joined table.
    """

    tables: tuple[str, ...]
    releases: Mapping[str, tuple[str, ...]]
    plan: Plan


@dataclass(frozen=True)
class Plan:
    """Everything that a run does. Steps are in a topological order that does not depend on the file's order.

    ``tables`` are linked ones, each with a plan of its own: then steps, audits and releases are those of all, a step
    reads a table by its name, and ``joins`` are judged beside them. ``keys`` are read even if nothing asks for them.
    """

    policy: str
    policy_file: str
    policy_digest: str
    home: str
    source: SourceNode
    steps: tuple[StepNode, ...]
    audits: tuple[AuditNode, ...]
    releases: tuple[ReleaseNode, ...]
    requirements: tuple[Requirement, ...]
    gates: tuple[FigureGate, ...]
    nulls: Nulls
    randomness: str
    seed: str | None
    show_values: bool
    declared: Mapping[str, frozenset[str]]
    digest: str = ""
    ledger: LedgerNode | None = None
    approvals: RequiredApprovals | None = None
    waivers: tuple[AcceptedWaiver, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    recipients: str = "together"
    people: PeopleCount | None = None
    keys: tuple[str, ...] = ()
    tables: tuple[LinkedTable, ...] = ()
    joins: tuple[PlannedTableJoin, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        """The nodes that every way begins with: the source, or the linked tables."""
        return tuple(table.name for table in self.tables) or (SOURCE,)

    def step(self, name: str) -> StepNode:
        """Return the step of that name. Raises KeyError."""
        return self._step_by_name[name]

    def upstream(self, node: str) -> tuple[StepNode, ...]:
        """Return the steps up to ``node`` (a step, ``step.output``, ``source`` or a table), in order, itself last."""
        if node in (SOURCE, *self.roots):  # a release of a linked table begins with the source of its own plan
            return ()
        last = self.step(dag.base(node))
        before = nx.ancestors(self.graph, last.name)
        return (*(step for step in self.steps if step.name in before), last)

    def deciding_rows(self, step: StepNode) -> tuple[AttributeFacts, ...]:
        """Return the attributes that decide which rows a step leaves out; none where draws alone do."""
        effect = step.effect
        if effect.rows != "fewer" or (step.randomized and not effect.by_others):
            return ()
        names = effect.reads if effect.rows_by is None else effect.rows_by
        return tuple(fact for fact in self.arriving(step) if fact.name in names)

    def arriving(self, step: StepNode) -> tuple[AttributeFacts, ...]:
        """Return the attributes of what a step reads; of a name that several inputs have, those of the first."""
        facts: dict[str, AttributeFacts] = {}
        for reference in step.inputs:
            own = self.source.attributes
            if reference not in (SOURCE, *self.roots):
                name, _, output = reference.partition(".")
                before = self.step(name)
                wanted = before.effect.outputs.get(output)
                own = tuple(fact for fact in before.attributes if wanted is None or fact.name in wanted)
            for fact in own:
                facts.setdefault(fact.name, fact)
        return tuple(facts.values())

    @cached_property
    def graph(self) -> nx.DiGraph:
        """Sources, steps, releases, audits, requirements and gates, with what flows between them."""
        steps = {step.name: step.inputs for step in self.steps}
        flow = dag.flow_graph(self.roots, steps, {release.name: (release.input,) for release in self.releases})
        audits = [(audit, [audit.release]) for audit in self.audits]
        for join in self.joins:
            names = [name for releases in join.releases.values() for name in releases]
            audits += [(audit, names) for audit in join.plan.audits]
        measured = {
            dag.audit_key(audit.release, audit.name): (names, [r.id for r in audit.requirements])
            for audit, names in audits
        }
        return dag.with_audits(flow, measured, self.requirements, self.gates)

    @cached_property
    def _step_by_name(self) -> Mapping[str, StepNode]:
        return {step.name: step for step in self.steps}
