"""Two policies measured on the same data, with the same key: nothing is released, and nothing stays on disk."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ppdm_flow.api.diff.policies import LoadedPolicy, named_files
from ppdm_flow.api.diff.runs import Document, compared
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.policies import quote_sources
from ppdm_flow.core.draws import RunKey
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.run.carry_out import open_original
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.report.diff.fields import OutcomePair
from ppdm_flow.report.run.document import plain

_KEY_BYTES = 32
_RESULT = ("id", "release", "metric", "bound", "direction", "measured", "holds", "interval")
_FIGURE = ("value", "unit", "interval")


def measured(old: LoadedPolicy, new: LoadedPolicy, sets: Mapping[str, str], data: Path) -> OutcomePair:
    """Return what both policies measure. Raises PolicyError, DataError, PluginError or RunError.

    Both draw with one secret key, so that what is random in both is drawn alike; it is gone afterwards.
    """
    options = RunOptions(key=RunKey(secrets.token_bytes(_KEY_BYTES)))
    for each in (old, new):
        _bring(each)
    own = [{name: value for name, value in sets.items() if name not in each.foreign} for each in (old, new)]
    return compared(*(_of(each, given, data, options) for each, given in zip((old, new), own, strict=True)))


def _of(policy: LoadedPolicy, sets: Mapping[str, str], data: Path, options: RunOptions) -> Document:
    ready = plan_for_data(Path(policy.loaded.file), sets, data)
    with (
        quote_sources(ready.sources, ready.plan.secrets),
        tempfile.TemporaryDirectory(prefix="ppdm-flow-") as scratch,
        RunContext(ready.plan, options) as context,
    ):
        outcome = measure(context, open_original(context, data), Path(scratch))
    return {
        "shown": policy.name,
        "verdict": outcome.verdict_for(ready.plan),
        "requirements": [_fields(r, _RESULT, r.id) for r in outcome.requirements],
        "gates": [_fields(r, _RESULT, r.id) for r in outcome.gates],
        "metrics": {name: _fields(figure, _FIGURE, name) for name, figure in outcome.metrics.items()},
        "findings": [],
    }


def _fields(value: Any, names: Sequence[str], place: str) -> Document:
    return {name: plain(getattr(value, name), f"{place}.{name}") for name in names}


def _bring(policy: LoadedPolicy) -> None:
    """Put the files that a revision's policy names beside its copy."""
    home, where = Path(policy.loaded.file).absolute().parent, policy.place
    for name in named_files(policy) if where.folder else ():
        content, path = where.content(home / name), home / name
        if content is not None and path.resolve().is_relative_to(where.folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
