"""Plugins by name, with their parameters checked by their own models at the policy's own lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.plan.definition import ConfiguredPlugin
from ppdm_flow.plan.parameters import Parameters
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params, PluginSpec

_KINDS: Mapping[str, frozenset[Kind]] = {
    "anonymizers": frozenset({Kind.ROW_WISE, Kind.ORDER, Kind.TABLE, Kind.GENERATOR}),
    "audits": frozenset({Kind.AUDIT}),
    "sources": frozenset({Kind.SOURCE}),
    "sinks": frozenset({Kind.SINK}),
}


class Binder:
    """Binds plugins and gathers what is wrong with them."""

    def __init__(self, places: ResolvedPlaces) -> None:
        self.places = places
        self.diagnostics: list[Diagnostic] = []

    def bind(
        self, group: str, name: str, given: Mapping[str, Any], use: PolicyPath, with_: PolicyPath
    ) -> ConfiguredPlugin | None:
        """Return the plugin ``name`` with the parameters ``given`` at ``with_``; None where something is wrong.

        ``use`` is the path of the value that names the plugin.
        """
        spec = self._spec(group, name, use)
        if spec is None:
            return None
        params = self._params(spec, given, with_)
        if params is None:
            return None
        plugin = registry.find(group, name)
        document = params.model_dump(mode="json", by_alias=True)
        return ConfiguredPlugin(spec, params, document, plugin.distribution, plugin.version)

    def _spec(self, group: str, name: str, use: PolicyPath) -> PluginSpec | None:
        try:
            spec = registry.load(group, name)
        except PluginError as error:
            span = self.places.value(*use)
            self.diagnostics += [replace(d, span=span, path=use) for d in error.diagnostics]
            return None
        if spec.info.kind not in _KINDS[group]:
            text = f"the plugin `{name}` is listed among the {group}, but says that it is a {spec.info.kind}"
            self.diagnostics.append(Diagnostic("PPF404", text, self.places.value(*use)))
            return None
        return spec

    def _params(self, spec: PluginSpec, given: Mapping[str, Any], with_: PolicyPath) -> Params | None:
        try:
            return spec.params.model_validate(given)
        except ValidationError as error:
            parameters = Parameters(spec.info.name, spec.params, given, with_)
            self.diagnostics += parameters.faults(error, self.places)
        except Exception as error:  # noqa: BLE001  # a third party's validator must not look like our own fault
            text = f"the parameters of `{spec.info.name}` cannot be checked: it raised {type(error).__name__}"
            self.diagnostics.append(Diagnostic("PPF405", text, self.places.value(*with_)))
        return None
