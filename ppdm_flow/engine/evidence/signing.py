"""Signs a run: a statement about each of its releases, in an envelope of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses import BucketAddress
from ppdm_flow.core.card_pages import is_small_count
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import RunError, UsageError
from ppdm_flow.core.model import NAME
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine import manifest
from ppdm_flow.engine.buckets.store import Store
from ppdm_flow.engine.candidates.unpublished import is_held, is_unpublished
from ppdm_flow.engine.evidence.facts import RunFacts, Shown
from ppdm_flow.engine.evidence.places import ATTESTATIONS, compare, copy_folder, copy_name, file_name
from ppdm_flow.engine.evidence.signatures import read_attestation
from ppdm_flow.engine.evidence.writing import run_lock, write_copy, write_envelope
from ppdm_flow.engine.faults import data_fault, run_fault
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.keys import Envelope, SigningKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.statement import payload, read_statement
from ppdm_flow.plan.meanings import Meanings


@dataclass(frozen=True, slots=True)
class SignedRelease:
    """A release with the names of its envelope's file and of the copy for the recipient, by their paths in the run.

    ``copy`` is empty as long as the run is held. ``already_signed``: the key had signed it in that role already.
    """

    release: str
    name: str
    copy: str = ""
    already_signed: bool = False


def sign_run(
    run_dir: Path, key: SigningKey, role: str, now: datetime, releases: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Sign the releases of a run in a role (all, where none is named), and return the files of their envelopes.

    Works for runs that are released, where each release gets its copy, and for those that are held. What the key has
    signed in that role already stays as it is; of a held run the new signature takes its place. Raises UsageError
    where the run is not to be signed: it was withheld, was not published, has no such release, or is not as its
    manifest says.
    """
    return tuple(run_dir / each.name for each in signed(run_dir, key, role, now, releases))


def signed(
    run_dir: Path, key: SigningKey, role: str, now: datetime, releases: Sequence[str] = ()
) -> tuple[SignedRelease, ...]:
    """Do the same, and tell which releases were signed before."""
    if re.fullmatch(NAME, role) is None:
        raise _refused("a role is a name: a letter, then up to 63 letters, digits, `_` or `-`")
    if not run_dir.is_dir():
        advice = "give the directory that `ppdm-flow run` printed"
        raise UsageError(Diagnostic("PPF750", f"there is no run `{run_dir}`", help=advice))
    with run_lock(run_dir):
        facts = _read_signable(run_dir)
        chosen = _chosen(facts, releases)
        if now < facts.finished:
            text = "this machine's clock is behind: the run ended later than it is now"
            raise data_fault("PPF964", text, advice="set the clock; a signature must not be older than its run")
        shown = figures_for(facts.report)
        attestations = []
        for release in chosen:
            statement = facts.statement(release, role, key.public, now, shown)
            read_statement(payload(statement))
            attestations.append(Attestation(Envelope.signed(payload(statement), key), statement))
        known = [_known(run_dir, facts, attestation) for attestation in attestations]
        return tuple(_put(run_dir, new, old) for new, old in zip(attestations, known, strict=True))


def _put(run_dir: Path, new: Attestation, old: Attestation | None) -> SignedRelease:
    if old is not None and is_held(run_dir) and new.signed > old.signed:
        old = None  # who approves what is held may do so anew: the ledger may have learned something since
    attestation = old or new
    name, copy = f"{ATTESTATIONS}/{file_name(attestation)}", ""
    if old is None:
        write_envelope(run_dir, attestation)
    if (run_dir / RELEASED).is_dir():
        copy = f"{copy_folder(attestation.release)}/{copy_name(attestation)}"
        there = run_dir / copy
        if not there.is_file() or there.is_symlink() or there.read_bytes() != attestation.envelope.data:
            write_copy(run_dir, attestation)
    return SignedRelease(attestation.release, name, copy, already_signed=old is not None)


