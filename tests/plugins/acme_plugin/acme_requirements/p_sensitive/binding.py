"""The entry of a policy as a requirement."""

from __future__ import annotations

from acme_requirements.p_sensitive.requirement import PSensitive

from ppdm_flow.core.roles import Role


def bind(entry, place):
    return PSensitive(
        place.id, entry.p, entry.k, protected(entry, place.policy), place.grouped(entry.attributes), place.span
    )


def protected(entry, policy):
    """Return the attributes that an entry protects."""
    every = tuple(name for name, attribute in policy.attributes.items() if attribute.role is Role.SENSITIVE)
    return entry.sensitive or every
