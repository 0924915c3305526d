"""The documents beside a released file that its recipients read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts import DICTIONARY, OPERATOR, SHEET_HTML, SHEET_MARKDOWN, json_text, refused
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.steps.origins import OperatorOrigin
from ppdm_flow.plan.definition import COUNTS, Plan, ReleaseNode
from ppdm_flow.policy.redaction import without
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.set_operator import PACKED, SEEDED, SETS, SetOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.formulas import UNDONE
from ppdm_flow.tables.sets import Baskets, SeededSets

Document = Mapping[str, Any]
_OURS = (DICTIONARY, SHEET_MARKDOWN, SHEET_HTML)
"""What the engine writes into every release's folder, so that no step can."""
_COUNTS: Document = {
    "name": "",
    "type": AttributeType.INTEGER.value,
    "description": COUNTS,
    "role": Role.WEIGHT.value,
    "computed_from": [],
    "how": DerivationKind.OTHER.value,
    "done": [],
}
"""Texts for recipients about the column of counts in a collapsed release."""
_SIZES = "published: each row says how many items the original set had; a person with a rare number stands out by it"


def as_json(document: Any) -> str:
    """Return the document as indented text."""
    return json_text(document)


def dictionary(plan: Plan, release: ReleaseNode, rows: int) -> Document:
    """Return the data dictionary: the columns and their changes; no values."""
    document: Document = without(_dictionary(plan, release, rows), plan.secrets)
    return document


def _dictionary(plan: Plan, release: ReleaseNode, rows: int) -> Document:
    return {
        "version": 1,
        "policy": plan.policy,
        "release": release.name,
        "description": release.description,
        "file": PurePosixPath(release.path).name,
        "format": release.format,
        **({"partition_by": list(release.partition_by)} if release.partition_by else {}),
        "options": dict(release.options),
        "rows": rows,
        "missing": "an empty cell without quotes" if release.format == "csv" else "null",
        "suppressed": "⊥",
        **({"formulas": UNDONE} if release.options.get("formulas") == "escape" else {}),
        "attributes": [
            {
                "name": a.name,
                "type": (a.type if a.is_numeric else AttributeType.TEXT).value,
                **({"description": a.description} if a.description else {}),
                "role": a.role.value,
                "computed_from": sorted(a.lineage.computed_from),
                "how": a.how.value,
                "done": list(_done(plan, release, a)),
                **({"sizes": _SIZES} if a.role is Role.ITEMS and a.was(Change.PERTURBED) else {}),
            }
            for a in release.attributes
        ]
        + ([{**_COUNTS, "name": release.collapse}] if release.collapse else []),
    }


def _done(plan: Plan, release: ReleaseNode, attribute: AttributeFacts) -> Iterator[Document]:
    """Yield each step's change of a released column, with its text for recipients."""
    name, notes_by_step = attribute.name, {}
    for node in reversed(plan.upstream(release.input)):
        name = next((old for old, new in node.effect.renames.items() if new == name), name)
        notes_by_step[node.name] = node.effect.told.get(name, "")
    for step, change in attribute.changes:
        yield {
            "step": step,
            "change": change.value,
            **({"told": notes_by_step[step]} if notes_by_step.get(step) else {}),
        }


def artifacts(
    plan: Plan,
    release: ReleaseNode,
    fitted: Mapping[str, Fitted],
    channels: Mapping[str, OperatorOrigin],
    released: DataView,
) -> Mapping[str, Document]:
    """Return the documents of all steps that feed the release, by file name.

    ``operator.json`` holds the channels that still describe the released values, under the released names; of sets
    also the items of ``released`` and its form, so that clients can apply the operator themselves. Where two steps have
    a document of one name, it goes under the step's name.
    """
    documents: dict[str, Document] = {}
    operators: list[Document] = []
    for name, channel in channels.items():
        if isinstance(channel.operator, SetOperator) and channel.operator.by_clients:
            entry = {**channel.operator.entry(), "attribute": name}
            operators.append({**entry, **_items(entry, released)})
    for node in plan.upstream(release.input):
        for name, document in fitted[node.name].artifacts.items():
            if name == OPERATOR and isinstance(document.get("operators"), list):
                entries = _released(document["operators"], node.name, channels)
                operators += [{**entry, **_items(entry, released)} for entry in entries]
            else:
                documents[_free(name, node.name, (*documents, release.path.partition("/")[0]))] = document
    if operators:
        documents[OPERATOR] = {"version": 1, "operators": operators}
    return documents


def _released(entries: list[Document], step: str, channels: Mapping[str, OperatorOrigin]) -> list[Document]:
    """Return the entries of the channels under their released names: the ones that the release was judged by."""
    mine = {c.operator.attribute: (name, c.operator) for name, c in channels.items() if c.operator.step == step}
    columns: list[Document] = []
    for entry in entries:
        if entry["attribute"] in mine:
            name, operator = mine[entry["attribute"]]
            judged = operator.entry() if isinstance(operator, SetOperator) else operator.document()
            if _differs(entry, judged):
                raise run_fault("PPF905", f"step `{step}` publishes another operator than the one that it is judged by")
            columns.append({**entry, "attribute": name})
    return columns


def _items(entry: Document, released: DataView) -> Document:
    """Return the items that an operator on sets chooses from, and the form of its sets, as the release has them."""
    if entry["form"] != SETS:
        return {}
    name = entry["attribute"]
    first = next(iter(released.partitions([name])), None)
    sets = None if first is None else first.sets[name]
    if sets is None or isinstance(sets, Baskets):
        return {}
    return {"items": sets.categories.to_pylist(), "sets": SEEDED if isinstance(sets, SeededSets) else PACKED}


def _differs(entry: Document, judged: Document) -> bool:
    plain: Document = json.loads(json.dumps(judged))
    return any(entry.get(key) != value for key, value in plain.items())


def plain_name(name: str, step: str) -> str:
    """Return the name of a step's document. Raises RunError where it is no file name, or that of a document of ours."""
    if PurePosixPath(name).name != name or refused(name) or name.casefold() in _OURS:
        raise run_fault("PPF905", f"step `{step}` has a document whose name is not a plain file name, or that of ours")
    return name


def _free(name: str, step: str, taken: Iterable[str]) -> str:
    plain_name(name, step)
    return f"{step}-{name}" if name.casefold() in {each.casefold() for each in taken} else name
