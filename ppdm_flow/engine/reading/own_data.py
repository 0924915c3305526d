"""The data that a policy names itself, as a file; tables of a database are copied once."""

from __future__ import annotations

import shutil
from pathlib import Path

from ppdm_flow.core.addresses import database_address
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.opening.opening import data_path, open_source, refuse_linked
from ppdm_flow.engine.reading.binding import bind
from ppdm_flow.plan.definition import Plan
from ppdm_flow.sdk.storage import CopiedSource


def own_data(plan: Plan, folder: Path) -> Path:
    """Return the policy's own file, or a copy below ``folder`` of what a run would read from its database now.

    The copy has the columns that the policy uses, as that of a run has, so that the same rows in the same order have
    the same hash. Raises DataError where the policy names no data, or of several tables.
    """
    refuse_linked(plan)
    node = plan.source
    path = data_path(node, None)
    if not node.server:
        return path
    with wrap_plugin_errors("the source"):
        source = open_source(node, path)
        if not isinstance(source, CopiedSource):
            return path
        private = source.copy(tuple(bind(node, source.names()).columns.values()), lambda _rows: None)
    copy = folder / f"{database_address(str(node.options['url'])).database}.parquet"
    shutil.copyfile(private, copy)
    return copy
