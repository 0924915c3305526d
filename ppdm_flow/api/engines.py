"""The engine that a run is worked on by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ppdm_flow.api.where import ENGINES, LOCAL, SPARK, EngineChoice
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.seam import Engine


@contextmanager
def opened_engine(where: EngineChoice, name: str) -> Iterator[Engine]:
    """Give the engine; what it starts under ``name`` ends with it. Raises UsageError, PluginError."""
    if where.engine == LOCAL:
        if where.master is not None or where.session is not None:
            text = "`--master` is for `--engine spark`"
            raise UsageError(Diagnostic("PPF954", text, help="say `--engine spark` too, or leave it out"))
        yield LocalEngine()
        return
    if where.engine != SPARK:
        text = f"there is no engine `{where.engine}`"
        raise UsageError(Diagnostic("PPF954", text, help=f"there are {', '.join(ENGINES)}"))
    from ppdm_flow.engine.spark.engine import SparkEngine  # noqa: PLC0415  # an extra
    from ppdm_flow.engine.spark.farm import Farm  # noqa: PLC0415  # the same
    from ppdm_flow.engine.spark.session import opened_session  # noqa: PLC0415  # the same

    if where.session is not None and where.master is not None:
        text = "`master` names a session, and one is given"
        raise UsageError(Diagnostic("PPF954", text, help="leave `master` out"))
    with (
        opened_session(where.master, name, where.session) as session,
        closing(SparkEngine(Farm(session))) as engine,
    ):
        yield engine
