"""Work that is carried to Spark's executors: one task a fragment, by the DataFrame API alone.

``spark.range`` gives numbers of tasks, ``mapInArrow`` carries out the work, and Spark plans, retries and spills. Rows
of data go through Spark only where it counts or sorts them.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import pickle
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.events import Listener, RowProgress, ignore_events
from ppdm_flow.engine.faults import run_fault, wrap_plugin_errors
from ppdm_flow.engine.streams.stream import Stop

Task = TypeVar("Task")
Result = TypeVar("Result")
_TASKS_A_SLOT = 2
"""Tasks for each place where one can run: a task costs 20 ms beside its work, and one that fails is done again."""
_AT_ONCE = 4
"""Fragments that come to the driver at once; as many are held while they are worked on."""
_POLL = 0.1
EXECUTORS = "give the executors the environment of this process: PYSPARK_PYTHON on a shared disk, or an archive of it"
_LACKS = re.compile(r"No module named '([A-Za-z0-9_.]+)'")
_ANSWERS = "task long, answer binary"


class Farm:
    """Carries work to the executors of one session. May be asked from several threads; each asks for its own jobs."""

    def __init__(self, session: Any, stop: Stop | None = None, listener: Listener = ignore_events) -> None:
        self.session = session
        self.stop = Stop() if stop is None else stop
        self._listener = listener
        self._slots: int | None = None
        self._ahead: set[Future[Any]] = set()
        self._lock = threading.Lock()

    def of_run(self, stop: Stop, listener: Listener) -> Farm:
        """Return the same farm for a run that ends with ``stop`` and tells ``listener`` how its jobs go on."""
        farm = Farm(self.session, stop, listener)
        farm._slots = self._slots  # of the same class
        farm._ahead = self._ahead
        return farm

    @property
    def slots(self) -> int:
        """How many tasks run at once, as the cluster says; a server of Spark Connect is asked once, by a small job."""
        if not is_connect(self.session):
            return max(1, self._parallelism())  # it grows where executors come as they are needed
        with self._lock:
            if self._slots is None:
                self._slots = max(1, self._parallelism())
            return self._slots

    def each(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """Yield the results in the order of tasks, by one job. Raises the PpdmError of the first that fails."""
        if tasks:
            yield from self._collected(self._frame(work, tasks, answering, _ANSWERS), len(tasks))

    def waves(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """Yield the same, a few tasks at a time: no more than these results are held."""
        size = min(2 * self.slots, _AT_ONCE)
        starts = range(0, len(tasks), size)
        with ThreadPoolExecutor(1, thread_name_prefix="spark-wave") as pool:
            coming: Future[list[Result]] | None = None
            for start in [*starts, None]:
                ready = coming
                if start is not None:
                    coming = pool.submit(list, self.each(work, tasks[start : start + size]))
                    self._ahead.add(coming)
                    coming.add_done_callback(self._ahead.discard)
                if ready is not None:
                    yield from self._ready(ready)

    def _ready(self, results: Future[list[Result]]) -> list[Result]:
        try:
            return results.result()
        except KeyboardInterrupt:
            self.stop.set()  # else the job ahead would be waited for
            raise

    def close(self) -> None:
        """Wait for what was asked for ahead of its use by runs that are over: their jobs are cancelled."""
        wait([*self._ahead])

    def frame(self, work: Callable[[Task], Iterator[pa.RecordBatch]], tasks: Sequence[Task], schema: str) -> Any:
        """Return a DataFrame of the rows that ``work`` yields for all tasks."""
        return self._frame(work, tasks, batching, schema)

    def grouped(self, work: Callable[[Task], Iterator[pa.RecordBatch]], tasks: Sequence[Task], keys: int) -> pa.Table:
        """Return the sums of ``n`` by c0, c1, …, so many texts, over the rows that ``work`` yields for all tasks."""
        names = [f"c{i}" for i in range(keys)]
        rows = self.frame(work, tasks, ", ".join([*(f"{name} string" for name in names), "n long"]))
        return self.table(rows.groupBy(*names).agg({"n": "sum"}).withColumnRenamed("sum(n)", "n"))

    def shuffled(
        self,
        work: Callable[[Task], Iterator[pa.RecordBatch]],
        tasks: Sequence[Task],
        parts: int,
        finish: Callable[[Iterable[pa.RecordBatch]], Iterator[Result]],
    ) -> Iterator[Result]:
        """Yield what ``finish`` makes of the blocks (part, fragment, block) that ``work`` yields, in no order.

        It gets some of the ``parts`` whole, one after the other, each in the order of fragments.
        """
        blocks = self.frame(work, tasks, "part int, fragment int, block binary")
        yield from self.finished(blocks.repartition(parts, "part").sortWithinPartitions("part", "fragment"), finish)

    def finished(self, frame: Any, finish: Callable[[Iterable[pa.RecordBatch]], Iterator[Result]]) -> Iterator[Result]:
        """Yield what ``finish`` makes of the rows of each partition of a DataFrame, in no order."""
        import cloudpickle  # noqa: PLC0415  # comes with pyspark

        yield from _results(self.table(frame.mapInArrow(streaming(cloudpickle.dumps(finish)), _ANSWERS))["answer"])

    def query(self, frame: Any, view: str, text: str) -> pa.Table:
        """Return the result of a SELECT of Spark's, in which ``view`` is the rows of ``frame``. Raises RunError."""
        try:
            frame.createOrReplaceTempView(view)
            return self.table(self.session.sql(text))
        except PpdmError:
            raise
        except Exception as error:  # noqa: BLE001  # a message of Spark's may quote values, or a whole plan
            raise _spark_fault(error) from None
        finally:
            with contextlib.suppress(Exception):  # of a session that was stopped meanwhile
                self.session.catalog.dropTempView(view)

    def files(
        self, form: str, address: str, schema: str | None, options: Mapping[str, str], cells: Iterable[str]
    ) -> Any:
        """Return the rows of files, read by Spark itself; ``cells`` are expressions of its SQL."""
        reader = self.session.read.format(form).options(**options)
        return (reader if schema is None else reader.schema(schema)).load(address).selectExpr(*cells)

    def table(self, frame: Any) -> pa.Table:
        """Return the rows of a DataFrame. Raises RunError, StoppedError."""
        group = f"ppdm-flow-{uuid.uuid4().hex}"
        with ThreadPoolExecutor(1, thread_name_prefix="spark-job") as pool:
            job = pool.submit(self._run, frame, group)
            try:
                while True:
                    self.stop.check()
                    try:
                        return job.result(timeout=_POLL)
                    except NotYet:
                        if job.done():
                            raise
                        self._tell(group)
            except BaseException:
                if not job.done():
                    self._cancel(group)
                raise

    def _run(self, frame: Any, group: str) -> pa.Table:
        try:
            with self._named(group):
                return frame.toArrow()
        except PpdmError:
            raise
        except Exception as error:  # noqa: BLE001  # a message of Spark's may quote values, or a whole plan
            raise _spark_fault(error) from None

    @contextmanager
    def _named(self, group: str) -> Iterator[None]:
        """Let the jobs of this thread have a name, by which they are followed and cancelled."""
        if is_connect(self.session):
            self.session.addTag(group)
            try:
                yield
            finally:
                self.session.removeTag(group)
        else:
            self.session.sparkContext.setJobGroup(group, "ppdm-flow", interruptOnCancel=False)
            yield

    def _tell(self, group: str) -> None:
        """Say how many tasks of the jobs are done, as Spark says; Spark Connect says it to nobody who polls."""
        if is_connect(self.session):
            return
        tracker = self.session.sparkContext.statusTracker()
        stages = [
            s
            for job in tracker.getJobIdsForGroup(group)
            if (job_info := tracker.getJobInfo(job))
            for s in job_info.stageIds
        ]
        known = [info for stage in stages if (info := tracker.getStageInfo(stage)) is not None]
        if known:
            done, total = sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)
            self._listener(RowProgress("spark", done, total, "tasks"))

    def _cancel(self, group: str) -> None:
        if is_connect(self.session):
            self.session.interruptTag(group)
        else:
            self.session.sparkContext.cancelJobGroup(group)

    def _frame(self, work: Callable[..., Any], tasks: Sequence[Any], running: Callable[..., Any], schema: str) -> Any:
        import cloudpickle  # noqa: PLC0415  # comes with pyspark

        joins = hasattr(work, "together")  # what it takes together is less than what it makes of each by itself
        parts = min(len(tasks), self.slots * (1 if joins else _TASKS_A_SLOT))
        run = running(cloudpickle.dumps((work, list(tasks))))
        return self.session.range(0, len(tasks), 1, parts).mapInArrow(run, schema)

    def _collected(self, frame: Any, tasks: int) -> Iterator[Any]:
        table = self.table(frame)
        numbers, answers = table["task"].to_pylist(), table["answer"]
        if sorted(numbers) != list(range(tasks)):
            raise run_fault("PPF950", "Spark gave other answers than there are tasks")
        place = {number: at for at, number in enumerate(numbers)}
        yield from _results(answers[place[number]] for number in range(tasks))

    def _parallelism(self) -> int:
        try:
            if not is_connect(self.session):
                return int(self.session.sparkContext.defaultParallelism)
            return int(self.session.range(0, 1 << 20).selectExpr("spark_partition_id() AS p").distinct().count())
        except Exception as error:  # noqa: BLE001  # a session that was stopped, or a cluster that is gone
            raise _spark_fault(error) from None


