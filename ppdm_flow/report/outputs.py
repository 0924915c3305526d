"""The releases: what each file is, and what was done to each of its attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.phrases import counted
from ppdm_flow.report.facts import Fact, facts
from ppdm_flow.report.wording import listed

_OPEN = 12
_MOST_FACTS = 16


@dataclass(frozen=True, slots=True)
class Attribute:
    """One released attribute; ``done`` says what steps did to its values."""

    name: str
    role: str
    done: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Output:
    """One release. ``summary`` is a line for the eye, ``facts`` all that is recorded."""

    name: str
    description: str
    audience: str
    summary: str
    digest: str
    facts: tuple[Fact, ...]
    attributes: tuple[Attribute, ...]
    folded: tuple[Attribute, ...]


def outputs(document: dict[str, Any]) -> tuple[Output, ...]:
    """Return the releases in the policy's order."""
    planned = {node["name"]: node for node in document["plan"].get("releases", ())}
    return tuple(_output(name, about, planned.get(name, {})) for name, about in document["releases"].items())


def _output(name: str, about: dict[str, Any], node: dict[str, Any]) -> Output:
    attributes = tuple(_attribute(found) for found in node.get("attributes", ()))
    return Output(
        name,
        node.get("description", ""),
        node.get("audience", ""),
        _summary(about),
        str(about.get("sha256") or ""),
        tuple(facts({key: value for key, value in about.items() if key != "audience" and value != []}, _MOST_FACTS)),
        attributes[:_OPEN],
        attributes[_OPEN:],
    )


def _summary(about: dict[str, Any]) -> str:
    counts = [counted(about[name], name[:-1]) for name in ("rows", "columns") if isinstance(about.get(name), int)]
    return ", ".join([*counts, *([str(about["path"])] if about.get("path") else [])])


def _attribute(found: dict[str, Any]) -> Attribute:
    done = list(dict.fromkeys(change["change"] for change in found.get("changes", ())))
    renamed = [f"renamed from {found['source']}"] if found.get("source") not in {None, "", found["name"]} else []
    return Attribute(
        found["name"],
        found["role"].replace("_", "-"),
        listed([*done, *renamed]) or "unchanged",
        bool(done),
    )
