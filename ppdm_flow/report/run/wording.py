"""Names of policies and figures in words that a reader knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ppdm_flow.core import phrases
from ppdm_flow.policy.language.kinds import kind_of as kind_of_requirement

_TRUTH = {True: "yes", False: "no"}


def kind_of(identifier: str) -> str:
    """Return the kind of a requirement or gate by its id: that of ``gates.x`` is a gate."""
    parts = identifier.split(".")
    if parts[0] == "gates":
        return "Gate"
    spec = kind_of_requirement(identifier)
    return spoken(parts[1] if len(parts) > 1 else parts[0]) if spec is None else spec.wording.label


def title_of(identifier: str) -> str:
    """Return the name that the policy gave to a requirement or gate, or else its kind."""
    parts = identifier.split(".", 2)
    if parts[0] == "gates" and len(parts) > 1:
        return identifier.partition(".")[2]
    return parts[2] if len(parts) > 2 else kind_of(identifier)


def is_cumulative(result: Mapping[str, Any]) -> bool:
    """Whether a result on classes is about those that this and other releases leave together."""
    return bool(str(result.get("metric", "")).startswith(f"{result['id']}.cumulative_"))


def is_of_all_files(result: Mapping[str, Any]) -> bool:
    """Whether a result is about what all files of the run tell together."""
    return str(result.get("metric", "")).rpartition(".")[2].startswith("together_")


def spoken(name: str) -> str:
    """``error_increase`` becomes ``Error increase``."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def moment(text: str) -> str:
    """Return an ISO 8601 time as ``2026-11-20, 09:14 UTC``; text that is none stays as it is."""
    try:
        time = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return text
    return f"{time:%Y-%m-%d, %H:%M} UTC"


def flat(value: Any) -> str:
    """Return a plain value as text."""
    if value is None:
        return "\N{EM DASH}"
    if isinstance(value, bool):
        return _TRUTH[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def listed(names: Sequence[str]) -> str:
    """``a, b and c``; of a long list only the first few and how many more."""
    return phrases.listed(names, 6)
