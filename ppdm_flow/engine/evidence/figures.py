"""Which measured figures a statement tells: to recipients outside of the house, those of the public report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.recipients.figures import is_small_count
from ppdm_flow.engine.evidence.facts import Shown
from ppdm_flow.plan.meanings import Meanings

_INTERNAL, _PUBLIC = "internal", "public"


def figures_for(report: Mapping[str, Any]) -> Shown:
    """Return which of a report's measured figures the recipient of each release may have.

    Of a release for the house (audience `internal`) all; of others those that their plugin's card calls public, and no
    small counts.
    """
    meanings = Meanings.of(report["plan"])

    def shown(release: str, result: Mapping[str, Any]) -> bool:
        if report["releases"][release].get("audience") == _INTERNAL:
            return True
        metric = result["metric"]
        figure = meanings.figure(metric)
        document = report["metrics"].get(f"{release}/{metric}") or report["metrics"].get(metric)
        if figure is None or figure.audience != _PUBLIC or document is None or document["value"] is None:
            return False
        return not is_small_count(document["value"], document["unit"])

    return shown
