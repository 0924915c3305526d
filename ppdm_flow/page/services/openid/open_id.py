"""Signing in by OpenID Connect, from the link that somebody follows to the identity that comes back."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from ppdm_flow.page.services.accounts.identities import Identity
from ppdm_flow.page.services.openid.configuration import OpenIdConfiguration, read_configuration
from ppdm_flow.page.services.openid.flows import Flows, SignInFlow
from ppdm_flow.page.services.openid.id_token import identity
from ppdm_flow.page.services.openid.provider import Provider
from ppdm_flow.page.services.openid.refusals import UnknownKeyError
from ppdm_flow.page.services.storage.database import PageDatabase


class OpenId:
    """The provider by which people may sign in beside their passwords."""

    def __init__(self, configuration: OpenIdConfiguration, provider: Provider, flows: Flows) -> None:
        self._configuration, self._provider, self._flows = configuration, provider, flows

    @property
    def label(self) -> str:
        """What the provider is called."""
        return self._configuration.label

    def begin(self, word: str, link: str = "") -> str:
        """Return the address to send a browser to, whose visit has this word. Raises ProviderError."""
        described = self._provider.description()
        flow = self._flows.begin(word, link)
        query = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self._configuration.client_id,
            "redirect_uri": self._configuration.redirect_uri,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        return f"{described.authorization}{'&' if '?' in described.authorization else '?'}{urlencode(query)}"

    def take(self, word: str, state: str) -> SignInFlow:
        """Return what comes back to a visit: each once. Raises FlowRefusedError."""
        return self._flows.take(word, state)

    def identity(self, flow: SignInFlow, code: str) -> Identity:
        """Return who has signed in. Raises ProviderError, TokenRefusedError."""
        token = self._provider.id_token(code, flow.verifier)
        try:
            return self._checked(token, flow, newer=False)
        except UnknownKeyError:
            return self._checked(token, flow, newer=True)

    def proven(self, word: str, proof: str) -> tuple[Identity, str]:
        """Return who has signed in in the visit of this word, and the hash of the link. Raises FlowRefusedError."""
        subject, link = self._flows.subject(word, proof)
        return Identity(self._configuration.issuer, subject), link

    def _checked(self, token: str, flow: SignInFlow, *, newer: bool) -> Identity:
        return identity(
            token,
            self._provider.keys(newer=newer),
            issuer=self._configuration.issuer,
            client=self._configuration.client_id,
            nonce=flow.nonce,
        )


def opened(file: Path, database: PageDatabase) -> OpenId:
    """Return the provider that a file names. Nobody is asked before somebody signs in. Raises UsageError."""
    configuration = read_configuration(file)
    return OpenId(configuration, Provider(configuration), Flows(database))
