"""A plan as a JSON document: what `plan --format json` prints, and what the plan's digest is taken of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.gate import MAX_WIDTH, FigureGate
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.plan.definition import (
    AuditNode,
    ConfiguredPlugin,
    LinkedTable,
    Plan,
    PlannedTableJoin,
    ReleaseNode,
    RequiredApprovals,
    SourceNode,
    StepNode,
)
from ppdm_flow.plan.flow import ways
from ppdm_flow.plan.together import ReleasePair, keyed_links, read_together
from ppdm_flow.policy.redaction import without

if TYPE_CHECKING:  # `check` makes plans too, and needs no schema
    from ppdm_flow.plan import fields

Document = dict[str, Any]


def document(plan: Plan) -> fields.PlanDocument:
    """Return the JSON form. It holds no absolute path and no place in a file, so that its digest travels.

    What came from the environment is hidden where the plan knows of it (``secrets``), which is after the digest.
    """
    plan_document: fields.PlanDocument = {
        "version": 1,
        "policy": plan.policy,
        "policy_digest": plan.policy_digest,
        **_sources(plan),  # type: ignore[typeddict-item]  # mypy: it might hold any other key as well
        "steps": [_step(node) for node in plan.steps],
        "audits": [_audit(node) for node in plan.audits],
        "releases": [_release(plan, node) for node in plan.releases],
        "requirements": [_requirement(r) for r in plan.requirements],
        "gates": [_gate(gate) for gate in plan.gates],
        "nulls": plan.nulls.value,
        "randomness": plan.randomness,
        "report_values": "show" if plan.show_values else "hide",
    }
    if plan.ledger is not None:
        node = plan.ledger
        plan_document["ledger"] = {"subject": node.subject, "ignore": list(node.ignore), "repeat": node.repeat}
        if node.server:
            plan_document["ledger"]["server"] = node.server
        else:
            plan_document["ledger"]["path"] = _portable(node.place, plan.home)
    if plan.approvals is not None:
        plan_document["approvals"] = _approvals(plan.approvals, plan.home)
    if plan.people is not None:
        plan_document["people"] = {"subject": plan.people.subject, "known_rows": plan.people.written}
    if not read_together(plan) and len(plan.releases) > 1:
        plan_document["recipients"] = plan.recipients
    if keyed := [_link(each) for each in keyed_links(plan)]:
        plan_document["joined_by"] = keyed
    if plan.waivers:
        plan_document["waivers"] = [waiver.document for waiver in plan.waivers]
    shown: fields.PlanDocument = without(plan_document, plan.secrets)
    if plan.digest:
        shown["digest"] = plan.digest
    return shown


def _approvals(node: RequiredApprovals, home: str) -> fields.PlanApprovals:
    written: fields.PlanApprovals = {
        "roles": list(node.roles),
        "distinct": node.distinct,
        "signers": _portable(node.signers, home),
        "sha256": node.sha256,
    }
    if node.waivers:
        written["waivers"] = dict(node.waivers)
    return written


def _link(link: ReleasePair) -> fields.PlanLink:
    return {"releases": [link.one.name, link.other.name], "columns": [list(pair) for pair in link.keyed]}


def _sources(plan: Plan) -> fields.PlanSources:
    """Return the inputs: one source, or linked tables and their joins."""
    if not plan.tables:
        return {"source": _source(plan.source, plan.home)}
    tables: fields.PlanSources = {"tables": [_table(table) for table in plan.tables]}
    if plan.joins:
        tables["joins"] = [_join(join) for join in plan.joins]
    return tables


def _table(table: LinkedTable) -> fields.PlanTable:
    return {
        "name": table.name,
        "key": table.key,
        "person": table.person,
        "refers": table.refers,
        "source": _source(table.plan.source, table.plan.home),
    }


def _join(join: PlannedTableJoin) -> fields.PlanJoin:
    return {
        "tables": list(join.tables),
        "releases": [name for names in join.releases.values() for name in names],
        "requirements": [r.id for r in join.plan.requirements],
    }


def _source(node: SourceNode, home: str) -> fields.PlanSource:
    spellings: fields.PlanSpellings = {}
    if node.normalize:
        spellings["normalize"] = list(node.normalize)
    if node.keep_apart:
        spellings["keep_apart"] = list(node.keep_apart)
    clients: fields.PlanClients = {}
    if node.operator is not None:
        items = hashlib.sha256("\0".join(node.operator.items).encode()).hexdigest()
        clients = {"randomized_by": "clients", "operator": {**node.operator.entry(), "items_sha256": items}}
    options = dict(node.options)
    if node.operator is not None and "operator" in options:
        options["operator"] = PurePath(options["operator"]).name  # its content is what counts
    return {
        "path": None if node.path is None else _portable(node.path, home),
        "format": node.format,
        "options": options,
        "columns": None if node.columns is None else list(node.columns),
        "missing": list(node.missing),
        "incomplete_rows": "drop" if node.drop_incomplete else "keep",
        "undeclared": node.undeclared,
        "attributes": _attributes(node.attributes),
        **spellings,
        **clients,
    }


def _portable(path: str, home: str) -> str:
    """Return the path as seen from the policy's folder, or only its name where it lies elsewhere."""
    try:
        return PurePath(path).relative_to(home).as_posix()
    except ValueError:
        return Path(path).name


