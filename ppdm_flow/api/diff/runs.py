"""Two runs: what was asked for, what was measured, what was found."""

from __future__ import annotations

from ppdm_flow.api.diff import columns as diff_columns
from ppdm_flow.api.diff.outcomes import compared
from ppdm_flow.api.diff.policies import pair, read
from ppdm_flow.api.diff.revisions import Place
from ppdm_flow.api.report import read as report_of
from ppdm_flow.report.diff.fields import DiffDocument

POLICY = "policy.resolved.yaml"


def runs(old: Place, new: Place) -> DiffDocument:
    """Return the comparison of two runs' policies and reports.

    Raises UsageError where a directory lacks its report or its policy, PolicyError where the policy is not valid to
    this version of the program.
    """
    before, after = (read(where.path / POLICY, where, {}) for where in (old, new))
    reports = [report_of(where.path) | {"shown": str(where.path)} for where in (old, new)]
    both = pair(before, after, diff_columns.compared(before, after))
    return {"version": 1, "kind": "runs", "pairs": [both], "added": [], "removed": [], "runs": compared(*reports)}
