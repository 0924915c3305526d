"""The policy language: reads YAML with its places into typed models."""

from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, ResolvedPlaces
from ppdm_flow.policy.loading import load
from ppdm_flow.policy.requirements import declared_values, gates_of, requirements_of

__all__ = [
    "PolicyReading",
    "ResolvedPlaces",
    "Policy",
    "PolicyPath",
    "declared_values",
    "gates_of",
    "load",
    "requirements_of",
]
