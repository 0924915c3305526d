"""What is wrong with a list of signers beyond its shape: keys, names that look alike, days (PPF351 to PPF354)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, in_order
from ppdm_flow.core.waivers import day
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Revocation, Signer, folded
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.signers.models import SignerEntry, SignersFile

_LONGEST = 100


def judged(file: SignersFile, places: ResolvedPlaces) -> tuple[list[Signer], tuple[Diagnostic, ...]]:
    """Return the signers of a file, and its faults; with any of them, the signers are not to be used."""
    judge = _Judge(places)
    signers = [signer for name, entry in file.signers.items() if (signer := judge.signer(name, entry)) is not None]
    return signers, in_order((*judge.faults, *judge.twice(signers), *judge.alike(file)))


class _Judge:
    """Collects the faults of one file."""

    def __init__(self, places: ResolvedPlaces) -> None:
        self.places = places
        self.faults: list[Diagnostic] = []

    def signer(self, name: str, entry: SignerEntry) -> Signer | None:
        """Return a signer; None where the key is of no use."""
        if not _readable(name):
            self._say("PPF352", "a signer's name must be printable, without blanks around it", (name,), key=True)
        key = self._key(name, entry)
        first, last = self._day(name, "from", entry.from_), self._day(name, "until", entry.until)
        if first is not None and last is not None and last < first:
            text = f"the key of `{short(name)}` is valid until {last}, before it is from {first} on"
            self._say("PPF354", text, (name, "until"))
        revoked = self._revocation(name, entry)
        return None if key is None else Signer(name, frozenset(entry.roles), key, first, last, revoked)

    def twice(self, signers: list[Signer]) -> Iterator[Diagnostic]:
        """Yield those who have the key of another one: one person must not count as two."""
        owners: dict[PublicKey, str] = {}
        for signer in signers:
            first = owners.setdefault(signer.key, signer.name)
            if first != signer.name:
                text = f"`{short(signer.name)}` has the key of `{short(first)}`"
                yield self._fault("PPF353", text, (signer.name,), first, hint="each signer has a key of their own")

    def alike(self, file: SignersFile) -> Iterator[Diagnostic]:
        """Yield names that readers take for one: equal but for case, or for other forms of the same letters."""
        seen: dict[str, str] = {}
        for name in file.signers:
            first = seen.setdefault(folded(name), name)
            if first != name:
                text = f"two signers are called `{short(name)}`, but for the spelling of the same letters"
                yield self._fault("PPF352", text, (name,), first, hint="give one of them another name")

    def _key(self, name: str, entry: SignerEntry) -> PublicKey | None:
        if (entry.key is None) == (entry.pem is None):
            hint = "a line of OpenSSH at `key`, or a block at `pem`"
            self._say("PPF351", f"signer `{short(name)}` must have one of `key` and `pem`", (name,), hint, key=True)
            return None
        which = "key" if entry.pem is None else "pem"
        try:
            return PublicKey.parse((entry.key if entry.pem is None else entry.pem) or "")
        except MalformedError as error:
            hint = "only Ed25519 keys sign: `ppdm-flow key FILE` makes one, and prints its entry"
            self._say("PPF351", f"the key of `{short(name)}` {error}", (name, which), hint, key=True)
            return None

    def _day(self, name: str, key: str, text: str | None) -> date | None:
        if text is None:
            return None
        read = day(text)
        if read is None:
            self._say("PPF354", f"`{short(text)}` is not a date", (name, *key.split(".")), "write YYYY-MM-DD")
        return read

    def _revocation(self, name: str, entry: SignerEntry) -> Revocation | None:
        if entry.revoked is None:
            return None
        on = self._day(name, "revoked.on", entry.revoked.on)
        if not entry.revoked.reason.strip():
            self._say("PPF354", "a revocation has no reason", (name, "revoked", "reason"), "say why: verify shows it")
        return Revocation(on or date.min, entry.revoked.reason)

    def _say(self, code: str, text: str, path: tuple[str, ...], hint: str | None = None, *, key: bool = False) -> None:
        place = ("signers", *path)
        span = self.places.key(*place) if key else self.places.value(*place)
        self.faults.append(Diagnostic(code, text, span, hint=hint, path=place))

    def _fault(self, code: str, text: str, path: tuple[str, ...], first: str, hint: str) -> Diagnostic:
        span, other = self.places.key("signers", *path), self.places.key("signers", first)
        related = () if other is None else (RelatedPlace(other, "the first of them"),)
        return Diagnostic(code, text, span, hint=hint, related=related, path=("signers", *path))


def _readable(name: str) -> bool:
    return 0 < len(name) <= _LONGEST and name == name.strip() and name.isprintable()