def _results(answers: Iterable[Any]) -> Iterator[Any]:
    for answer in answers:
        result = pickle.loads(answer.as_py())  # noqa: S301  # own executors
        if isinstance(result, TaskFailure):
            raise result.error
        yield result


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect, which has no context of Spark's."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _spark_fault(error: Exception) -> PpdmError:
    """Return the error that an executor carried, or one that names Spark's own error class and quotes nothing."""
    text = str(error)
    own = carried(text)
    if own is not None:
        return own
    lacking = _LACKS.search(text)
    if lacking is not None:
        name = lacking.group(1).partition(".")[0]
        return run_fault("PPF955", f"the executors do not have {name}", advice=EXECUTORS)
    return run_fault(
        "PPF951",
        f"Spark could not carry out a part of the run ({condition_of(error)})",
        advice="nothing was released; the driver's log and the executors' logs say more",
    )


def condition_of(error: Exception) -> str:
    """Return Spark's own word for an error, else its type: nothing that quotes."""
    for source in (error, getattr(error, "java_exception", None)):
        with contextlib.suppress(Exception):  # Java's exceptions are asked through the gateway
            kind = getattr(source, "getCondition", getattr(source, "getErrorClass", lambda: None))()
            if isinstance(kind, str) and kind:
                return kind
    return type(error).__name__


# What runs on an executor. Nothing here raises into Spark, whose logs would quote it: failures are answers.


ANSWERS = pa.schema([("task", pa.int64()), ("answer", pa.binary())])


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The error that a task ended with."""

    error: PpdmError


def answering(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the numbers of tasks; it yields (task, pickled result)."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

        work, tasks = unpacked(blob)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                packed = answer(work, tasks[number])
                yield pa.RecordBatch.from_arrays([pa.array([number]), pa.array([packed], pa.binary())], schema=ANSWERS)

    return run


def batching(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the numbers of tasks; it yields the rows that the work makes."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

        work, tasks = unpacked(blob)
        yield from rows(work, (tasks[number] for batch in batches for number in batch.column(0).to_pylist()))

    return run


def streaming(blob: bytes) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what Spark calls with the rows of a part; it yields (0, pickled result)."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

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
