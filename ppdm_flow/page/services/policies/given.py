"""The files that a policy is made of: who asks for a run means what they said then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.digests import digest, marks_of
from ppdm_flow.page.services.bounded import CHECKS, TOO_LONG, LimitExceededError
from ppdm_flow.page.services.policies.checks import PolicyCheck, PolicyChecks
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.refusal import RefusalError

_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """Files with their marks, and those of them that a job may open wherever they are.

    ``policy`` is what the policy calls itself: its runs lie in a folder of this name.
    """

    files: Mapping[Path, str] = field(default_factory=dict)
    reads: Sequence[Path] = ()
    policy: str = ""

    @property
    def digest(self) -> str:
        """One digest of what somebody looked at, which a form sends with what it asks for."""
        return digest({str(path): mark for path, mark in self.files.items()})


def files_of(checks: PolicyChecks, policy: PolicyText, checked: PolicyCheck | None = None) -> GivenFiles:
    """Return a policy's file, as it was read, and every file that says what it means; ``checked`` is its check.

    These are templates, the project file, hierarchies, lists of signers, populations, but for files that no job of the
    policy may open: their marks would tell what they hold. Raises LimitExceededError where that takes too long, and
    RefusalError where they are too many to be looked at for each click.
    """
    own, checked = checks.policies.path(policy.name), checked or checks.check(policy.name, policy.text)
    for each in checked.diagnostics:
        if each.code == TOO_LONG:  # nobody knows what it is made of
            raise LimitExceededError(each)
    if len(checked.files) > _MOST_FILES:
        raise RefusalError("policies.many_files", 400, most=_MOST_FILES)
    open_to_jobs = [Path(file) for file in checked.files if file in checked.opened or checks.is_open_to_jobs(file)]
    files = {**CHECKS.run(marks_of, open_to_jobs), own: policy.digest}
    said = checks.policies.identity(policy.name).name or own.stem
    name = said if checked.plan is None else checked.plan["policy"]
    return GivenFiles(files, tuple(map(Path, checked.opened)), name)
