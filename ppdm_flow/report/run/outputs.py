"""The releases: what each file is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.phrases import counted
from ppdm_flow.report.run.facts import Fact, facts
from ppdm_flow.report.run.fields import ReportDocument

_MOST_FACTS = 16


@dataclass(frozen=True, slots=True)
class Output:
    """One release. ``summary`` is a line for the eye, ``facts`` all that is recorded."""

    name: str
    description: str
    audience: str
    summary: str
    digest: str
    facts: tuple[Fact, ...]


def outputs(document: ReportDocument) -> tuple[Output, ...]:
    """Return the releases in the policy's order."""
    planned = {node["name"]: node for node in document["plan"].get("releases", ())}
    return tuple(_output(name, about, planned.get(name, {})) for name, about in document["releases"].items())


def _output(name: str, about: dict[str, Any], node: dict[str, Any]) -> Output:
    return Output(
        name,
        node.get("description", ""),
        node.get("audience", ""),
        _summary(about),
        str(about.get("sha256") or ""),
        tuple(facts({key: value for key, value in about.items() if key != "audience" and value != []}, _MOST_FACTS)),
    )


def _summary(about: dict[str, Any]) -> str:
    counts = [counted(about[name], name[:-1]) for name in ("rows", "columns") if isinstance(about.get(name), int)]
    return ", ".join([*counts, *([str(about["path"])] if about.get("path") else [])])