def _attributes(facts: Iterable[AttributeFacts]) -> list[fields.PlanAttribute]:
    return [_attribute(fact) for fact in facts]


def _attribute(fact: AttributeFacts) -> fields.PlanAttribute:
    return {
        "name": fact.name,
        "role": fact.role.value,
        "type": fact.type.value,
        "source": fact.source,
        "changes": [{"step": step, "change": change.value} for step, change in fact.changes],
    }


def _column(fact: AttributeFacts, steps: Iterable[str]) -> fields.PlanColumn:
    """Return a released column: an attribute, and where its cells come from."""
    return {
        **_attribute(fact),
        "computed_from": sorted(fact.lineage.computed_from),
        "how": fact.how.value,
        "chosen_by": sorted(fact.lineage.chosen_by),
        "steps": list(steps),
    }


def _plugin(bound: ConfiguredPlugin) -> fields.BoundPlugin:
    return {
        "use": bound.info.name,
        "kind": bound.info.kind.value,
        "version": bound.info.version,
        "distribution": f"{bound.distribution} {bound.version}",
        "parameters": dict(bound.document),
    }


def _step(node: StepNode) -> fields.PlanStep:
    effect = node.effect
    return {
        "name": node.name,
        **_plugin(node.bound),
        "input": node.input if len(node.inputs) == 1 else list(node.inputs),
        "outputs": sorted(effect.outputs) if effect.outputs else [""],
        "reads": list(effect.reads),
        "changes": {name: effect.changes[name].value for name in sorted(effect.changes)},
        "drops": list(effect.drops),
        "renames": {name: effect.renames[name] for name in sorted(effect.renames)},
        "rows": effect.rows,
        "serves": list(effect.serves),
        "guarantee": effect.guarantee,
        "randomized": node.randomized,
        "expands_weights": node.expands,
        "implicit": node.implicit,
        "attributes": _attributes(node.attributes),
    }


def _audit(node: AuditNode) -> fields.PlanAudit:
    return {
        "name": node.name,
        **_plugin(node.bound),
        "release": node.release,
        "requirements": [r.id for r in node.requirements],
        "implicit": node.implicit,
    }


def _release(plan: Plan, node: ReleaseNode) -> fields.PlanRelease:
    passed = ways(plan, node.input)
    return {
        "name": node.name,
        "input": node.input,
        "path": node.path,
        "format": node.format,
        "options": dict(node.options),
        "audience": node.audience,
        "description": node.description,
        "attributes": [_column(fact, passed.get(fact.name, ())) for fact in node.attributes],
        **_into(node),
        **_partitions(node),
    }


def _into(node: ReleaseNode) -> fields.PlanInto:
    into = node.into
    if into is None:
        return {}
    indexes = [list(index) for index in into.indexes]
    return {"into": {"url": into.url, "table": into.table, "indexes": indexes, "grants": list(into.grants)}}


def _partitions(node: ReleaseNode) -> fields.PlanPartitions:
    return {"partition_by": list(node.partition_by)} if node.partition_by else {}


def _requirement(requirement: Requirement) -> Document:
    about = {"releases": list(requirement.releases)} if requirement.releases else {}
    return {"id": requirement.id, "kind": requirement.kind, **about, **requirement.document()}


def _gate(gate: FigureGate) -> fields.PlanGate:
    written: fields.PlanGate = {
        "id": gate.id,
        "metric": gate.metric,
        "min": gate.minimum,
        "max": gate.maximum,
        "releases": list(gate.releases),
    }
    if gate.max_width != MAX_WIDTH:
        written["max_width"] = gate.max_width
    return written
