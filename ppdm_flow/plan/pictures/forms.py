"""Every form of the picture, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ppdm_flow.plan.pictures.dots import dot
from ppdm_flow.plan.pictures.mermaids import mermaid
from ppdm_flow.plan.pictures.trees import text
from ppdm_flow.plan.pictures.vectors import svg

FORMS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"text": text, "mermaid": mermaid, "dot": dot, "svg": svg}


def draw(form: str, document: Mapping[str, Any]) -> str:
    """Return the picture of that form. Raises KeyError for an unknown one."""
    return FORMS[form](document)
