"""The source of a plan opened, and the plan carried out on it: for one table, or for tables that belong together."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.ledger.ledger import RunLedger
from ppdm_flow.engine.linked.sources import LinkedOriginals, open_linked
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.run.linked_stages import AuditedTables, audited_tables
from ppdm_flow.engine.run.stages import AuditedTable, Look, audited_table, ignore_candidates

Opened: TypeAlias = Original | LinkedOriginals
AuditedRun = AuditedTable | AuditedTables


def open_original(context: RunContext, data: Path | None) -> Opened:
    """Read the data of a plan once: ``data``, else the policy's own; of linked tables, a folder with their files.

    Raises DataError.
    """
    return open_linked(context, data) if context.plan.tables else Opening(context, data).open()


def audited_run(
    context: RunContext,
    original: Opened,
    directory: RunDirectory,
    ledger: RunLedger | None,
    look: Look = ignore_candidates,
) -> AbstractContextManager[AuditedRun]:
    """Carry out the plan in ``directory`` and audit what it made; inside, no other run gets at the ledger.

    Of linked tables, ``look`` sees the candidates of each table by themselves. Raises DataError, PluginError or
    RunError.
    """
    if isinstance(original, LinkedOriginals):
        return audited_tables(context, original, directory, ledger, look)
    return audited_table(context, original, directory, ledger, look)
