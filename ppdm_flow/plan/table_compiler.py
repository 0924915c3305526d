"""Compiles one table: binds plugins, follows attributes through the steps, attaches audits, and checks the flow."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ppdm_flow.core.addresses import (
    AddressError,
    BucketAddressError,
    bucket_address,
    database_address,
    is_bucket,
    is_database,
    server_address,
)
from ppdm_flow.core.attributes import CLIENTS, AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, has_errors
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.lineage import CellKind, Lineage
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.requirement_families import OnAttribute
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.plan.auditing import audit_nodes
from ppdm_flow.plan.binding import Binder, Wiring, wire
from ppdm_flow.plan.definition import AuditNode, ConfiguredPlugin, LedgerNode, Plan, SourceNode
from ppdm_flow.plan.flow import StepFlow, by_name, facts_of, follow, resolved
from ppdm_flow.plan.formats import choices, format_of_data, handling, implied, inferred, says_itself
from ppdm_flow.plan.releases import pruned, release_nodes
from ppdm_flow.plan.rules import CompiledFlow, violations
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.policy.counting import people_of
from ppdm_flow.policy.language.kinds import Entries
from ppdm_flow.policy.language.models import Policy, SourceEntry
from ppdm_flow.policy.language.patterns import is_pattern, matches
from ppdm_flow.policy.loaded import PolicyReading, ResolvedPlaces
from ppdm_flow.policy.requirements import specs_of
from ppdm_flow.policy.successive import subject_of
from ppdm_flow.sdk.set_operator import SetOperator, read_set_operator


class TableCompiler:
    """The stages of the compilation for one table, with what they share.

    ``requirements`` replace the policy's own, and ``keys`` are attributes that are read even if nothing asks for them.
    """

    def __init__(
        self,
        loaded: PolicyReading,
        policy: Policy,
        columns: Sequence[str] | None,
        data: str | None,
        requirements: tuple[Requirement, ...] | None = None,
        keys: tuple[str, ...] = (),
    ) -> None:
        self.loaded = loaded
        self.given = requirements
        self.keys = keys
        self.data = data
        self.columns = columns
        self.places: ResolvedPlaces = loaded.places
        self.home = Path(loaded.file).absolute().parent
        attributes, self.diagnostics = resolved(policy, self.places, columns)
        self.written = policy
        self.policy = policy.model_copy(update={"attributes": attributes}) if attributes else policy
        self.binder = Binder(self.places)

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        """Return the plan, without a digest, and everything that is wrong with it."""
        policy = self.policy
        facts = randomized_by_clients(policy, facts_of(policy.attributes, self.places))
        requirements = self._requirements(facts)
        wiring = self._wiring()
        faulty = has_errors(self.loaded.diagnostics)
        state = StepFlow(self.places, requirements, policy.nulls, by_name(facts), faulty, people_of(policy))
        follow(state, self._bounds(), wiring)
        releases = release_nodes(policy, state, wiring, self.binder)
        audits = audit_nodes(policy, releases, requirements, self.binder)
        steps = pruned(state.nodes)
        gates = of_steps(gates_of(policy, self.places), steps)
        source = source_node(self.written, facts, self.home, self.binder, self.data)
        plan = Plan(
            policy=policy.name,
            policy_file=self.loaded.file,
            policy_digest=self.loaded.digest,
            home=str(self.home),
            source=source,
            steps=tuple(steps.values()),
            audits=audits,
            releases=releases,
            requirements=requirements,
            gates=gates,
            nulls=policy.nulls,
            randomness=policy.randomness.mode,
            seed=policy.randomness.seed,
            show_values=policy.report.values == "show",
            declared=declared_values(policy, requirements),
            ledger=ledger_node(policy, self.home),
            recipients=policy.recipients,
            people=people_of(policy),
            keys=self.keys,
        )
        owners = (*policy.audits, *policy.steps, *steps, *(a.name for a in audits), *(r.id for r in requirements))
        self.diagnostics += [*wiring.diagnostics, *state.diagnostics, *self.binder.diagnostics]
        self.diagnostics += clashes(policy, [a.name for a in audits if a.implicit], self.places)
        self.diagnostics += dangling(gates, owners, policy.releases, self.places)
        self.diagnostics += unmeasured(gates, audits, policy.releases, self.places)
        self.diagnostics += redefined(gates, audits, self.places)
        self.diagnostics += violations(CompiledFlow(plan, policy, self.places, frozenset(state.clean)))
        return plan, self.diagnostics

    def _requirements(self, facts: tuple[AttributeFacts, ...]) -> tuple[Requirement, ...]:
        if self.given is not None:
            return self.given
        requirements = requirements_of(self.policy, self.places)
        if self.columns is not None:
            requirements, uncovered = on_columns(requirements, facts)
            self.diagnostics += uncovered
        return requirements

    def _wiring(self) -> Wiring:
        steps = {name: step.input for name, step in self.policy.steps.items()}
        releases = {name: release.from_ for name, release in self.policy.releases.items()}
        return wire(steps, releases, self.places)

    def _bounds(self) -> dict[str, ConfiguredPlugin | None]:
        return {name: self._bound(name, step.use, step.with_) for name, step in self.policy.steps.items()}

    def _bound(self, name: str, use: str, given: Mapping[str, Any]) -> ConfiguredPlugin | None:
        path = ("steps", name)
        return self.binder.bind("anonymizers", use, given, (*path, "use"), (*path, "with"))


# The source, and the ledger: where they are, how they are read, and what goes on from there.


SQL = "sql"
"""The format of databases."""
SENT = "randomized_sets"
"""The format of lines that clients sent."""


def source_node(
    policy: Policy, facts: tuple[AttributeFacts, ...], home: Path, binder: Binder, data: str | None
) -> SourceNode:
    """Return the node that every step hangs from; ``policy`` is as written, ``data`` names the file read instead."""
    source = policy.source
    path = None
    if source.path is not None:
        path = _located(source.path, home, binder)
    server = "" if data is not None else _server(source)
    name, faults = (data, ()) if data is not None else _telling(path)
    kind = SQL if server else source.format or inferred("sources", name)
    operator = None
    if source.randomized_by is not None and source.operator is not None:
        operator = _published(home / source.operator, facts, binder)
    if kind == SENT or (source.randomized_by is not None and kind == "jsonl"):  # lines of JSON hold no other sets
        kind, options = SENT, {"operator": str(home / (source.operator or "")), **source.with_}
        source = source.model_copy(update={"format": SENT, "with_": options})
    if data is not None and (kind := format_of_data(source.format, data)) is not None and _other(source, path, kind):
        source = source.model_copy(update={"columns": None, "with_": {}})
    if kind is None and not is_database(source.path or ""):
        _formatless(name, faults, binder, given=data is not None)
    return SourceNode(
        path=path,
        format=kind,
        options=_options(source, kind, binder, name, given=data is not None),
        columns=source.columns or _named(kind, facts),
        missing=source.missing,
        drop_incomplete=source.incomplete_rows == "drop",
        undeclared=policy.undeclared,
        attributes=facts,
        patterns=tuple(policy.attributes),
        span=binder.places.key("source"),
        server=server,
        normalize=tuple(sorted(set(source.normalize))),
        keep_apart=tuple(sorted(set(source.keep_apart))),
        operator=operator,
        operator_file=source.operator,
    )


def randomized_by_clients(policy: Policy, facts: tuple[AttributeFacts, ...]) -> tuple[AttributeFacts, ...]:
    """Return the facts, the sets being randomized where the policy says that clients did that."""
    if policy.source.randomized_by is None:
        return facts
    return tuple(_as_drawn(fact) if fact.role is Role.ITEMS else fact for fact in facts)


def _as_drawn(fact: AttributeFacts) -> AttributeFacts:
    name = frozenset((fact.name,))
    lineage = Lineage(name, value_map=False, drawn=name, kind=CellKind.NOISY)
    return replace(fact, changes=((CLIENTS, Change.PERTURBED),), derived=lineage)


def _published(path: Path, facts: tuple[AttributeFacts, ...], binder: Binder) -> SetOperator | None:
    """Return the operator by which clients randomized the sets; say where it cannot be used."""
    sets = [fact.name for fact in facts if fact.role is Role.ITEMS]
    if len(sets) != 1:
        return None  # told elsewhere
    try:
        operator = read_set_operator(path)
        with contextlib.suppress(ModuleNotFoundError):  # a run has them, and checks it then
            from ppdm_flow.mining.transactions.randomize.clients import PublishedOperator  # noqa: PLC0415  # numerics

            PublishedOperator.of(operator)
    except DataError as error:
        span = binder.places.value("source", "operator")
        binder.diagnostics += [replace(each, span=span) for each in error.diagnostics]
        return None
    return replace(operator, attribute=sets[0], step=CLIENTS, by_clients=True)


def _other(source: SourceEntry, path: str | None, kind: str) -> bool:
    """Whether the data describes itself in another format than the policy's, whose options then do not apply."""
    own = SQL if source.url is not None else source.format or inferred("sources", _telling(path)[0])
    return says_itself(kind) and own not in (None, kind)


