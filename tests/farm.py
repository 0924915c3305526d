"""A farm without a cluster: the same tasks, pickled and unpickled, in this process; Spark's SQL is DuckDB's here."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import duckdb
import pyarrow as pa
import sqlglot

from ppdm_flow.engine.spark import farm


class FarmHere:
    """Carries out each task by itself. ``asked_for`` counts what was asked, by kind."""

    slots = 2

    def __init__(self) -> None:
        self.asked_for: dict[str, int] = {}

    def of_run(self, stop: Any, listener: Any) -> FarmHere:
        return self

    def each(self, work: Callable, tasks: Sequence) -> Iterator:
        self._count("each")
        return self._each(work, tasks)

    def waves(self, work: Callable, tasks: Sequence) -> Iterator:
        self._count("waves")
        return self._each(work, tasks)

    def _each(self, work: Callable, tasks: Sequence) -> Iterator:
        carried = cloudpickle.dumps((work, list(tasks)))
        for number in range(len(tasks)):
            mine, every = pickle.loads(carried)
            result = pickle.loads(farm.answer(mine, every[number]))
            if isinstance(result, farm.TaskFailure):
                raise result.error
            yield result

    def close(self) -> None:
        pass

    def frame(self, work: Callable, tasks: Sequence, schema: str) -> pa.Table:
        mine, every = pickle.loads(cloudpickle.dumps((work, list(tasks))))
        try:
            halves = every[: len(every) // 2], every[len(every) // 2 :]  # of two tasks of Spark's
            batches = [batch for half in halves for batch in farm.rows(mine, half)]
        except farm.CarriedFailureError as error:
            raise farm.carried(str(error)) from None
        if batches:
            return pa.Table.from_batches(batches)
        kinds = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "binary": pa.binary()}
        fields = (field.rsplit(" ", 1) for field in schema.split(", "))
        return pa.schema([(name.strip("`"), kinds[kind]) for name, kind in fields]).empty_table()

    def grouped(self, work: Callable, tasks: Sequence, keys: int) -> pa.Table:
        self._count("grouped")
        names = [f"c{i}" for i in range(keys)]
        table = self.frame(work, tasks, ", ".join([*(f"{name} string" for name in names), "n long"]))
        if not keys:
            return pa.table({"n": pa.array([sum(table["n"].to_pylist())], pa.int64())})
        return table.group_by(names).aggregate([("n", "sum")]).rename_columns({"n_sum": "n"}).select([*names, "n"])

    def shuffled(self, work: Callable, tasks: Sequence, parts: int, finish: Callable) -> Iterator:
        self._count("shuffled")
        table = self.frame(work, tasks, "part int, fragment int, block binary")
        table = table.take(pa.array(random.Random(0).sample(range(len(table)), len(table)), pa.int64()))
        table = table.sort_by([("part", "ascending"), ("fragment", "ascending")])
        for place in (0, 1):
            mine = [i for i, part in enumerate(table["part"].to_pylist()) if part % 2 == place]
            rows = table.take(pa.array(mine, pa.int64()))
            for answer in farm.answers(cloudpickle.dumps(finish), rows.to_batches(max_chunksize=3)):
                result = pickle.loads(answer)
                if isinstance(result, farm.TaskFailure):
                    raise result.error
                yield result

    def query(self, frame: pa.Table, view: str, text: str) -> pa.Table:
        self._count("asked")
        with duckdb.connect() as opened:
            opened.register(view, frame)
            told = sqlglot.transpile(text, read="spark", write="duckdb")[0]
            return opened.sql(told).to_arrow_table()

    def files(
        self, form: str, address: str, schema: str | None, options: Mapping[str, str], cells: Iterable[str]
    ) -> pa.Table:
        place = address.removeprefix("file://")
        place = f"{place}/*" if Path(place).is_dir() else place
        if form == "parquet":
            scan = f"read_parquet('{place}')"
        else:
            names = [field.rsplit(" ", 1)[0].strip("`") for field in (schema or "").split(", ")]
            columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
            scan = (
                f"read_csv('{place}', auto_detect=false, header=true, delim='{options['sep']}', quote='\"',"
                f" escape='\"', nullstr='', allow_quoted_nulls=false, columns={{{columns}}})"
            )
        chosen = sqlglot.transpile(f"SELECT {', '.join(cells)} FROM t", read="spark", write="duckdb")[0]
        with duckdb.connect() as opened:
            return opened.sql(chosen.replace("FROM t", f"FROM {scan}")).to_arrow_table()

    def _count(self, what: str) -> None:
        self.asked_for[what] = self.asked_for.get(what, 0) + 1
