"""`init --from-contract`: the attributes of a first policy, from what a data contract says of one table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ppdm_flow.api.contract.roles import guess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.formats import inferred
from ppdm_flow.policy.contract import Contract, ContractObject, ContractProperty, read_contract, shown
from ppdm_flow.report.contract import ContractDraft, DraftedAttribute, policy_name, render

_TYPES = {
    "string": AttributeType.TEXT,
    "boolean": AttributeType.TEXT,
    "time": AttributeType.TEXT,
    "integer": AttributeType.INTEGER,
    "number": AttributeType.FLOAT,
    "date": AttributeType.DATE,
    "timestamp": AttributeType.TIMESTAMP,
}
_ISO = frozenset({"", "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-ddTHH:mm:ss"})
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+")


def from_contract(file: Path, table: str | None = None) -> str:
    """Return a first policy for a table of a data contract, as YAML with comments.

    Raises
    ------
    UsageError
        Where the file cannot be read (PPF100), has several tables and none is chosen, or no such table (PPF694), or
        nothing that a policy could release (PPF984).
    PolicyError
        Where the contract is wrong (PPF980 to PPF984), with places.
    """
    contract = read_contract(file)
    chosen = _chosen(contract, table)
    attributes = _grouped(tuple(_attribute(each) for each in chosen.properties))
    if all(each.role is Role.IDENTIFIER for each in attributes):
        text = f"no policy can be drafted: table `{shown(chosen.name)}` has no column but identifiers"
        reasons = "; ".join(f"`{shown(each.name)}`: {each.reasons[0]}" for each in attributes[:3])
        raise UsageError(Diagnostic("PPF984", text, help=reasons or "give the table `properties`, one for each column"))
    others = tuple(each.name for each in contract.objects if each is not chosen)
    named = f"{contract.name}-{chosen.name}" if others else contract.name
    unused = (*contract.unused, *(f"schema.{key}" for key in chosen.unused))
    draft = ContractDraft(
        name=policy_name(named),
        contract=f"{contract.name}, version {contract.version} (ODCS {contract.standard})",
        table=chosen.name,
        description=chosen.description or contract.purpose,
        path=_path(chosen),
        attributes=attributes,
        unused=unused,
        others=others,
    )
    return render(draft)


def _chosen(contract: Contract, table: str | None) -> ContractObject:
    names = [each.name for each in contract.objects]
    if table is None and len(names) == 1:
        return contract.objects[0]
    for each in contract.objects:
        if each.name == table:
            return each
    listing = ", ".join(f"`{shown(name)}`" for name in names[:12])
    if table is None:
        text = f"the contract has {len(names)} tables, and a policy is made for one"
        raise UsageError(Diagnostic("PPF694", text, help=f"choose by `--table`: {listing}"))
    text = f"the contract has no table `{shown(table)}`"
    raise UsageError(Diagnostic("PPF694", text, hint=did_you_mean(table, names), help=f"it has {listing}"))


def _grouped(attributes: tuple[DraftedAttribute, ...]) -> tuple[DraftedAttribute, ...]:
    """Return the attributes with something to group by: without quasi-identifiers, nothing is required of a release."""
    if any(each.role is Role.QUASI_IDENTIFIER for each in attributes):
        return attributes
    return tuple(_known(each) if each.role is Role.SENSITIVE else each for each in attributes)


def _known(attribute: DraftedAttribute) -> DraftedAttribute:
    reason = "no other column is one that others may know, and of sensitive ones alone nothing could be required"
    decide = "what others may know of people, and give those columns this role"
    return replace(attribute, role=Role.QUASI_IDENTIFIER, reasons=(*attribute.reasons, reason), decide=decide)


def _attribute(column: ContractProperty) -> DraftedAttribute:
    guessed = guess(column)
    kind, notes = _type(column)
    return DraftedAttribute(
        column.column,
        guessed.role,
        kind,
        column.description,
        guessed.reasons,
        guessed.decide,
        (*notes, *_notes(column)),
    )


def _type(column: ContractProperty) -> tuple[AttributeType, list[str]]:
    """Return the type of an attribute, and what to know of it where it is not that of the contract."""
    kind = _TYPES.get(column.type, AttributeType.TEXT)
    if not column.type:
        return kind, ["the contract gives it no type, so its values are texts"]
    if column.type not in _TYPES:
        return kind, [f"no attribute has the type `{shown(column.type)}`"]
    if kind.is_time and column.format not in _ISO:
        return AttributeType.TEXT, [f"its format `{shown(column.format)}` is not ISO 8601, so its values are texts"]
    return kind, []


def _notes(column: ContractProperty) -> Iterator[str]:
    if column.name != column.column:
        yield f"the contract calls it `{shown(column.name)}`"
    if column.unused:
        yield f"not taken over: {', '.join(shown(key) for key in column.unused)}"


def _path(table: ContractObject) -> str:
    """Return a file name for the data: the contract's own where it is a plain one of a format that can be read."""
    name = table.physical_name
    if _FILE.fullmatch(name) and inferred("sources", name) is not None:
        return name
    return f"{policy_name(table.name)}.csv"
