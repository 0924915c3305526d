"""How people come to an account, and how they sign in: each service made once over one database."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.page.services.accounts import accounts, attempts, browsers, identities, links, sessions
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.attempts import Attempts
from ppdm_flow.page.services.accounts.browsers import Browsers
from ppdm_flow.page.services.accounts.identities import Identities
from ppdm_flow.page.services.accounts.links import AccountLinks
from ppdm_flow.page.services.accounts.sign_in import SignIn
from ppdm_flow.page.services.storage.database import PageDatabase

SCHEMA = (
    *accounts.SCHEMA,
    *sessions.SCHEMA,
    *identities.SCHEMA,
    *links.SCHEMA,
    *attempts.SCHEMA,
    *browsers.SCHEMA,
)


@dataclass(frozen=True, slots=True)
class AllowedPeople:
    """Who may sign in, and how they come to that."""

    links: AccountLinks
    identities: Identities
    browsers: Browsers
    sign_in: SignIn


def people(database: PageDatabase, accounts: Accounts) -> AllowedPeople:
    """Return the services of a database's accounts."""
    known = Browsers(database)
    return AllowedPeople(
        AccountLinks(database, accounts),
        Identities(database, accounts),
        known,
        SignIn(accounts, Attempts(database), known),
    )
