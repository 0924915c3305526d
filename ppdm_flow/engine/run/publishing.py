"""Publishing: a complete run goes to its place, into the ledger, and becomes a release there by one rename."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory, check_bytes
from ppdm_flow.engine.candidates.unpublished import CANDIDATE, RELEASED
from ppdm_flow.engine.ledger.ledger import RunLedger
from ppdm_flow.engine.options import RunPlace

if TYPE_CHECKING:
    from ppdm_flow.engine.delivery.delivery import Delivery


@dataclass(frozen=True, slots=True)
class RunPublication:
    """A judged run whose files are complete. ``files`` are their hashes, by path before the run is published."""

    policy: str
    directory: RunDirectory
    started: datetime
    plan_digest: str
    files: Mapping[str, str]
    elsewhere: RunPlace | None = None

    def withhold(self) -> Path:
        """Move a run that is not released to its place."""
        check_bytes(self.directory.home, self.files)
        place = self._moved()
        if self.elsewhere is not None:
            try:
                self.elsewhere.send(place, self.files)
                self.elsewhere.commit(place, self.files)
            except BaseException:
                self._take_back()
                raise
        return place

    def hold(self) -> Path:
        """Move a run that waits for approvals to its place. It is no release, and no ledger knows it."""
        place = self._moved()
        check_bytes(place, self.files)
        self.directory.hold()
        return place

    def publish(self, candidates: Sequence[Candidate], ledger: RunLedger | None) -> tuple[Path, tuple[str, ...]]:
        """Move a run to its place, write its releases into the ledger, publish it, and let tables take their places.

        Returns the place, and which tables these are.
        What was written down and not confirmed counts as released: a crash in between loses nothing. Raises RunError
        where a file is not what was judged, or the ledger cannot be written; then nothing is released.
        """
        place = self._moved()
        folder = None if self.elsewhere is None else self.elsewhere.ledger_folder
        numbers = ledger.announce(candidates, place, folder) if ledger else ()
        with contextlib.ExitStack() as stack:
            try:
                check_bytes(place, self.files)
                delivery = stack.enter_context(self._tables(candidates, place))
                if self.elsewhere is not None:
                    self.elsewhere.send(place, self.files)
                self.directory.publish()
                if self.elsewhere is not None:
                    self.elsewhere.commit(place, self.files)
            except BaseException:
                self._take_back()
                if ledger and not self.directory.published:
                    with contextlib.suppress(PpdmError):
                        ledger.withdraw(numbers)
                raise
            if ledger:
                with contextlib.suppress(PpdmError):  # it is out, and pending counts: `ledger --repair` confirms it
                    ledger.confirm(numbers)
            if delivery is None:
                return place, ()
            delivery.commit()
        return place, tuple(delivery.tables)

    def _moved(self) -> Path:
        if self.elsewhere is None:
            return self.directory.move(self.started, self.plan_digest)
        return self.directory.move(self.started, self.plan_digest, self.elsewhere.taken)

    def _take_back(self) -> None:
        """Delete what was sent elsewhere, unless it may be out there: then it stays one here, and in the ledger."""
        if self.elsewhere is None or self.elsewhere.maybe_out:
            return
        self.elsewhere.withdraw()
        if self.directory.published and (self.directory.home / RELEASED).is_dir():
            self.directory.retract()

    def _tables(self, candidates: Sequence[Candidate], place: Path) -> AbstractContextManager[Delivery | None]:
        """Return the tables that releases become, staged once the context is entered; none where there are none."""
        if all(candidate.release.into is None for candidate in candidates):
            return contextlib.nullcontext()
        from ppdm_flow.engine.delivery.delivery import staged  # noqa: PLC0415  # only few releases become tables

        files = [(c.release, place / CANDIDATE / c.release.name / c.release.path) for c in candidates]
        return staged(self.policy, place.name, files)