def _server(source: SourceEntry) -> str:
    """Return the server that the data is on; none where its URL is at fault, which is reported elsewhere."""
    try:
        return database_address(source.url).name if source.url is not None else ""
    except AddressError:
        return ""


def _read_source_options(source: SourceEntry, kind: str, binder: Binder, *, given: bool) -> Mapping[str, str]:
    """Return the part of a database that is read; ``given`` is a file or database in place of the policy's own."""
    options = {} if given or source.url is None else {"url": source.url}
    options |= {key: text for key in ("table", "query") if (text := getattr(source, key)) is not None}
    if kind == SQL:
        if not options and (given or not source.url):
            text, hint = "a database has many tables, and `source` says none", "add `table: NAME`, or a `query:`"
            binder.diagnostics.append(Diagnostic("PPF470", text, binder.places.key("source"), hint=hint))
        return options
    if options and not given:
        text = f"a `{next(iter(options))}` is read of a database, and this is one of format `{kind}`"
        binder.diagnostics.append(Diagnostic("PPF470", text, binder.places.key("source", next(iter(options)))))
    return {}


def _located(path: str, home: Path, binder: Binder) -> str:
    """Return the path from the policy's folder, or the URL of an object store; say where that cannot be used."""
    if not is_bucket(path):
        return os.path.normpath(home / path)
    try:
        return bucket_address(path).url
    except BucketAddressError as error:
        text = f"the URL of an object store cannot be used: {error}"
        help_ = (
            "`s3://bucket/folder/file`, `gs://…` or `abfs://container/…`; credentials come from the environment only"
        )
        binder.diagnostics.append(Diagnostic("PPF465", text, binder.places.value("source", "path"), help=help_))
        return ""


