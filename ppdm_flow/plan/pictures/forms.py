"""Every form of the picture, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ppdm_flow.core.visible import visible_line
from ppdm_flow.plan.pictures.dots import dot
from ppdm_flow.plan.pictures.mermaids import mermaid
from ppdm_flow.plan.pictures.trees import text
from ppdm_flow.plan.pictures.vectors import svg

FORMS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"text": text, "mermaid": mermaid, "dot": dot, "svg": svg}


def draw(form: str, document: Mapping[str, Any]) -> str:
    """Return the picture of that form, with control characters made visible. Raises KeyError for an unknown one."""
    return FORMS[form](_shown(document))


def _shown(value: Any) -> Any:
    """Return the document with every text as it may stand on a line."""
    if isinstance(value, str):
        return visible_line(value)
    if isinstance(value, Mapping):
        return {_shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value
