"""Waivers as typed models: the requirement that need not hold, a reason, an owner and a last day."""

from __future__ import annotations

from ppdm_flow.core.model import Code, Model, Name


class WaiverEntry(Model):
    """A requirement, a gate or a finding (``of``) that does not count until the end of a day (``until``, UTC).

    ``of`` is an id (``privacy.KIND``, ``gates.NAME``), a code (``PPFnnn``; ``at`` says at which place), or the
    hash of a run's finding. ``until`` is an ISO date. ``signed_by`` is the role that has to sign it.
    """

    of: Code
    at: str | None = None
    reason: str
    owner: str
    until: str
    signed_by: Name | None = None