def _named(kind: str | None, facts: tuple[AttributeFacts, ...]) -> tuple[str, ...] | None:
    """Return the name of the one column of a file that has only sets, and no header."""
    if kind is None or handling("sources", kind) != "only":
        return None
    sets = tuple(f.name for f in facts if f.role is Role.ITEMS)
    return sets if len(sets) == 1 else None


def _options(source: SourceEntry, kind: str | None, binder: Binder, name: str, *, given: bool) -> Mapping[str, Any]:
    """Return the reader's parameters as its own model understands them; as written where no format is known yet."""
    if kind is None:
        return source.with_
    use = ("source", "format") if source.format else ("source", "url" if source.url is not None else "path")
    database_options = _read_source_options(source, kind, binder, given=given)
    options = {**implied("sources", kind, name), **source.with_, **database_options}
    bound = binder.bind("sources", kind, options, use, ("source", "with"))
    return options if bound is None else bound.document


def _telling(path: str | None) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the name that tells the format of the policy's own data, and why no file of a folder or glob does."""
    if not path:
        return "", ()
    if is_bucket(path):
        return PurePosixPath(path).name, ()
    try:
        return telling_name(Path(path)), ()
    except DataError as error:
        return Path(path).name, error.diagnostics


def _formatless(name: str, faults: tuple[Diagnostic, ...], binder: Binder, *, given: bool) -> None:
    """Say that the format is not known, or that a folder or a glob has no files that could tell it."""
    span = None if given else binder.places.value("source", "path")
    if faults:
        binder.diagnostics += [replace(fault, span=span) for fault in faults]
    elif name:
        text = f"cannot infer the format of `{name}` from its extension"
        binder.diagnostics.append(Diagnostic("PPF407", text, span, help=choices("sources")))


def ledger_node(policy: Policy, home: Path) -> LedgerNode | None:
    """Return the ledger, or None where the policy has none, or its place is at fault."""
    given = policy.ledger
    if given is None:
        return None
    subject, ignore = subject_of(policy), tuple(sorted(set(given.ignore)))
    if given.url is not None and given.key is not None:
        try:
            server = server_address(given.url).name
        except AddressError:
            return None
        return LedgerNode(given.url, str(home / given.key), subject, given.repeat, server, ignore)
    if given.path is None:
        return None
    path = home / given.path
    key = home / given.key if given.key else path.with_name(f"{path.name}.key")
    return LedgerNode(str(path), str(key), subject, given.repeat, ignore=ignore)


