"""The page of a plugin: its card, and its parameters as its model describes them."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import BaseModel

from ppdm_flow.api.explain.served import kinds_served
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.core.supports import Support
from ppdm_flow.policy.language.shape import Key, Keys, ListOf, MapOf, Shape, shape_of
from ppdm_flow.policy.language.words import expected
from ppdm_flow.sdk import registry

_ARTICLES = {"anonymizers": "anonymizer", "audits": "audit", "sources": "source", "sinks": "sink"}


def plugin_page(group: str, name: str) -> str:
    """Return the page of an installed plugin as Markdown."""
    plugin = registry.find(group, name)
    head = f"# {name}: {_ARTICLES[group]} of {plugin.distribution} {plugin.version}"
    try:
        spec = registry.load(group, name)
    except PluginError as error:
        return f"{head}\n\nIt cannot be loaded: {error.diagnostics[0].message}."
    example = [f"## Example\n\n```yaml\n{spec.info.example}\n```"] if spec.info.example else []
    return "\n\n".join([head, *_card(spec.info), parameters(spec.params), *_figures(spec.info), *example])


def parameters(model: type[BaseModel]) -> str:
    """Return what a plugin's ``with:`` may hold."""
    keys = shape_of(model)
    if not keys.keys:
        return "## Parameters\n\nIt takes none."
    about = _about(model)
    return "\n\n".join(part for part in ("## Parameters", about, "\n".join(_lines(keys, ""))) if part)


def _card(info: PluginInfo) -> list[str]:
    facts = {
        "kind": info.kind.value.replace("_", "-"),
        "serves": ", ".join(f"`privacy.{kind}`" for kind in kinds_served(info)),
        "draws at random": "yes" if info.randomized else "no",
        "cost": info.cost,
        "reference": info.reference,
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    claims = [f"- it claims: {claim}" for claim in info.guarantees]
    return [info.summary, "\n".join([*lines, *claims])]


def _figures(info: PluginInfo) -> list[str]:
    lines = [f"- `{name}`: {figure.what}" for name, figure in info.figures.items()]
    return ["## Figures\n\n" + "\n".join(lines)] if lines else []


def _lines(keys: Keys, indent: str) -> list[str]:
    lines = []
    for key in keys.keys.values():
        lines.append(f"{indent}- `{key.name}`: {_expected(key)}")
        inner = _inner(key.shape)
        if inner is not None:
            lines += _lines(inner, f"{indent}  ")
    return lines


def _expected(key: Key) -> str:
    what = "a map of maps" if isinstance(key.shape, MapOf) and _inner(key.shape) else expected(key.shape)
    if key.required:
        return f"{what}; required"
    return what if key.default is None else f"{what}; default {_plain(key.default)}"


def _inner(shape: Shape) -> Keys | None:
    match shape:
        case Keys():
            return shape
        case MapOf():
            return _inner(shape.value)
        case ListOf():
            return _inner(shape.item)
    return None


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Support):
        return "`{" + ", ".join(f"{unit}: {number:g}" for unit, number in value.document.items()) + "}`"
    return f"`{value:.4g}`" if isinstance(value, float) else f"`{value}`"


def _about(model: type[BaseModel]) -> str:
    text = inspect.cleandoc(model.__doc__ or "")
    return text.replace("``", "`")
