"""Checking one signature: by whom it is, and why it does not count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ppdm_flow.evidence.keys import Envelope, PublicKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.evidence.statement import InTotoStatement, read_statement, signed_at, time_of

UNKNOWN = "no signer has this key"


@dataclass(frozen=True, slots=True)
class Attestation:
    """An envelope and the statement in it, whose signature fits the key that the statement names."""

    envelope: Envelope
    statement: InTotoStatement

    @classmethod
    def parse(cls, data: bytes) -> Attestation:
        """Read an envelope's bytes. Raises MalformedError where envelope, statement or signature are damaged.

        The key in the statement tells no one's name: only a list of signers does.
        """
        envelope = Envelope.parse(data)
        statement = read_statement(envelope.payload)
        signer = statement["predicate"]["signer"]
        if envelope.key_id != signer["key_id"]:
            raise MalformedError("names one key outside and another one inside")
        if not envelope.is_by(PublicKey.parse(signer["key"])):
            raise MalformedError("has a signature that does not fit what is signed")
        return cls(envelope, statement)

    @property
    def role(self) -> str:
        """In which role it is signed."""
        return self.statement["predicate"]["role"]

    @property
    def release(self) -> str:
        """The release that it is about."""
        return self.statement["predicate"]["release"]

    @property
    def signed(self) -> datetime:
        """When it says that it was signed."""
        return signed_at(self.statement)

    def refusal(self, signers: Signers, now: datetime) -> str:
        """Return why it does not count for any release; empty where it may count.

        It counts where a signer of the list made it, in a role of theirs, while the key was valid, not before the run
        had finished and not in the future.
        """
        signer = signers.of_key(self.envelope.key_id)
        if signer is None or not self.envelope.is_by(signer.key):
            return UNKNOWN
        return self.untimely(now) or signer.refusal(self.role, self.signed)

    def untimely(self, now: datetime) -> str:
        """Return why it cannot have been signed when it says; empty where it can."""
        if self.signed < time_of(self.statement["predicate"]["run"]["finished"]):
            return "it is older than the run that it is about"
        if self.signed > now:
            return "it says that it was signed in the future"
        return ""
