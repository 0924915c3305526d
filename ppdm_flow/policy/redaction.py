"""Redacts values from the environment, so that no diagnostic and no document shows them, nor a policy's waivers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.core.waivers import AcceptedWaiver, day
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyReading

HIDDEN = "…"
UNSHOWN = "(from the environment)"
"""What stands in place of a whole value."""
_BARE = 4
"""From this length on a value is hidden wherever it stands; a shorter one only between backticks."""


_WORDS = frozenset(("true", "false", "null"))
_OWN = frozenset(map(str, (*Role, *AttributeType, *Change, *Nulls, *Kind, *Severity)))
"""Words of our own documents."""


def telling(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts that are to be hidden: no numbers and no switches, which say what a release is held to."""
    return frozenset(text for text in texts if text.strip() and text not in _WORDS and not _is_number(text))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def without(value: Any, secrets: Collection[str]) -> Any:
    """Return a document of maps, lists and texts with every one of ``secrets`` hidden."""
    if not secrets:
        return value
    if isinstance(value, str):
        return value if value in _OWN else _unsaid(value, secrets)
    if isinstance(value, Mapping):
        return {without(key, secrets): without(item, secrets) for key, item in value.items()}
    return [without(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def _unsaid(text: str, secrets: Collection[str]) -> str:
    if text in secrets:
        return UNSHOWN
    for secret in sorted(secrets, key=len, reverse=True):
        text = _hide(text, secret)
    return text


def redacted(diagnostic: Diagnostic, secrets: Collection[str]) -> Diagnostic:
    """Return the diagnostic with every one of ``secrets`` hidden."""
    shown = diagnostic
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            shown = _without(shown, secret)
    return shown


def _without(diagnostic: Diagnostic, secret: str) -> Diagnostic:
    return replace(
        diagnostic,
        message=_hide(diagnostic.message, secret),
        hint=_hide(diagnostic.hint, secret) if diagnostic.hint else None,
        help=_hide(diagnostic.help, secret) if diagnostic.help else None,
        notes=tuple(_hide(n, secret) for n in diagnostic.notes),
        related=tuple(RelatedPlace(r.span, _hide(r.text, secret)) for r in diagnostic.related),
        path=tuple(_hide(p, secret) if len(secret) >= _BARE else p for p in diagnostic.path),
    )


def _hide(text: str, secret: str) -> str:
    for shown in (secret, short(secret)):
        text = text.replace(f"`{shown}`", f"`{HIDDEN}`")
        if len(secret) >= _BARE:
            text = text.replace(shown, HIDDEN)
    return text


def waivers_of(policy: Policy, loaded: PolicyReading) -> tuple[AcceptedWaiver, ...]:
    """Return every waiver whose date can be read, with its place; words from the environment are not shown."""
    waivers = []
    for name, each in policy.waivers.items():
        until = day(each.until)
        hidden = {path[2] for path in loaded.hidden if path[:2] == ("waivers", name)}
        if until is not None:
            waivers.append(
                AcceptedWaiver(
                    name=name,
                    of=each.of,
                    reason=UNSHOWN if "reason" in hidden else each.reason,
                    owner=UNSHOWN if "owner" in hidden else each.owner,
                    until=until,
                    at=each.at or "",
                    signed_by=each.signed_by or "",
                    privacy=loaded.privacy_waivers.allowed,
                    span=loaded.places.key("waivers", name),
                )
            )
    return tuple(waivers)
