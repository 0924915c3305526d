"""What all features of a server share, each made once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.page.extras import check_openid
from ppdm_flow.page.services import journal, keys, shown
from ppdm_flow.page.services.accounts import people
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.people import AllowedPeople
from ppdm_flow.page.services.accounts.sessions import Sessions
from ppdm_flow.page.services.jobs import records
from ppdm_flow.page.services.jobs.confined import private_files
from ppdm_flow.page.services.jobs.jobs import Jobs
from ppdm_flow.page.services.jobs.records import JobRecords
from ppdm_flow.page.services.journal import ActionJournal
from ppdm_flow.page.services.keys import SigningKeys
from ppdm_flow.page.services.openid import configuration
from ppdm_flow.page.services.policies import history
from ppdm_flow.page.services.policies.checks import PolicyChecks
from ppdm_flow.page.services.policies.history import FileHistory
from ppdm_flow.page.services.policies.policies import PolicyFiles
from ppdm_flow.page.services.policies.working_tree import WorkingTree
from ppdm_flow.page.services.runs.runs import RunFolder
from ppdm_flow.page.services.shown import ShownReleases
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.page.services.tables.tables import TableCopies
from ppdm_flow.page.services.uploads import uploads
from ppdm_flow.page.services.uploads.arriving import UploadLimits
from ppdm_flow.page.services.uploads.uploads import Uploads
from ppdm_flow.page.settings import Settings

if TYPE_CHECKING:
    from ppdm_flow.page.services.openid.open_id import OpenId

from ppdm_flow.page.services.hierarchies.drafts import HierarchyDrafts

SCHEMA = (
    *configuration.SCHEMA,
    *history.SCHEMA,
    *journal.SCHEMA,
    *keys.SCHEMA,
    *people.SCHEMA,
    *records.SCHEMA,
    *shown.SCHEMA,
    *uploads.SCHEMA,
)
"""The tables of all services."""
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """The services of one server."""

    settings: Settings
    database: PageDatabase
    accounts: Accounts
    checks: PolicyChecks
    jobs: Jobs
    journal: ActionJournal
    keys: SigningKeys
    openid: OpenId | None
    people: AllowedPeople
    policies: PolicyFiles
    runs: RunFolder
    sessions: Sessions
    shown: ShownReleases
    tables: TableCopies
    tree: WorkingTree
    uploads: Uploads
    hierarchies: HierarchyDrafts


def opened_site(settings: Settings) -> Site:
    """Open the state of a server, or make it where there is none."""
    settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = PageDatabase(settings.database, SCHEMA)
    accounts = Accounts(database, Passwords(settings.password_memory_kib, settings.password_rounds))
    uploads = Uploads(database, settings.uploads, UploadLimits.of(settings))
    history = FileHistory(database, settings.history_days, free_bytes=settings.free_bytes)
    policies = PolicyFiles(settings.policies, history, uploads.forget_policy)
    jobs = Jobs.opened(settings, JobRecords(database, settings.jobs))
    hidden = (settings.state, settings.runs, *private_files(settings))
    lifetime, idle = settings.session_minutes * _MINUTE, settings.idle_minutes * _MINUTE
    return Site(
        settings=settings,
        database=database,
        accounts=accounts,
        checks=PolicyChecks(policies, settings.state, settings.data, hidden),
        jobs=jobs,
        journal=ActionJournal(database, settings.journal_key),
        keys=SigningKeys(database, settings.keys, jobs),
        openid=_open_id(settings.oidc, database),
        people=people.people(database, accounts),
        policies=policies,
        runs=RunFolder(settings.runs),
        sessions=Sessions(database, accounts, lifetime=lifetime, idle=idle),
        shown=ShownReleases(database, settings.runs),
        tables=TableCopies.of(settings),
        tree=WorkingTree(policies.folder),
        uploads=uploads,
        hierarchies=HierarchyDrafts(settings.hierarchies, settings.uploads, free_bytes=settings.free_bytes),
    )


def _open_id(file: Path | None, database: PageDatabase) -> OpenId | None:
    """Return the provider that a file names; None without a file. Raises UsageError, PluginError."""
    if file is None:
        return None
    check_openid()
    from ppdm_flow.page.services.openid.open_id import opened  # noqa: PLC0415  # imports what was looked for

    return opened(file, database)
