"""A first policy from a data contract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.mining.profiling.roles import KINDS
from ppdm_flow.mining.profiling.words import named, of_ids, tokens
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


# `init --from-contract`: the attributes of a first policy, from what a data contract says of one table.


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


# The role of a column in a policy, guessed from a data contract, with the reasons. In doubt the more careful role.
#
# No column becomes `insensitive` or a `target`, with any contract: such columns are released as they are, and that is
# for the steward to decide.


_NESTED = frozenset({"object", "array", "map", "vector"})
_ID_FORMATS = frozenset({"email", "uuid", "uri", "hostname", "ipv4", "ipv6", "password"})
_DIRECT = frozenset({"identifier", "identifiers", "direct", "credential", "credentials", "password"})
_PERSONAL = frozenset({"pii", "personal", "phi", "pci", "spi", "gdpr", "npi", "personenbezogen"})
_SENSITIVE = frozenset(
    {"sensitive", "restricted", "confidential", "secret", "special", "health", "private", "protected", "critical"}
)
_QUASI = frozenset({"quasi", "qi", "indirect", "demographic", "demographics"})
_DENIED = frozenset({"non", "not", "no"})
_STATED = frozenset({Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE})
_NO_IDS = frozenset({"postal_code", "place", "birth", "age", "sex", "origin"})


@dataclass(frozen=True, slots=True)
class ContractGuess:
    """A role, the reasons for it, and what the steward has to ``decide``."""

    role: Role
    reasons: tuple[str, ...]
    decide: str


def guess(column: ContractProperty) -> ContractGuess:
    """Return the most careful role that the contract speaks for; without any, a quasi-identifier."""
    direct = _once(_identifiers(column))
    if direct:
        decide = "whether it may leave under a pseudonym (`pseudonymize`): as it stands it does not leave"
        return ContractGuess(Role.IDENTIFIER, direct, decide)
    stated = tuple(_stated(column))
    if stated:
        role, reason = stated[0]
        return ContractGuess(role, _once((reason, *_also(column, role))), "whether that holds for this release, too")
    kind = named(column.name) or named(column.column)
    if kind is not None and KINDS[kind].role is Role.QUASI_IDENTIFIER:
        reason = f"it is named like {KINDS[kind].says}"
        return ContractGuess(Role.QUASI_IDENTIFIER, _once((reason, *_also(column, Role.QUASI_IDENTIFIER))), _COARSE)
    harmful = _once(_harmful(column, kind))
    if harmful:
        decide = "whether others may know it (then `quasi_identifier`), and drop it if most rows have their own value"
        return ContractGuess(Role.SENSITIVE, harmful, decide)
    reasons = _once(_marked_quasi(column)) or (_unknown(column),)
    return ContractGuess(Role.QUASI_IDENTIFIER, reasons, _COARSE)


_COARSE = "how coarse it may be, and whether it harms (then `sensitive`)"


def _once(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


def _identifiers(column: ContractProperty) -> Iterator[str]:
    """Yield what says that a column tells who somebody is, or that no policy can hold its values."""
    if column.type in _NESTED:
        yield f"its type is `{column.type}`: no attribute of a policy holds nested values, so it does not leave"
    if column.format.lower() in _ID_FORMATS:
        yield f"its format is `{shown(column.format)}`"
    reasons = {
        "it is a primary key": column.primary_key,
        "every value of it is unique": column.unique,
        "the contract names an encrypted form of it": column.encrypted,
        "it refers to rows of another table": column.refers,
        "the contract says that it is an identifier": column.role == Role.IDENTIFIER,
    }
    yield from (reason for reason, holds in reasons.items() if holds)
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _DIRECT)
    yield from _by_name(column)


def _by_name(column: ContractProperty) -> Iterator[str]:
    """Yield why a column's name is like an identifier's; a personal column with an unknown name counts as one."""
    kind = named(column.name) or named(column.column)
    if kind is not None and KINDS[kind].role is Role.IDENTIFIER:
        yield f"it is named like {KINDS[kind].says}"
    elif kind not in _NO_IDS and any(of_ids(name) for name in (column.name, column.column)):
        yield "it is named like ids of people or their records"
    elif kind is None or KINDS[kind].role not in _STATED:
        yield from (f"{mark} marks it as personal" for word, mark in _marks(column) if word in _PERSONAL)


def _stated(column: ContractProperty) -> Iterator[tuple[Role, str]]:
    """Yield the role that a contract written by this program says, where it is one that guards."""
    if column.role in _STATED:
        yield Role(column.role), f"the contract says that its role is `{column.role}`"


def _harmful(column: ContractProperty, kind: str | None) -> Iterator[str]:
    if kind is not None and KINDS[kind].role is Role.SENSITIVE:
        yield f"it is named like {KINDS[kind].says}"
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _SENSITIVE)


def _marked_quasi(column: ContractProperty) -> Iterator[str]:
    yield from (f"{mark} marks it" for word, mark in _marks(column) if word in _QUASI)


def _also(column: ContractProperty, role: Role) -> Iterator[str]:
    """Yield what speaks for `sensitive` as well."""
    if role is Role.QUASI_IDENTIFIER:
        yield from (f"{mark} says that it may be sensitive, too" for word, mark in _marks(column) if word in _SENSITIVE)


def _unknown(column: ContractProperty) -> str:
    if column.role:
        return f"the contract says `{shown(column.role)}`, which is for a steward to decide"
    if column.classification:
        return f"its classification `{shown(column.classification)}` does not say that others cannot know it"
    return "nothing says that others cannot know it"


def _marks(column: ContractProperty) -> Iterator[tuple[str, str]]:
    """Yield each word of tags and classification once, with what it stands in.

    A word behind a denial says nothing (`non-pii`), nor does `identifier` in `quasi-identifier`.
    """
    texts = [(tag, f"the tag `{shown(tag)}`") for tag in column.tags]
    if column.classification:
        texts.append((column.classification, f"its classification `{shown(column.classification)}`"))
    for text, mark in texts:
        words = tokens(text)
        said = {word for before, word in zip(("", *words), words, strict=False) if before not in _DENIED}
        yield from ((word, mark) for word in sorted(said - _DIRECT if said & _QUASI else said))