# Gates: whether the metric that each of them bounds can exist, and does on every release that it is about.


def of_steps(gates: Iterable[FigureGate], steps: Collection[str]) -> tuple[FigureGate, ...]:
    """Return the gates with no releases where their figures are those of steps that the plan has put in place."""
    return tuple(replace(g, releases=()) if g.figure.partition(".")[0] in steps else g for g in gates)


def unmeasured(
    gates: Iterable[FigureGate], audits: Iterable[AuditNode], releases: Collection[str], places: ResolvedPlaces
) -> Iterator[Diagnostic]:
    """Yield a fault for every release that a gate is about, and its audit is not measured on, but on others (PPF644).

    An audit that is measured on none has errors of its own, and so has a gate that names what is none of ``releases``.
    """
    nodes = tuple(audits)
    for gate in gates:
        owner, path = gate.figure.partition(".")[0], ("gates", gate.id.removeprefix("gates."))
        there = [node.release for node in nodes if node.name == owner]
        for release in (r for r in gate.releases if there and r in releases and r not in there):
            text = f"gate `{path[1]}` is about release `{release}`, and audit `{owner}` cannot be measured there"
            hint = f"say which ones it is about: `releases: [{', '.join(there)}]`"
            yield Diagnostic("PPF644", text, places.key(*path), hint=hint, path=path)


def redefined(gates: Iterable[FigureGate], audits: Iterable[AuditNode], places: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield a fault for every gate on a figure whose name meant another one in 0.1 (PPF667).

    The parameter ``definitions`` of the audit says that the policy means the figure as it is now.
    """
    bound_by_name = {node.name: node.bound for node in audits}
    for gate in gates:
        owner, _, rest = gate.figure.partition(".")
        bound = bound_by_name.get(owner)
        figure = bound.info.figure_of(rest) if bound is not None else None
        if bound is None or figure is None or getattr(bound.params, "definitions", None) is not None:
            continue
        if former := bound.info.figures[figure].redefined:
            path = ("gates", gate.id.removeprefix("gates."))
            text = f"gate `{path[1]}`: what `{figure}` was in 0.1 is `{former}` now, and `{figure}` is another figure"
            hint = f"write `metric: {gate.metric.removesuffix(figure)}{former}`"
            yield Diagnostic("PPF667", text, places.value(*path, "metric"), hint=hint, path=path)


def dangling(
    gates: Iterable[FigureGate], owners: Iterable[str], releases: Iterable[str], places: ResolvedPlaces
) -> list[Diagnostic]:
    """Return a fault for every gate whose metric belongs to no audit, step or requirement (``owners``)."""
    known = tuple(dict.fromkeys(owners))
    names = tuple(releases)
    diagnostics = []
    for gate in gates:
        span = places.value(*gate.id.split(".", 1), "metric")
        fault = _fault(gate, known, names)
        diagnostics += [replace(fault, span=span)] if fault is not None else []
    return diagnostics


def _fault(gate: FigureGate, owners: tuple[str, ...], releases: tuple[str, ...]) -> Diagnostic | None:
    release, slash, metric = gate.metric.rpartition("/")
    if slash and release not in releases:
        return _diagnostic(gate, f"there is no release `{release}`", closest(release, releases), f"/{metric}")
    if any(metric.startswith(f"{owner}.") and len(metric) > len(owner) + 1 for owner in owners):
        return None
    if metric in owners:
        text = f"`{metric}` is not a complete metric: write `{metric}.FIGURE`"
        return _diagnostic(gate, text, None, "")
    owner, _, figure = metric.rpartition(".") if metric.startswith("privacy.") else metric.partition(".")
    near = closest(owner or metric, owners)
    return _diagnostic(gate, f"no audit, step or requirement is named `{owner or metric}`", near, f".{figure}")


def _diagnostic(gate: FigureGate, text: str, near: str | None, rest: str) -> Diagnostic:
    hint = f"did you mean `{near}{rest}`?" if near and rest.strip("./") else f"did you mean `{near}`?" if near else None
    return Diagnostic("PPF615", f"gate `{gate.id.removeprefix('gates.')}`: {text}", gate.span, hint=hint)


# Names of a policy: those that reports show wherever they come from, and those that metrics could not tell apart.


def clashes(policy: Policy, implicit: Iterable[str], places: ResolvedPlaces) -> list[Diagnostic]:
    """Return a fault for each audit whose name is also a step's, and each name that an implicit audit needs."""
    diagnostics = []
    for name in policy.audits:
        if name in policy.steps:
            span = places.key("steps", name)
            related = (RelatedPlace(span, f"step `{name}`"),) if span else ()
            text = f"`{name}` is the name of a step and of an audit: their figures could not be told apart"
            diagnostics.append(Diagnostic("PPF616", text, places.key("audits", name), related=related))
    reserved = {*implicit, "privacy", "gates"}
    for section, entries in (("steps", policy.steps), ("audits", policy.audits)):
        for name in entries:
            if name in reserved:
                text = f"`{name}` is the name of an audit that runs by itself: its figures could not be told apart"
                diagnostics.append(Diagnostic("PPF616", text, places.key(section, name)))
    return diagnostics


def names_of(policy: Policy) -> frozenset[str]:
    """Return the names of columns, steps, audits, gates, releases, plugins, files and roles that sign."""
    return frozenset(_names(policy))


def _names(policy: Policy) -> Iterator[str]:
    yield policy.name
    measured = (policy.audits, policy.analyses, policy.gates, policy.waivers)
    for entries in (policy.attributes, policy.steps, *measured, policy.releases):
        yield from entries
    for spec in specs_of(policy):
        yield from policy.privacy.entries(spec.name) if spec.entries is Entries.BY_NAME else ()
    yield from (step.use for step in policy.steps.values())
    yield from (audit.use for audit in policy.audits.values())
    yield from filter(None, (policy.source.path, policy.source.format, *(policy.source.columns or ())))
    for release in policy.releases.values():
        yield from filter(None, (release.path, release.format, release.audience))
    yield from filter(None, (waiver.signed_by for waiver in policy.waivers.values()))
    if policy.approvals is not None:
        yield from (*policy.approvals.roles, policy.approvals.signers)
    for attribute in policy.attributes.values():
        yield attribute.role.value
        if attribute.hierarchy is not None and attribute.hierarchy.csv is not None:
            yield attribute.hierarchy.csv


# Requirements in the names of the data's columns: a pattern means every column that it fits, and a name has to be one.
#
# A requirement about a column that does not exist would hold of anything.


_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})


