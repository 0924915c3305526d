"""Rows of a relation that are alike, counted by Spark once for all queries that group them, where they are few."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import pyarrow as pa

from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.frames import Frame, TextsFrame, quoted
from ppdm_flow.engine.spark.source import SparkSource
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.spark.tallies import ALIKE
from ppdm_flow.engine.spark.value_counts import product, widened

MOST = 1 << 18
"""Combinations that there may be, by the values of each column, for a relation to be counted so."""


class CombinationCounts:
    """Counts the rows of a relation that are alike; ``sizes`` are the numbers of values of columns that have few.

    Columns that were not asked for are counted besides as long as there cannot be many combinations: the next query
    asks for some of them.
    """

    def __init__(self, farm: Farm, sizes: Mapping[str, int]) -> None:
        self._farm = farm
        self._sizes = sizes
        self._counted: list[tuple[frozenset[str], pa.Table]] = []
        self._lock = threading.Lock()

    def of(self, frame: Frame, columns: frozenset[str]) -> pa.Table | None:
        """Return the combinations of these columns and maybe more, with :data:`ALIKE`; None where they may be many."""
        wider = widened(columns, self._sizes)
        if not wider or product(columns, self._sizes) > MOST:
            return None
        with self._lock:
            table = next((table for names, table in self._counted if columns <= names), None)
            if table is None:
                table = self._count(frame, wider)
                self._counted.append((wider, table))
            return table

    def _count(self, frame: Frame, columns: frozenset[str]) -> pa.Table:
        if isinstance(frame, TextsFrame):
            rows, times = frame.tallied(columns), f"sum({ALIKE})"
        else:
            rows, times = frame(columns), "count(*)"
        view, names = f"ppdm_flow_{uuid.uuid4().hex}", ", ".join(map(quoted, sorted(columns)))
        text = f"SELECT {names}, CAST({times} AS BIGINT) AS {ALIKE} FROM {view} GROUP BY {names}"  # noqa: S608  # quoted
        return self._farm.asked(rows, view, text)


class CombinationsOfStreams:
    """The combinations of each stream, for all audits of a run, as long as there is the stream: no frame is kept."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[SparkStream, dict[bool, CombinationCounts]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, stream: SparkSource, frame: Frame) -> CombinationCounts:
        """Return those of a stream, by a frame of our own reader's or by one of Spark's."""
        with self._lock:
            own, kind = self._known.setdefault(stream, {}), isinstance(frame, TextsFrame)
            if kind not in own:
                own[kind] = CombinationCounts(stream.farm, _few_values(stream))
            return own[kind]


def _few_values(stream: SparkSource) -> Mapping[str, int]:
    """Return how many values those columns have that were counted, without names that SQL takes for one."""
    names = [a.name for a in stream.attributes]
    spelled = [ALIKE, *(name.lower() for name in names)]
    held = stream.held([name for name in names if spelled.count(name.lower()) == 1])
    return {name: len(stream.counts([name], None)) for name in names if name in held}
