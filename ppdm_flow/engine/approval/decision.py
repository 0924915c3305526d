"""Decides whether a held run has the signatures that its policy asks for: of every role, and of the author."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.phrases import listed
from ppdm_flow.engine.evidence.signatures import SignatureResult
from ppdm_flow.evidence.assignment import matching
from ppdm_flow.evidence.signers import Signers

AUTHOR = "author"
"""The role of the person who ran the policy: it signs, and approves nothing."""


@dataclass(frozen=True, slots=True)
class RequestedSignatures:
    """Signatures that a plan asks for: ``roles``, by different people if ``distinct``; ``waivers``: roles by waiver."""

    roles: tuple[str, ...]
    distinct: bool
    waivers: Mapping[str, str] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[str, ...]:
        """Every role that has to sign, once."""
        return tuple(role for role in dict.fromkeys((*self.roles, *self.waivers.values())) if role != AUTHOR)


def signed_waivers(plan: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the role that has to sign each waiver that the run rests on, by a run's documents.

    A waiver that nothing needed changed nothing of the run, and waits for nobody.
    """
    used = {waiver["name"] for waiver in manifest.get("waivers", ()) if waiver["covers"]}
    return {name: role for name, role in plan["approvals"].get("waivers", {}).items() if name in used}


@dataclass(frozen=True, slots=True)
class MissingSignature:
    """A signature that is not there: in which role, of which releases, and who could give it."""

    role: str
    releases: tuple[str, ...]
    able: tuple[str, ...]

    @property
    def text(self) -> str:
        """The same for people."""
        who = f"could be given by {listed(self.able)}" if self.able else "nobody in the list of signers can give it"
        return f"`{self.role}` of release {listed(self.releases)}: {who}"


@dataclass(frozen=True, slots=True)
class Decision:
    """``counted`` are the signatures that the release rests on; it is approved where nothing is missing or refused."""

    counted: tuple[SignatureResult, ...] = ()
    missing: tuple[MissingSignature, ...] = ()
    refused: tuple[Diagnostic, ...] = ()

    @property
    def approved(self) -> bool:
        """Whether it may be released."""
        return not (self.missing or self.refused)


def both(then: Sequence[SignatureResult], now: Sequence[SignatureResult]) -> tuple[SignatureResult, ...]:
    """Return the signatures by the list of signers that the run had, and by today's: both have to accept each.

    Who lost a role or a key since then counts no more; who got one since then had none when the run was made.
    """
    today = {(s.release, s.role, s.key_id, s.signed): s for s in now}
    return tuple(_both(each, today.get((each.release, each.role, each.key_id, each.signed))) for each in then)


def _both(then: SignatureResult, now: SignatureResult | None) -> SignatureResult:
    if not then.good:
        return then
    if now is None or not now.good:
        return replace(then, fault="its signature cannot be read any more" if now is None else now.fault)
    if now.signer != then.signer:
        return replace(then, fault=f"the key was that of `{then.signer}` when the run was made, and is not any more")
    return then


def not_before(signatures: Iterable[SignatureResult], last: datetime | None) -> tuple[SignatureResult, ...]:
    """Return the signatures, those that are older than the ledger's last entry with that as their fault."""
    return tuple(
        replace(s, fault=f"it is older than the ledger's last entry, of {last:%Y-%m-%d %H:%M:%S} UTC: sign again")
        if last is not None and s.good and s.signed is not None and s.signed <= last
        else s
        for s in signatures
    )


