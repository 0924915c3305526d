"""The list of signers (``signers.yaml``): who may sign, in which roles, with which key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, in_order
from ppdm_flow.core.digests import open_definition
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.core.model import Model, Name
from ppdm_flow.core.spans import Span
from ppdm_flow.core.waivers import day
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Revocation, Signer, Signers, folded
from ppdm_flow.policy.flatten import FlatPolicy, flatten
from ppdm_flow.policy.language.schemas import Writer, descriptions
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.text.nodes import Map, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden
from ppdm_flow.policy.validate import validate

Roles = Annotated[tuple[Name, ...], Field(min_length=1)]


# The list of signers as typed models. Every scalar arrives as text.


class RevocationEntry(Model):
    """Since when a key counts no more, and why."""

    on: str
    reason: str


class SignerEntry(Model):
    """A person: roles, and one public key as a line of OpenSSH (``key``) or as PEM (``pem``)."""

    roles: Roles
    key: str | None = None
    pem: str | None = None
    from_: str | None = Field(default=None, alias="from")
    until: str | None = None
    revoked: RevocationEntry | None = None


class SignersFile(Model):
    """Who may sign, by name."""

    version: Literal["1"]
    signers: Annotated[dict[str, SignerEntry], Field(min_length=1)]


# Reading a list of signers: its text, its shape, its keys, names and days, with all faults at once.


_FORM = "write `version: 1` and `signers:` with roles and a key for each name; `ppdm-flow key` prints such an entry"
_PRIVATE = "PRIVATE KEY"
_MOST_BYTES = 64_000
"""Every page that lists what waits for approvals reads the lists of all runs."""


def read_signers(path: Path, shown: str | None = None) -> Signers:
    """Return the list of signers in a file; diagnostics name it ``shown``.

    Raises UsageError (PPF350) where the file cannot be read, PolicyError with all its faults where it is no list of
    signers. Nothing of a file is quoted that is not meant as one, or that holds a private key.
    """
    name = shown or str(path)
    return signers_in(signers_bytes(path, name), name)


def signers_in(data: bytes, name: str) -> Signers:
    """Return the list of signers that the bytes of a file are. Raises PolicyError as `read_signers` does."""
    text = ""
    try:
        text = decode(data, name)
        root = _root(text, name)
    except UnreadableError as error:
        raise PolicyError(_add_form(error.diagnostic), _quotable(name, text)) from None
    sources = _quotable(name, text)
    flat = flatten(root)
    file, faults = validate(flat, SignersFile)
    if file is None:
        inside = {fault.path[:-1] for fault in faults}  # a list of one bad item is not empty as well
        own_faults = [fault for fault in faults if not (fault.code == "PPF208" and fault.path in inside)]
        raise PolicyError([_of_signers(fault, flat) for fault in own_faults], sources)
    signers, wrong = judged(file, flat.places)
    if wrong:
        raise PolicyError(wrong, sources)
    return Signers(tuple(signers), hashlib.sha256(data).hexdigest())


def signers_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a file that may be a list of signers. Raises UsageError (PPF350)."""
    try:
        with open_definition(path, pipes=False) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(Diagnostic("PPF350", f"cannot read the list of signers {name}: {reason}")) from None
    if len(data) > _MOST_BYTES:
        text = f"the list of signers {name} is larger than {_MOST_BYTES:,} bytes, which some 500 signers take"
        raise UsageError(Diagnostic("PPF350", text))
    return data


def _root(text: str, name: str) -> Map:
    fault = forbidden(text, name)
    if fault is not None:
        raise UnreadableError(fault)
    root, diagnostics = parse(text, name)
    if not isinstance(root, Map) or "signers" not in root.entries:
        raise UnreadableError(_none(name))
    if diagnostics:
        raise PolicyError(diagnostics, _quotable(name, text))
    return root


def _none(name: str) -> Diagnostic:
    text = f"`{name}` is not a list of signers: it has no key `signers` at its top"
    return Diagnostic("PPF350", text, Span(name, 1, 1, 1, 1), help=_FORM)


def _add_form(fault: Diagnostic) -> Diagnostic:
    if fault.code == "PPF350":
        return fault
    return replace(fault, help=fault.help or _FORM)


def _quotable(name: str, text: str) -> Mapping[str, str]:
    """Return the text for diagnostics to quote, unless it may be something else, or hold a secret."""
    meant = any(line.partition(":")[0].strip("\"' ") == "signers" for line in text.splitlines())
    return {name: text} if meant and _PRIVATE not in text else {}


def _of_signers(fault: Diagnostic, flat: FlatPolicy) -> Diagnostic:
    """Say of a fault what a list of signers is, where it is said of a policy."""
    if fault.code != "PPF207":
        return fault
    version = flat.tree.get("version")
    of = f" `{short(version)}`" if isinstance(version, str) else ""
    hint = "this ppdm-flow reads `version: 1`"
    return replace(fault, message=f"there is no version{of} of lists of signers", hint=hint)


# What is wrong with a list of signers beyond its shape: keys, names that look alike, days (PPF351 to PPF354).


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


# The JSON Schema (draft-07) of a list of signers, for editors and for CI without this package.


IDENTITY = "https://ppdm-flow.example/schemas/signers.v1.json"
PAGE = "keys/signers"
"""The page on the keys of a list of signers."""
_WHAT = "Who may sign runs, in which roles, with which key."


def schema() -> dict[str, Any]:
    """Return the schema of a list of signers."""
    writer = Writer(descriptions(PAGE))
    document = writer.document(SignersFile, IDENTITY, "ppdm-flow list of signers", _WHAT)
    document["definitions"]["SignerEntry"]["oneOf"] = [{"required": ["key"]}, {"required": ["pem"]}]
    return document
