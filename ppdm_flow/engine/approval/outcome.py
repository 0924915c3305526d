"""What came of the release of a held run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.engine.approval.decision import MissingSignature
from ppdm_flow.engine.evidence.signatures import SignatureResult


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """What came of it: ``published``, or ``missing`` signatures; neither where it was only checked and may go out."""

    run_dir: Path
    published: bool = False
    missing: tuple[MissingSignature, ...] = ()
    counted: tuple[SignatureResult, ...] = ()
    numbers: tuple[int, ...] = ()
    tables: tuple[str, ...] = ()
