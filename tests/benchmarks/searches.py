"""Optimal full-domain recoding: the search alone, and whole runs, beside the figures of ARX 3.9.2.

ARX's figures were measured on another day of the same kind of machine (2 cores), so they stand beside the rows and are
no baseline of them: its search, and its load, search and write; without its statistics, as the runs here are with all
of their audits and the report.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from measuring import ROOT, Row, flow, timed

from ppdm_flow.anonymizers.full_domain_recoding.algorithm import FullDomainRecoding
from ppdm_flow.anonymizers.full_domain_recoding.spec import RecodingParams
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.coding import encode_texts
from ppdm_flow.plan.flow import facts_of, resolved
from ppdm_flow.policy import load
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

POLICY = ROOT / "pipelines/arx_adult.yaml"
COPIES, REDRAWN, SEED = 32, 0.05, 7
ARX = {"k5": 1.19, "k10": 1.11, "l5": 0.70, "t0.2": 1.19}
"""Seconds of its search alone."""
WHOLE = {"adult": "ARX 2.34 s, 423 MB", "million": "ARX 7.5 s, 1,721 MB"}
"""Its load, search and write."""
EIGHT = ("sex", "race", "salary-class", "age", "marital-status", "education", "workclass", "native-country")


def adult(data: Path) -> Iterator[Row]:
    """The searches in this process, warm; then the whole run."""
    file = data / "arx_adult/adult.csv.gz"
    table = _read(file)
    for name, step in _steps(table).items():
        step()
        cpu, wall = time.process_time(), time.perf_counter()
        step()
        yield Row(
            f"adult.{name}.search",
            table.num_rows,
            time.perf_counter() - wall,
            0,
            f"ARX {ARX[name]} s",
            cpu=time.process_time() - cpu,
        )
    with tempfile.TemporaryDirectory() as folder:
        yield _run("adult.k5.run", "adult", table.num_rows, file, Path(folder))


def million(data: Path) -> Iterator[Row]:
    """The table 33 times over, with noise: the whole run, report included."""
    table = noisy(_read(data / "arx_adult/adult.csv.gz"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "million.csv"
        pa_csv.write_csv(table, file, pa_csv.WriteOptions(delimiter=";", quoting_style="none"))
        yield _run("million.k5.run", "million", table.num_rows, file, folder)


def noisy(table: pa.Table) -> pa.Table:
    """The original and its copies; in those each cell is redrawn from its column with a small probability."""
    rng = np.random.default_rng(SEED)
    columns = {}
    for name in table.column_names:
        cells = table[name].combine_chunks().dictionary_encode()
        codes = cells.indices.to_numpy()
        copies = np.tile(codes, COPIES)
        drawn = rng.random(len(copies)) < REDRAWN
        copies[drawn] = rng.choice(codes, int(drawn.sum()))
        columns[name] = cells.dictionary.take(pa.array(np.concatenate([codes, copies])))
    return pa.table(columns)


def _run(name: str, size: str, rows: int, file: Path, folder: Path) -> Row:
    command = flow("run", POLICY, "--data", file, "--out", folder / "runs", "-q")
    found = min(timed(*command, cwd=ROOT) for _ in range(2))
    return Row(name, rows, found.seconds, found.peak_mb, WHOLE[size], cpu=found.cpu)


def _steps(table: pa.Table):
    """The fits of the step, as the engine would call them."""
    view, facts = _view(table)
    nine = KAnonymity.of("k", k=5, attributes=tuple(table.column_names))
    eight = KAnonymity.of("k", k=5, attributes=EIGHT)
    asked = {
        "k5": (nine,),
        "k10": (KAnonymity.of("k", k=10, attributes=tuple(table.column_names)),),
        "l5": (eight, LDiversity.of("l", "occupation", l=5, attributes=EIGHT)),
        "t0.2": (eight, TCloseness.of("t", "occupation", t=0.2, attributes=EIGHT)),
    }
    step = FullDomainRecoding(RecodingParams(suppression=0.04))
    return {n: lambda r=r: step.fit(view, StepContext("recode", facts, r)) for n, r in asked.items()}


def _view(table: pa.Table):
    loaded = load(POLICY, {})
    found, _ = resolved(loaded.policy, loaded.places, table.column_names)
    facts = {f.name: f for f in facts_of(found, loaded.places)}
    columns = {name: encode_texts(table[name].combine_chunks()) for name in table.column_names}
    whole = Table(columns, np.arange(table.num_rows, dtype=np.int64))
    return InMemoryView.of(whole, dict.fromkeys(table.column_names, Role.QUASI_IDENTIFIER)), facts


def _read(file: Path) -> pa.Table:
    with gzip.open(file, "rb") as stream:
        names = stream.readline().decode().strip().split(";")
    texts = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return pa_csv.read_csv(file, parse_options=pa_csv.ParseOptions(delimiter=";"), convert_options=texts)
