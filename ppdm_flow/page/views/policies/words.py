"""What can stand where in a policy: the published schema and the parameters of plugins, made small for an editor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from starlette.responses import Response

from ppdm_flow.api.documents import text_of
from ppdm_flow.api.explain.templates import template_names
from ppdm_flow.core.errors import PluginError
from ppdm_flow.page.http.call import Call
from ppdm_flow.sdk import registry

_LEFT_OUT = frozenset({"markdownDescription", "examples", "pattern", "propertyNames", "$schema", "$id", "title"})
_NAMES = frozenset({"properties", "definitions", "$defs"})
_CHILD = ".child"


def words(_call: Call) -> Response:
    """Send the schema of policies, and what each plugin takes, as JSON."""
    return Response(_words(), media_type="application/json")


@cache
def _words() -> bytes:
    schema = json.loads(text_of("policy"))
    definitions = {name: each for name, each in schema["definitions"].items() if not name.endswith(_CHILD)}
    templates = list(template_names())
    plugins = {group: _plugins(group) for group in ("anonymizers", "audits", "sources", "sinks")}
    return json.dumps(
        {"definitions": _small(definitions, names=True), "plugins": plugins, "templates": templates}
    ).encode()


def _plugins(group: str) -> dict[str, Any]:
    found = {}
    for plugin in registry.listed(group):
        try:
            spec = registry.load(group, plugin.name)
        except PluginError:  # the page of the plugin says why
            continue
        found[plugin.name] = {"about": spec.info.summary, "with": _small(spec.params.model_json_schema())}
    return found


def _small(value: Any, *, names: bool = False) -> Any:
    """Return a schema without what an editor does not show; the keys of ``properties`` are names, and all stay."""
    if isinstance(value, Mapping):
        kept = ((key, each) for key, each in value.items() if names or key not in _LEFT_OUT)
        return {key: _small(each, names=not names and key in _NAMES) for key, each in kept}
    return [_small(each) for each in value] if isinstance(value, list) else value
