"""What runs on an executor. Nothing here raises into Spark, whose logs would quote it: failures are answers."""

from __future__ import annotations

import base64
import gc
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.faults import wrap_plugin_errors

ANSWERS = pa.schema([("task", pa.int64()), ("answer", pa.binary())])


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The error that a task ended with."""

    error: PpdmError


def answering(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the numbers of tasks; it yields (task, pickled result)."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ppdm_flow.engine.spark.worker import ANSWERS, answer, unpacked  # noqa: PLC0415  # on an executor

        work, tasks = unpacked(blob)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                packed = answer(work, tasks[number])
                yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([packed], pa.binary())], schema=ANSWERS)

    return run


def batching(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the numbers of tasks; it yields the rows that the work makes."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ppdm_flow.engine.spark.worker import rows, unpacked  # noqa: PLC0415  # on an executor

        work, tasks = unpacked(blob)
        yield from rows(work, (tasks[number] for batch in batches for number in batch.column(0).to_pylist()))

    return run


def streaming(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the rows of a part; it yields (0, pickled result)."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ppdm_flow.engine.spark.worker import ANSWERS, answers  # noqa: PLC0415  # on an executor

        for packed in answers(blob, batches):
            yield pa.RecordBatch.from_arrays([pa.array([0]), pa.array([packed], pa.binary())], schema=ANSWERS)

    return run


_LAST: tuple[bytes, Any] | None = None


def unpacked(blob: bytes) -> Any:
    """Return the work and its tasks; the last one is remembered, since a worker gets several tasks of a job."""
    global _LAST  # noqa: PLW0603  # of this process alone
    if _LAST is None or _LAST[0] != blob:
        _LAST = (blob, pickle.loads(blob))  # noqa: S301  # the driver's own
        gc.freeze()  # Spark collects after every task, and would go through all that is imported: 40 ms
    return _LAST[1]


def answer(work: Callable[[Any], Any], task: Any) -> bytes:
    """Return the pickled result of a task, or its failure."""
    try:
        with wrap_plugin_errors("a part of the run on an executor"):
            return pickle.dumps(work(task), protocol=5)
    except PpdmError as error:
        return pickle.dumps(TaskFailure(error), protocol=5)


def answers(blob: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Yield the pickled results of the work on all rows of a part, or its failure."""
    try:
        with wrap_plugin_errors("a part of the run on an executor"):
            work = pickle.loads(blob)  # noqa: S301  # the driver's own
            for result in work(batches):
                yield pickle.dumps(result, protocol=5)
    except PpdmError as error:
        yield pickle.dumps(TaskFailure(error), protocol=5)


class CarriedFailureError(Exception):
    """A failure whose text is the pickled PpdmError, for the driver to read in what Spark says."""


_SIGN = re.compile("ppdm-flow-failure:([A-Za-z0-9+/=]+):end")


def rows(work: Callable[[Any], Iterator[pa.RecordBatch]], tasks: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of tasks, which a work with ``together`` takes together. Raises CarriedFailureError."""
    together = getattr(work, "together", None)
    try:
        with wrap_plugin_errors("a part of the run on an executor"):
            yield from chain.from_iterable(map(work, tasks)) if together is None else together(tasks)
    except PpdmError as error:
        text = base64.b64encode(pickle.dumps(error, protocol=5)).decode()
        raise CarriedFailureError(f"ppdm-flow-failure:{text}:end") from None


def carried(text: str) -> PpdmError | None:
    """Return the failure that a message of Spark's carries, if it does."""
    match = _SIGN.search(text)
    if match is None:
        return None
    error = pickle.loads(base64.b64decode(match.group(1)))  # noqa: S301  # own executors
    return error if isinstance(error, PpdmError) else None
