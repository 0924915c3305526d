"""Releasing a run that was held: what is missing, who could sign, or that it is out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.api.deliver import table_releases
from ppdm_flow.api.loading.policies import valid_plan
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.approval.decision import ReleaseOutcome
from ppdm_flow.engine.approval.release import ReleaseTools
from ppdm_flow.engine.approval.release import release as release_run
from ppdm_flow.engine.evidence.signatures import SignatureResult
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import load
from ppdm_flow.policy.signers import read_signers

MISSING = "PPF969"
"""The code of signatures that are not there."""


@dataclass(frozen=True, slots=True)
class HeldReleaseResult:
    """What came of the release of a held run; ``checked``: nothing was to be written."""

    outcome: ReleaseOutcome
    checked: bool

    @property
    def approved(self) -> bool:
        """Whether no signature is missing."""
        return not self.outcome.missing

    @property
    def exit_status(self) -> int:
        """0 where it is out, or may go out; 4 where signatures are missing."""
        return 0 if self.approved else 4

    @property
    def text(self) -> str:
        """The outcome for people, a line a fact."""
        outcome = self.outcome
        name = outcome.run_dir.name
        if outcome.missing:
            count = counted(len(outcome.missing), "signature")
            return "\n".join(
                [f"run {name} is held: {count} missing ({MISSING})", *(f"  {m.text}" for m in outcome.missing)]
            )
        lines = [_line(each) for each in outcome.counted]
        if self.checked:
            return "\n".join([f"run {name} may be released:", *lines])
        numbers = f", no. {', '.join(map(str, outcome.numbers))} in the ledger" if outcome.numbers else ""
        return "\n".join([f"run {name} is released{numbers}:", *lines])


def _line(each: SignatureResult) -> str:
    when = "" if each.signed is None else f" on {each.signed.isoformat(timespec='seconds')}"
    return f"  release `{each.release}` was signed by `{each.signer}` as `{each.role}`{when}"


def release(
    run: Path,
    signers: Path | None = None,
    *,
    check: bool = False,
    clock: Clock = utc_today,
    now: Callable[[], datetime] = utc_now,
) -> HeldReleaseResult:
    """Publish a held run whose signatures are there; with ``check`` only say whether it could be.

    ``signers`` is today's list of signers, where it is not where the run knew it. No original data is read.
    Raises UsageError where it is no held run, RefusedError with the reasons why it is not to be released: files that
    were changed, signatures that do not count, waivers that expired, requirements that do not hold any more.
    """
    if is_bucket(run):
        text = "a run in an object store is never held"
        raise UsageError(Diagnostic("PPF970", text, help="give the directory that `ppdm-flow run` printed"))
    tools = ReleaseTools(_plan, read_signers, table_releases, signers, clock, now)
    return HeldReleaseResult(release_run(Path(run), tools, check=check), check)


def _plan(policy: Path, columns: Mapping[str, tuple[str, ...]]) -> Plan:
    """Compile the policy that a run kept, for the columns that its data had; its waivers were judged when it ran."""
    loaded = load(policy)
    linked = loaded.policy is not None and loaded.policy.tables
    names = columns if linked else next(iter(columns.values()))
    return valid_plan(loaded, names, None, strict=False, clock=None).plan
