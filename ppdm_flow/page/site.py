"""What all features of a server share, each made once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ppdm_flow.page.services.accounts import accounts, sessions
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.sessions import Sessions
from ppdm_flow.page.services.jobs import records
from ppdm_flow.page.services.jobs.jobs import Jobs, Limits
from ppdm_flow.page.services.jobs.records import JobRecords
from ppdm_flow.page.services.journal import journal
from ppdm_flow.page.services.journal.journal import Journal
from ppdm_flow.page.services.policies import history
from ppdm_flow.page.services.policies.history import History
from ppdm_flow.page.services.policies.policies import Policies
from ppdm_flow.page.services.shown import shown
from ppdm_flow.page.services.shown.shown import ShownReleases
from ppdm_flow.page.services.storage.database import Database
from ppdm_flow.page.settings import Settings

SCHEMA = (
    *accounts.SCHEMA,
    *history.SCHEMA,
    *journal.SCHEMA,
    *records.SCHEMA,
    *sessions.SCHEMA,
    *shown.SCHEMA,
)
"""The tables of all services."""
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """The services of one server."""

    settings: Settings
    database: Database
    accounts: Accounts
    sessions: Sessions
    journal: Journal
    policies: Policies
    shown: ShownReleases
    jobs: Jobs


def opened_site(settings: Settings) -> Site:
    """Open the state of a server, or make it where there is none."""
    settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(settings.database, SCHEMA)
    people = Accounts(database, Passwords(settings.password_memory_kib, settings.password_rounds))
    return Site(
        settings,
        database,
        people,
        Sessions(database, people, whole=settings.session_minutes * _MINUTE, idle=settings.idle_minutes * _MINUTE),
        Journal(database),
        Policies(settings.policies, History(database, settings.history_days)),
        ShownReleases(database, settings.runs),
        _jobs(settings, database),
    )


def _jobs(settings: Settings, database: Database) -> Jobs:
    limits = Limits(
        settings.running_jobs,
        settings.waiting_jobs,
        settings.own_jobs,
        settings.job_minutes * _MINUTE,
        settings.job_output_bytes,
        timedelta(days=settings.job_days),
    )
    return Jobs(JobRecords(database, settings.jobs), settings.jobs, settings.policies, settings.runs, limits)
