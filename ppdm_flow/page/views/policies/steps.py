"""The steps of a policy as a drawn graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ppdm_flow.page.services.policies.checks import PolicyCheck
from ppdm_flow.plan.pictures.cards import linked_drawing

_MOST_NODES = 300
"""A drawing with more of them is no help, and takes long."""


def drawing_of(checked: PolicyCheck) -> Markup | None:
    """Return the drawing of what is read, done and released; None where the text has errors, or too many steps."""
    about = checked.plan
    if about is None or len(about["steps"]) + len(about["releases"]) > _MOST_NODES:
        return None
    return linked_drawing(about, _page_of, name="steps")


def _page_of(step: Mapping[str, Any]) -> str:
    """Return where the plugin of a step is explained."""
    return "" if step["implicit"] else f"/explain/{step['use']}"
