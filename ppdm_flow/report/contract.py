"""A first policy from a data contract, as YAML with comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec, built_in
from ppdm_flow.policy.language.wording import Draft, DraftFacts
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.report.snippet import printable

_LONGEST = 400
_UNKNOWN = 0
"""A contract does not say how many different values a column has."""


# A first policy from a data contract: every role a guess, with its reasons beside it and what is to be decided.


@dataclass(frozen=True, slots=True)
class DraftedAttribute:
    """A column with its guessed role: ``reasons`` for it, what to ``decide``, and ``notes`` on what else was said."""

    name: str
    role: Role
    type: AttributeType
    description: str
    reasons: tuple[str, ...]
    decide: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractDraft:
    """A first policy. ``unused`` are the keys of the contract that no policy has, ``others`` its other tables."""

    name: str
    contract: str
    table: str
    description: str
    path: str
    attributes: tuple[DraftedAttribute, ...]
    unused: tuple[str, ...]
    others: tuple[str, ...]


def render(draft: ContractDraft) -> str:
    """Return the policy as YAML with comments."""
    parts = [
        "\n".join(_head(draft)) + "\n",
        f"version: 1\nname: {draft.name}\n{_description(draft)}",
        f"source:\n  path: {scalar(draft.path)}  # from the folder of this file; or give another with --data\n",
        "\n".join(["attributes:", *_attributes(draft.attributes)]) + "\n",
        privacy(_facts(draft.attributes)),
        _steps(draft.attributes),
        f"releases:\n  study: {{path: {draft.name}.csv}}\n",
    ]
    return "\n".join(part for part in parts if part)


def _head(draft: ContractDraft) -> Iterator[str]:
    yield from comment(
        f"A first policy, made by `ppdm-flow init --from-contract` from table {_short(draft.table)} of the data"
        f" contract {_short(draft.contract)}. A contract says what columns are, not what others know of people: every"
        " role is a guess, with its reasons. No column is made `insensitive` or a `target`, even if the contract says"
        " so: these leave as they are, which only somebody who knows the data and its recipients can decide."
    )
    if draft.others:
        names = ", ".join(_short(name) for name in draft.others)
        yield from comment(
            f"Other tables of the contract, which need policies of their own, or `tables:` with this one: {names}."
        )
    if draft.unused:
        yield from comment(f"Not taken over from the contract: {', '.join(_short(key) for key in draft.unused)}.")


def _description(draft: ContractDraft) -> str:
    return f"description: {scalar(_short(draft.description, _LONGEST))}\n" if draft.description else ""


def _attributes(attributes: Sequence[DraftedAttribute]) -> Iterator[str]:
    for each in attributes:
        text = f"{_sentence('; '.join(each.reasons))} Decide {each.decide}."
        notes = "".join(f" {_sentence(note)}" for note in each.notes)
        cut = len(each.description) > _LONGEST
        yield from comment(f"{text}{notes}{' Its description is cut.' if cut else ''}", "  ")
        yield f"  {scalar(each.name)}: {flow(_declared(each))}"


def _declared(attribute: DraftedAttribute) -> dict[str, Any]:
    declared: dict[str, Any] = {"role": attribute.role.value}
    if attribute.type.is_numeric and attribute.role is not Role.IDENTIFIER:
        declared["type"] = attribute.type.value
    if attribute.description:
        declared["description"] = _short(attribute.description, _LONGEST)
    return declared


def _facts(attributes: Sequence[DraftedAttribute]) -> DraftFacts:
    columns = [{"name": each.name, "type": each.type.value, "distinct": _UNKNOWN} for each in attributes]
    by_role = {role: [c for c, a in zip(columns, attributes, strict=True) if a.role is role] for role in Role}
    return DraftFacts(by_role[Role.QUASI_IDENTIFIER], by_role[Role.SENSITIVE], PEOPLE)


def _steps(attributes: Sequence[DraftedAttribute]) -> str:
    if not any(each.role is Role.QUASI_IDENTIFIER for each in attributes):
        return ""
    lines = comment("Small classes, each with labels of its own, that keep what `privacy` asks.", "  ")
    return "\n".join(["steps:", *lines, recoding()]) + "\n"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _short(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


# Pieces of YAML for policies that people go on with: texts, values in one line, comments.


_WIDTH = 110


def scalar(text: str) -> str:
    """Return a text as YAML: plain where it can only be itself, else quoted, with all escapes; no param is meant."""
    return plain_or_quoted(text.replace("${", "$${"))


def comment(text: str, indent: str = "") -> list[str]:
    """Return a text as lines of comment: nothing in it can end one."""
    lines, line = [], f"{indent}#"
    for word in printable(" ".join(text.split())).split(" "):
        if len(line) + len(word) >= _WIDTH and line.strip() != "#":
            lines.append(line)
            line = f"{indent}#"
        line += f" {word}"
    return [*lines, line]


def flow(value: Any) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:.12g}"
    return str(value) if value == "0.5" else scalar(str(value))


# The common part of all drafted first policies: a name, and what is required.


PEOPLE = 5
"""Among how many people a first policy lets everybody hide."""
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def recoding(labels: Mapping[str, Any] = MappingProxyType({}), importance: Mapping[str, Any] | None = None) -> str:
    """Return the step of a first policy that keeps what it requires; its intervals end at round numbers.

    ``labels`` say of some attributes what its values become, ``importance`` what a lost cell of some costs.
    """
    weights = f", importance: {flow(importance)}" if importance else ""
    return f"  recode: {{use: mondrian, with: {{labels: {flow({'significant': 2, **labels})}{weights}}}}}"


def policy_name(file: str) -> str:
    """Return a name that a policy may have, from that of a file."""
    stem = file.partition(".")[0] or file.strip(".").partition(".")[0]
    name = _NAME.sub("-", stem).strip("-_")[:48]
    return name if name[:1].isalpha() else f"data-{name}".rstrip("-")


def privacy(facts: DraftFacts) -> str:
    """Return the requirements that a first policy has, each with its reason; nothing where there are none."""
    lines: list[str] = []
    is_required = False
    for spec in built_in():
        draft = spec.wording.draft(facts) if spec.wording.draft is not None else None
        lines += [] if draft is None else _drafted(spec, draft)
        is_required = is_required or (draft is not None and not draft.comment)
    head = "privacy:" if is_required else "# privacy:"  # a key without a value is no policy
    return "\n".join([head, *lines]) + "\n" if lines else ""


def _drafted(spec: RequirementSpec, draft: Draft) -> Iterator[str]:
    yield from comment(draft.reason, "  ")
    mark = "# " if draft.comment else ""
    if spec.entries is Entries.ONCE:
        yield f"  {mark}{spec.name}: {flow(draft.entry)}"
        return
    yield f"  {mark}{spec.name}:"
    for name, body in draft.entry.items():
        yield f"  {mark}  {scalar(name)}: {flow(body)}"
