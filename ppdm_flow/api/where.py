"""Where a run is worked on, as a caller says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LOCAL, SPARK = "local", "spark"
ENGINES = (LOCAL, SPARK)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine by its name; for Spark the ``master`` that is asked for, or a ``session`` that is there.

    ``memory`` is how many MB of coded data are held at once by this process, None for the usual number.
    """

    engine: str = LOCAL
    master: str | None = None
    session: Any = None
    memory: int | None = None


HERE = EngineChoice()
