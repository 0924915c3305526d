"""The table that a run of a policy reads: the one that it was made from or ran on last, or the policy's own file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.file_sets import is_file_set
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.policies.checks import PolicyCheck
from ppdm_flow.page.services.policies.given import files_of
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.uploads.uploads import Upload


@dataclass(frozen=True, slots=True)
class DataChoice:
    """The tables that a run may read.

    ``chosen`` is the upload that it reads unless somebody chooses otherwise. ``source`` is the file that the policy
    names, as the policy writes it, and ``is_there`` says that runs can read it, as far as the page can tell. ``digest``
    is that of the files that were looked at; empty where a run has to be begun on a page of its own.
    """

    uploads: tuple[Upload, ...]
    chosen: Upload | None
    source: str
    is_there: bool
    digest: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether a run has a table to read."""
        return self.chosen is not None or self.is_there


def data_choice(call: Call, policy: PolicyText, checked: PolicyCheck) -> DataChoice:
    """Return what somebody's run of a policy may read.

    A file that is not there is taken from the newest upload of its name, which somebody may have sent again.
    """
    uploads = tuple(call.site.uploads.all_of(call.user))
    source = _source(checked)
    is_there = not source or _is_there(call.site.policies.path(policy.name).parent / source, source)
    chosen = None
    if checked.plan is None or not checked.plan.get("tables"):
        chosen = call.site.uploads.policy_upload(call.user, policy.name)
        if chosen is None and not is_there:
            chosen = next((each for each in uploads if each.name == Path(source).name), None)
    try:
        digest = files_of(call.site.checks, policy, checked).digest
    except (PpdmError, RefusalError):
        digest = ""  # the page of the run says why
    return DataChoice(uploads, chosen, source, is_there, digest)


def _source(checked: PolicyCheck) -> str:
    """Return the file that a policy of one table names; empty where it has none, or several tables."""
    if checked.plan is None or checked.plan.get("tables"):
        return ""
    return checked.plan["source"]["path"] or ""


def _is_there(file: Path, source: str) -> bool:
    """Whether a file is there; what is not one file (an address, a folder, a pattern) is left to the run."""
    return "://" in source or is_bucket(source) or is_file_set(file) or file.exists()
