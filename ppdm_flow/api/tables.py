"""Data that is in no file: a table that Spark reads, copied once for a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ppdm_flow.api.loading.policies import ON_SPARK, ReadyPlan, quote_sources, unchosen, valid_plan
from ppdm_flow.api.where import SPARK, EngineChoice
from ppdm_flow.core.addresses.table import TableAddress, refuse_table
from ppdm_flow.core.clock import Clock
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.buckets.copies import BucketCopies
from ppdm_flow.engine.events import Listener
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.reading.binding import bind
from ppdm_flow.engine.seam import Engine
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.policy import load
from ppdm_flow.policy.requirements import awaits_data

if TYPE_CHECKING:  # an extra
    from ppdm_flow.engine.spark.engine import SparkEngine
    from ppdm_flow.engine.spark.snapshot import SparkTable

_FRAME = "the DataFrame"
_FILE = "data.parquet"
_COPY = Path(".copy-of-a-table.parquet")
"""A name that tells the format of the copy."""


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame of a session of Spark's, given as data."""

    frame: Any


TableData = TableAddress | SparkFrame
"""Data that Spark reads, and that is copied before a run."""


def check_place(table: TableData, where: EngineChoice) -> None:
    """Raise UsageError where a table is not given to Spark."""
    if where.engine == SPARK:
        return
    if isinstance(table, TableAddress):
        refuse_table(table.shown)
    text = "a DataFrame of Spark's is read by the engine `spark`"
    raise UsageError(Diagnostic("PPF954", text, help='leave `engine` out, or give `engine="spark"`'))


def plan_for_table(path: Path, sets: Mapping[str, str], *, strict: bool, clock: Clock | None) -> ReadyPlan:
    """Return the plan of a policy as far as it is known before a table's columns are. Raises PolicyError."""
    loaded = load(path, sets)
    if awaits_data(loaded.policy):
        raise unchosen(loaded, ON_SPARK)
    return valid_plan(loaded, None, _COPY, strict=strict, clock=clock)


def table_copy(table: TableData, ready: ReadyPlan, engine: Engine, copies: BucketCopies, listener: Listener) -> Path:
    """Copy the columns that a policy uses of all rows of a table, and return the copy, which goes with ``copies``.

    ``engine`` is Spark's. Raises PolicyError and DataError where the table cannot be read or does not match the
    policy, RunError.
    """
    spark = cast("SparkEngine", engine)
    with quote_sources(ready.sources, ready.plan.secrets):
        if ready.plan.tables:
            text = "linked tables are read from a folder with the file of each, and one table is given"
            raise data_fault("PPF957", text, advice="write each to Parquet first, and give their folder")
        source = _source(table, spark)
        columns = _used(ready, source.columns())
        source.check_kinds(columns)
        scratch = copies.folder("copying")
        spark.check(scratch)
        name = table.file_name if isinstance(table, TableAddress) else _FILE
        place = copies.folder("table") / name
        source.copied(spark.farm.of_run(Stop(), listener), columns, scratch, place)
        for shown in (place, place.absolute()):
            copies.shows(shown, source.shown.strip("`"))
        return place


def _source(table: TableData, engine: SparkEngine) -> SparkTable:
    from ppdm_flow.engine.spark.snapshot import SparkTable  # noqa: PLC0415  # an extra

    if isinstance(table, TableAddress):
        return SparkTable.at(engine.farm.session, table)
    return SparkTable(table.frame, _FRAME)


def _used(ready: ReadyPlan, names: tuple[str, ...]) -> list[str]:
    """Return the columns that the policy declares, in the order of the table. Raises PolicyError, DataError."""
    node = ready.plan.source
    if node.columns is not None:
        return list(names)  # they are named by their places
    bound = valid_plan(ready.loaded, names, _COPY, strict=False, clock=None).plan
    used = set(bind(bound.source, names).columns.values())
    return [name for name in names if name in used]
