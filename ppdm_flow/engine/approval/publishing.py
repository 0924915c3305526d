"""The last steps of the release of a held run: the ledger, ``publication.json``, and the rename."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.approval.held_run import HeldRun, remove_private
from ppdm_flow.engine.approval.outcome import ReleaseOutcome
from ppdm_flow.engine.candidates.artifacts import as_json
from ppdm_flow.engine.candidates.run_files import PUBLICATION
from ppdm_flow.engine.evidence.attestations import attestations_of
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.places import ATTESTATIONS
from ppdm_flow.engine.evidence.signatures import SignatureResult
from ppdm_flow.engine.evidence.writing import write_copy
from ppdm_flow.engine.faults import output_fault
from ppdm_flow.engine.held.publication import VERSION, HeldRunPublication, write_publication
from ppdm_flow.engine.ledger.ledger import written_down
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.engine.ledger.witness import testimony
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.plan.definition import ReleaseNode

if TYPE_CHECKING:
    from ppdm_flow.engine.delivery.delivery import Delivery


class HeldPublication:
    """The last steps of a release, with the run and its ledger locked."""

    def __init__(
        self,
        held: HeldRun,
        store: LedgerStore | None,
        counted: Sequence[SignatureResult],
        signers: str,
        when: datetime,
        tables: Sequence[ReleaseNode],
    ) -> None:
        self.held = held
        self.run_dir = held.run_dir
        self.store = store
        self.counted = tuple(counted)
        self.signers = signers
        self.when = when
        self.tables = tuple(tables)

    def publish(self) -> ReleaseOutcome:
        """Write it into the ledger, publish it by one rename, and let tables take their places.

        What was written down and not confirmed counts as released, as it does of a run. Raises PpdmError; then it is
        held as before, unless its tables alone did not take their places (PPF484).
        """
        when, store = self.when, self.store
        said = None if store is None else testimony(store, len(self.held.private.releases))
        entries = [(each.entry, each.members) for each in self.held.private.releases]
        numbers = () if store is None else tuple(store.add(written_down(entries, self.run_dir, when)))
        with contextlib.ExitStack() as stack:
            try:
                delivery = stack.enter_context(self._tables())
                self._write(when, None if said is None else {**said, "releases": list(numbers)}, delivery)
                self.held.unchanged()
                self._rename()
            except BaseException:
                self._take_back(numbers)
                raise
            if store is not None:
                with contextlib.suppress(PpdmError):  # it is out, and pending counts: `ledger --repair` confirms it
                    store.confirm(numbers)
            remove_private(self.run_dir)
            if delivery is not None:
                delivery.commit()
        tables = () if delivery is None else tuple(delivery.tables)
        return ReleaseOutcome(self.run_dir, True, (), self.counted, numbers, tables)

    def _write(self, when: datetime, ledger: Any, delivery: Delivery | None) -> None:
        """Write who approved it, and give each release the signatures on it."""
        waivers = {each["name"]: each["until"] for each in self.held.manifest.get("waivers", ())}
        document: HeldRunPublication = {
            "version": VERSION,
            "policy": str(self.held.manifest["policy"]),
            "run": self.run_dir.name,
            "released": when.isoformat(timespec="seconds"),
            "manifest": sha256(self.run_dir / MANIFEST),
            "signers": self.signers,
            "signatures": [
                {
                    "release": each.release,
                    "role": each.role,
                    "signer": str(each.signer),
                    "key": each.key_id,
                    "signed": "" if each.signed is None else each.signed.isoformat(timespec="seconds"),
                }
                for each in self.counted
            ],
        }
        signed = self.held.asked.get("waivers", {})
        if signed:
            document["waivers"] = [{"name": n, "role": r, "until": waivers.get(n, "")} for n, r in signed.items()]
        if ledger is not None:
            document["ledger"] = ledger
        if delivery is not None:
            document["tables"] = list(delivery.tables)
        with _writing(f"`{PUBLICATION}`"):
            self._without_copies()
            for found in attestations_of(self.run_dir, RunFacts.read(self.run_dir)):
                if found.attestation is not None and not found.fault:
                    write_copy(self.run_dir, found.attestation, HELD)
            write_publication(self.run_dir, as_json(document))
            _sync(self.run_dir)

    def _without_copies(self) -> None:
        """Remove the copies of signatures that an interrupted release made."""
        for name in self.held.releases:
            folder = self.run_dir / HELD / name / ATTESTATIONS
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)

    def _rename(self) -> None:
        with _writing(f"`{self.run_dir.name}`"):
            (self.run_dir / HELD).rename(self.run_dir / RELEASED)
            _sync(self.run_dir)

    def _take_back(self, numbers: Sequence[int]) -> None:
        """Leave it held, as it was, unless it is out."""
        if not (self.run_dir / HELD).is_dir():
            return
        if self.store is not None and numbers:
            with contextlib.suppress(PpdmError):
                self.store.drop(numbers)
        with contextlib.suppress(OSError):
            self._without_copies()
            (self.run_dir / PUBLICATION).unlink(missing_ok=True)

    def _tables(self) -> contextlib.AbstractContextManager[Delivery | None]:
        """Return the tables that releases become, staged once the context is entered; none where there are none."""
        if not self.tables:
            return contextlib.nullcontext()
        from ppdm_flow.engine.delivery.delivery import staged  # noqa: PLC0415  # only few releases become tables

        files = [(each, self.run_dir / HELD / each.name / each.path) for each in self.tables]
        return staged(str(self.held.plan["policy"]), self.run_dir.name, files)


@contextmanager
def _writing(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_fault(error, what) from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
