"""Publishing: a complete run goes to its place, into the ledger, and becomes a release there by one rename."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory, check_bytes
from ppdm_flow.engine.ledger.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Publication:
    """A judged run whose files are complete. ``files`` are their hashes, by path before the run is published."""

    directory: RunDirectory
    started: datetime
    plan_digest: str
    files: Mapping[str, str]

    def withhold(self) -> Path:
        """Move a run that is not released to its place."""
        check_bytes(self.directory.home, self.files)
        return self.directory.move(self.started, self.plan_digest)

    def publish(self, candidates: Sequence[Candidate], ledger: Ledger | None) -> Path:
        """Move a run to its place, write its releases into the ledger, and publish it.

        What was written down and not confirmed counts as released: a crash in between loses nothing. Raises RunError
        where a file is not what was judged, or the ledger cannot be written; then nothing is released.
        """
        place = self.directory.move(self.started, self.plan_digest)
        numbers = ledger.announce(candidates, place, self.started) if ledger else ()
        try:
            check_bytes(place, self.files)
            self.directory.publish()
        except BaseException:
            if ledger and not self.directory.published:
                with contextlib.suppress(PpdmError):
                    ledger.withdraw(numbers)
            raise
        if ledger:
            with contextlib.suppress(PpdmError):  # it is out, and pending counts: `ledger --repair` confirms it
                ledger.confirm(numbers)
        return place