def _known(run_dir: Path, facts: RunFacts, new: Attestation) -> Attestation | None:
    """Return the attestation that is there already. Raises UsageError where it is not about this run as it is."""
    path = run_dir / ATTESTATIONS / file_name(new)
    if not path.exists() and not path.is_symlink():
        return None
    try:
        old = read_attestation(path)
        fault = facts.difference(old.statement)
        same = file_name(old) == path.name and old.envelope.key_id == new.envelope.key_id
        fault = fault or ("" if same else "does not have the name of the envelope in it")
    except MalformedError as error:
        fault = str(error)
    if fault:
        text = f"there is a signature of this key in `{ATTESTATIONS}/{path.name}`, and it cannot stay: {fault}"
        raise _refused(text, "find out what happened to it; then delete the file and sign again")
    return old


def _read_signable(run_dir: Path) -> RunFacts:
    """Return what is to be signed. Raises UsageError unless the run is released or held, and is as it was."""
    advice = "`ppdm-flow verify RUN` tells what was changed"
    if is_unpublished(run_dir.resolve()):
        raise _refused(f"`{run_dir.name}` was not published: there is nothing to sign")
    try:
        facts = RunFacts.read(run_dir)
    except MalformedError as error:
        raise _refused(f"`{run_dir.name}` cannot be signed: {error}", advice) from None
    verdict = facts.manifest["verdict"]
    if verdict not in (RELEASED, HELD):
        raise _refused(f"`{run_dir.name}` is {verdict}: there is nothing to sign")
    if facts.report["verdict"] != verdict or not compare(run_dir, facts.manifest).unchanged:
        raise _refused(f"`{run_dir.name}` is not as it was when it was judged", advice)
    return facts


def _chosen(facts: RunFacts, releases: Sequence[str]) -> tuple[str, ...]:
    known = facts.releases
    if not known:
        raise _refused(f"`{facts.name}` has no released files")
    for name in releases:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(Diagnostic("PPF963", f"the run has no release `{name}`", hint=hint))
    return tuple(dict.fromkeys(releases)) or known


def _refused(text: str, advice: str | None = None) -> UsageError:
    return UsageError(Diagnostic("PPF963", text, help=advice))


_INTERNAL, _PUBLIC = "internal", "public"


def figures_for(report: Mapping[str, Any]) -> Shown:
    """Return which of a report's measured figures the recipient of each release may have.

    Of a release for the house (audience `internal`) all; of others those that their plugin's card calls public, and no
    small counts.
    """
    meanings = Meanings.of(report["plan"])

    def shown(release: str, result: Mapping[str, Any]) -> bool:
        if report["releases"][release].get("audience") == _INTERNAL:
            return True
        metric = result["metric"]
        figure = meanings.figure(metric)
        document = report["metrics"].get(f"{release}/{metric}") or report["metrics"].get(metric)
        if figure is None or figure.audience != _PUBLIC or document is None or document["value"] is None:
            return False
        return not is_small_count(document["value"], document["unit"])

    return shown


@dataclass(frozen=True, slots=True)
class SignedBucketRun:
    """A run by its address."""

    address: BucketAddress

    def send(self, local: Path, signed: Sequence[SignedRelease]) -> None:
        """Write the envelopes, then the copies in the releases; what is there already is written over by itself.

        Raises RunError where the run is not the one that was signed any more, or an object reads back otherwise.
        """
        store = Store(self.address, RunError)
        if store.sha256(self._at(manifest.NAME)) != sha256(local / manifest.NAME):
            raise run_fault("PPF468", f"`{self.address.shown}` was replaced while it was being signed")
        names = [name for each in signed for name in (each.name, each.copy) if name]
        for name in sorted(names, key=lambda name: name.count("/")):
            place = self._at(name)
            store.write(place, local / name)
            if store.sha256(place) != sha256(local / name):
                raise run_fault("PPF468", f"`{place.shown}` reads back otherwise than it was written: sign again")

    def _at(self, name: str) -> BucketAddress:
        return self.address.below(*name.split("/"))