def decide(
    requested: RequestedSignatures,
    signatures: Sequence[SignatureResult],
    releases: Sequence[str],
    signers: Sequence[Signers],
) -> Decision:
    """Decide on a run with these releases; ``signers`` are the lists that all have to know a signer."""
    good = tuple(s for s in signatures if s.good)
    authors = frozenset(s.signer for s in good if s.role == AUTHOR and s.signer)
    judge = _Judge(signatures, tuple(releases), tuple(signers), authors)
    people = {role: judge.people(role) for role in (AUTHOR, *requested.needed)}
    missing = tuple(m for role in people if (m := judge.missing(role, people[role])) is not None)
    refused = tuple(d for role in people if (d := judge.refused(role, people[role])) is not None)
    chosen = {
        AUTHOR: next(iter(people[AUTHOR]), ""),
        **{role: next(iter(people[role]), "") for role in requested.needed},
    }
    if not (missing or refused) and requested.distinct:
        matched = matching({role: people[role] for role in requested.needed})
        if matched is None:
            return Decision((), (), (_one_in_several(requested.needed, people),))
        chosen |= matched
    if missing or refused:
        return Decision((), missing, refused)
    order = list(chosen)
    counted = (s for s in good if s.role in chosen and s.signer == chosen[s.role])
    return Decision(tuple(sorted(counted, key=lambda s: (order.index(s.role), s.release))))


class _Judge:
    """Looks at the signatures of one role after the other."""

    def __init__(
        self,
        signatures: Sequence[SignatureResult],
        releases: tuple[str, ...],
        signers: tuple[Signers, ...],
        authors: frozenset[str],
    ) -> None:
        self._of: Callable[[str, str], list[SignatureResult]] = lambda role, release: [
            s for s in signatures if s.role == role and s.release == release
        ]
        self._releases = releases
        self._signers = signers
        self._authors = authors

    def people(self, role: str) -> tuple[str, ...]:
        """Return those who signed every release in a role, and may: the author approves nothing."""
        signed = [{s.signer for s in self._of(role, release) if s.good and s.signer} for release in self._releases]
        every = set.intersection(*signed) if signed else set()
        return tuple(sorted(every if role == AUTHOR else every - self._authors))

    def missing(self, role: str, people: Sequence[str]) -> MissingSignature | None:
        """Return what is missing of a role, where nothing was tried in vain."""
        if people:
            return None
        without = tuple(r for r in self._releases if not self._of(role, r))
        if not without:
            return None
        return MissingSignature(role, without, tuple(self._able(role)))

    def refused(self, role: str, people: Sequence[str]) -> Diagnostic | None:
        """Return why the signatures that a role has do not count."""
        every = [s for release in self._releases for s in self._of(role, release)]
        if people or not every or any(not self._of(role, release) for release in self._releases):
            return None
        bad = next((s for s in every if not s.good), None)
        own = next((s for s in every if s.good and s.signer in self._authors), None)
        if own is not None and role != AUTHOR:
            text = f"`{own.signer}` ran the policy, and nobody approves their own run: `{role}` has no other signature"
            return Diagnostic("PPF975", text, help=_able_text(self._able(role)))
        if bad is not None:
            text = f"the signature in the role `{role}` of release `{bad.release}` does not count: {bad.fault}"
            return Diagnostic("PPF974", text, help=_able_text(self._able(role)))
        text = f"nobody signed every release in the role `{role}`: one person has to sign all of them"
        return Diagnostic("PPF974", text, help=_able_text(self._able(role)))

    def _able(self, role: str) -> Iterator[str]:
        """Yield who could sign in a role."""
        first, *others = self._signers
        known = [{signer.name for signer in other.in_role(role)} for other in others]
        for signer in first.in_role(role):
            if all(signer.name in names for names in known) and (role == AUTHOR or signer.name not in self._authors):
                yield signer.name


def _able_text(able: Iterable[str]) -> str:
    names = tuple(f"`{name}`" for name in able)
    return f"it could be signed by {listed(names)}" if names else "nobody in the list of signers can sign it"


def _one_in_several(roles: Sequence[str], people: Mapping[str, Sequence[str]]) -> Diagnostic:
    names = sorted({name for role in roles for name in people[role]})
    text = (
        f"the roles {listed([f'`{role}`' for role in roles])} have to be signed by different people, and"
        f" {listed([f'`{name}`' for name in names])} signed for all of them"
    )
    return Diagnostic("PPF976", text, help="let somebody else sign in one of the roles")


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """The outcome: ``published``, or ``missing`` signatures; neither where it was only checked and may go out."""

    run_dir: Path
    published: bool = False
    missing: tuple[MissingSignature, ...] = ()
    counted: tuple[SignatureResult, ...] = ()
    numbers: tuple[int, ...] = ()
    tables: tuple[str, ...] = ()
