"""The data that a policy names itself, for verbs that look at data: out of a database or an object store if need be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.loading import NOTHING_OVER

if TYPE_CHECKING:  # only what looks at data needs it
    from ppdm_flow.engine.buckets.copies import BucketCopies


def refuse_both(data: Path | None, *, own_data: bool) -> None:
    """Raise UsageError where both the policy's own data and other data are asked for."""
    if own_data and data is not None:
        text = "`--data` and `--own-data` name two sets of data"
        raise UsageError(Diagnostic("PPF120", text, help="give one of the two"))


def own_data(
    policy: Path, sets: Mapping[str, str], copies: BucketCopies, over: Mapping[PolicyPath, str] = NOTHING_OVER
) -> Path:
    """Return the policy's own data on this machine; copies are gone with ``copies``. Raises PolicyError, DataError.

    ``over`` replaces values of the policy.
    """
    from ppdm_flow.api.loading.bindings import plan_for_data  # noqa: PLC0415  # a plan without data needs no engine
    from ppdm_flow.engine.reading.own_data import own_data as fetched  # noqa: PLC0415  # the same

    plan = plan_for_data(policy, sets, None, over=over, clock=None, copies=copies).plan
    if plan.source.path is not None and is_bucket(plan.source.path):
        return copies.local(Path(plan.source.path))
    if not plan.source.server:  # no copy is made, so none needs a folder
        return fetched(plan, Path())
    folder = copies.folder("own")
    data = fetched(plan, folder)
    if data.parent == folder:
        copies.shows(data, plan.source.server)
    return data
