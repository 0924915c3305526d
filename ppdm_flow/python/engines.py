"""Where a program's run is worked on, and its data: on this machine, or where a session of Spark has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from ppdm_flow.api.run import SparkFrame, TableData
from ppdm_flow.api.where import LOCAL, SPARK, EngineChoice
from ppdm_flow.core.addresses import place_of_data
from ppdm_flow.python.arguments import wrong_argument
from ppdm_flow.python.frames import Data, as_file, is_spark_frame

_LEAST_MEMORY = 64


def where_of(engine: Any, master: str | None, memory: int | None, data: Data | None) -> EngineChoice:
    """Return where to work: an engine's name, a session of Spark's, or without both where the data is.

    Raises UsageError for what is neither a name nor a session, and for less memory than a run needs.
    """
    if memory is not None and memory < _LEAST_MEMORY:
        raise wrong_argument(f"`memory` must be at least {_LEAST_MEMORY} MB, and is {memory}")
    session = None
    if engine is not None and not isinstance(engine, str):
        if not hasattr(engine, "createDataFrame"):
            raise wrong_argument("`engine` is a name or a session of Spark's", f"got a `{type(engine).__name__}`")
        engine, session = SPARK, engine
    elif is_spark_frame(data) and engine in (None, SPARK) and master is None:
        engine, session = SPARK, cast("Any", data).sparkSession
    return EngineChoice(LOCAL if engine is None else engine, master, session, memory)


@contextmanager
def as_data(data: Data | None) -> Iterator[Path | TableData | None]:
    """Yield data for a run: a path as :func:`as_file` does, or what Spark reads. Raises DataError, UsageError."""
    if is_spark_frame(data):
        yield SparkFrame(data)
    elif isinstance(data, str):
        yield place_of_data(data)
    else:
        with as_file(data) as file:
            yield file
