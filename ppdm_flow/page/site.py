"""What all features of a server share, each made once."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts import people
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.people import People
from ppdm_flow.page.services.accounts.sessions import Sessions
from ppdm_flow.page.services.journal import journal
from ppdm_flow.page.services.journal.journal import Journal
from ppdm_flow.page.services.policies import history
from ppdm_flow.page.services.policies.history import History
from ppdm_flow.page.services.policies.policies import Policies
from ppdm_flow.page.services.shown import shown
from ppdm_flow.page.services.shown.shown import ShownReleases
from ppdm_flow.page.services.storage.database import Database
from ppdm_flow.page.services.uploads import uploads
from ppdm_flow.page.services.uploads.limits import Limits
from ppdm_flow.page.services.uploads.uploads import Uploads
from ppdm_flow.page.settings import Settings

SCHEMA = (
    *history.SCHEMA,
    *journal.SCHEMA,
    *people.SCHEMA,
    *shown.SCHEMA,
    *uploads.SCHEMA,
)
"""The tables of all services."""
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """The services of one server."""

    settings: Settings
    database: Database
    accounts: Accounts
    people: People
    sessions: Sessions
    journal: Journal
    policies: Policies
    shown: ShownReleases
    uploads: Uploads


def opened_site(settings: Settings) -> Site:
    """Open the state of a server, or make it where there is none."""
    settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(settings.database, SCHEMA)
    accounts = Accounts(database, Passwords(settings.password_memory_kib, settings.password_rounds))
    return Site(
        settings=settings,
        database=database,
        accounts=accounts,
        people=people.people(database, accounts),
        sessions=Sessions(
            database, accounts, whole=settings.session_minutes * _MINUTE, idle=settings.idle_minutes * _MINUTE
        ),
        journal=Journal(database),
        policies=Policies(settings.policies, History(database, settings.history_days)),
        shown=ShownReleases(database, settings.runs),
        uploads=Uploads(database, settings.uploads, Limits.of(settings)),
    )