def on_columns(
    requirements: Iterable[Requirement], facts: Sequence[AttributeFacts]
) -> tuple[tuple[Requirement, ...], list[Diagnostic]]:
    """Return the requirements with patterns expanded, and a fault for each name that no column has."""
    columns = _Columns({f.name: f for f in facts})
    given = list(requirements)
    columns.named.update((r.kind, r.attribute) for r in given if isinstance(r, OnAttribute))
    expanded = [r for requirement in given for r in requirement.on_columns(columns)]
    return tuple(expanded), columns.faults


@dataclass(slots=True)
class _Columns:
    facts: dict[str, AttributeFacts]
    faults: list[Diagnostic] = field(default_factory=list)
    named: set[tuple[str, str]] = field(default_factory=set)

    def each(self, requirement: Requirement) -> Iterator[str]:
        """Yield the columns that its name means, but for those that have a requirement of that kind."""
        for name in self.meant(requirement.name, requirement):
            if name == requirement.name or (requirement.kind, name) not in self.named:
                yield name

    def every(self, names: Iterable[str], requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that any of the names means, each once."""
        return tuple(dict.fromkeys(n for name in names for n in self.meant(name, requirement)))

    def pairs(self, pairs: Iterable[tuple[str, str]], requirement: Requirement) -> tuple[tuple[str, str], ...]:
        """Return (column, value) for (name, value), each once."""
        return tuple(dict.fromkeys((n, value) for name, value in pairs for n in self.meant(name, requirement)))

    def domain(self, column: str) -> tuple[str, ...] | None:
        """Return the declared domain of a column."""
        return self.facts[column].domain

    def meant(self, name: str, requirement: Requirement) -> tuple[str, ...]:
        """Return the columns that a name in a requirement means; identifiers only where it names them."""
        if name in self.facts:
            return (name,)
        fits = [n for n in self.facts if is_pattern(name) and matches(name, n)]
        fits = [n for n in fits if self.facts[n].role not in _PERSONAL]
        if not fits:
            text = f"`{requirement.id}` is about `{name}`, and the data has no such column"
            hint = did_you_mean(name, self.facts)
            fault = Diagnostic("PPF619", text, requirement.span, hint=hint)
            if fault not in self.faults:
                self.faults.append(fault)
        return tuple(fits)
