"""What to do next where a requirement or a gate does not hold: the levers that the policy has not pulled yet."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, kind_of
from ppdm_flow.policy.language.wording import Failure
from ppdm_flow.report.run.wording import is_cumulative


def lever(result: dict[str, Any], plan: dict[str, Any]) -> str:
    """Return a sentence of advice about a result that does not hold; empty where it holds."""
    if result["holds"]:
        return ""
    parts = result["id"].split(".")
    if parts[0] == "gates":
        return (
            "Ease the privacy requirement that costs most, choose steps that keep more, or move the bound: all of"
            " that is for the owner of the policy to decide."
        )
    spec = _over_releases() if is_cumulative(result) else kind_of(result["id"])
    if spec is None:
        return ""
    asked: dict[str, Any] = next((r for r in plan.get("requirements", ()) if r.get("id") == result["id"]), {})
    steps = [s for s in plan.get("steps", ()) if result["id"] in s.get("serves", ())]
    return spec.wording.advice(Failure(asked, steps, _released(plan, result["release"])))


def _over_releases() -> RequirementSpec | None:
    """Return the kind that is about several releases, whose advice is that of all such figures."""
    return next((spec for spec in built_in() if spec.requirement.successive and spec.clause is not None), None)


def _released(plan: dict[str, Any], release: str) -> dict[str, list[str]]:
    """Return what was done to each attribute of a release, by its name in the source."""
    node: dict[str, Any] = next((r for r in plan.get("releases", ()) if r.get("name") == release), {})
    return {
        found.get("source") or found["name"]: [change["change"] for change in found.get("changes", ())]
        for found in node.get("attributes", ())
    }
