"""What an endpoint tells the journal beyond its route."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts.roles import User


@dataclass(slots=True)
class JournalNote:
    """Who acted and on what, where the route and the session do not say it: a name that a form had, a sign-in.

    Only what the server knows goes here (an account or a policy that there is), never what somebody typed.
    """

    subject: str | None = None
    user: User | None = None
