"""Values from the environment are not the policy's own text: no diagnostic shows them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.policy.words import short

HIDDEN = "…"
UNSHOWN = "(from the environment)"
"""What stands in place of a whole value."""
_BARE = 4
"""From this length on a value is hidden wherever it stands; a shorter one only between backticks."""


def redacted(diagnostic: Diagnostic, secrets: Collection[str]) -> Diagnostic:
    """Return the diagnostic with every one of ``secrets`` hidden."""
    found = diagnostic
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            found = _without(found, secret)
    return found


def _without(diagnostic: Diagnostic, secret: str) -> Diagnostic:
    return replace(
        diagnostic,
        message=_hide(diagnostic.message, secret),
        hint=_hide(diagnostic.hint, secret) if diagnostic.hint else None,
        help=_hide(diagnostic.help, secret) if diagnostic.help else None,
        notes=tuple(_hide(n, secret) for n in diagnostic.notes),
        related=tuple(Related(r.span, _hide(r.text, secret)) for r in diagnostic.related),
        path=tuple(_hide(p, secret) if len(secret) >= _BARE else p for p in diagnostic.path),
    )


def _hide(text: str, secret: str) -> str:
    for shown in (secret, short(secret)):
        text = text.replace(f"`{shown}`", f"`{HIDDEN}`")
        if len(secret) >= _BARE:
            text = text.replace(shown, HIDDEN)
    return text
