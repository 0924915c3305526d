"""Local recoding, suppression and microaggregation: fit and apply in this process, beside the figures of peers.

Peers were measured on another day of the same kind of machine (2 cores): they stand beside the rows and are no baseline
of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import Row
from searches import EIGHT, _read, _view, noisy

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine.streams.coding import encode_texts
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

SETS = {"labels": dict.fromkeys(EIGHT, "sets")}
RUNS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "strict": ("mondrian", {}, True),
    "relaxed": ("mondrian", {"partitioning": "relaxed"}, True),
    "sets": ("mondrian", SETS, False),
    "suppress": ("suppress", {}, False),
}
PEERS = {
    "adult.strict": "ARX local 4.16 s",
    "adult.sets": "anonypy 18.1 s",
    "million.sets": "anonypy 124 s",
}
NUMBERS = 100_000


def local(data: Path) -> Iterator[Row]:
    """ARX's Adult (nine attributes, or eight), the same 33 times over with noise, and numbers for microaggregation."""
    table = _read(data / "arx_adult/adult.csv.gz")
    for size, found in (("adult", table), ("million", noisy(table))):
        view, facts = _view(found)
        for name, (plugin, params, nine) in RUNS.items():
            over = tuple(found.column_names) if nine else EIGHT
            step = _step(
                plugin, params, view, StepContext("recode", facts, (KAnonymity.of("k", k=5, attributes=over),))
            )
            yield _timed(f"{size}.{name}", found.num_rows, step, PEERS.get(f"{size}.{name}", ""))
    yield _timed("numbers.microaggregation", NUMBERS, _averages(), "")


def _step(plugin: str, params: dict[str, Any], view: InMemoryView, ctx: StepContext) -> Callable[[], Any]:
    spec = load("anonymizers", plugin)
    algorithm = spec.load()(spec.params.model_validate(params))
    return lambda: algorithm.fit(view, ctx).transform.apply(view.whole, Draws(bytes(32), 0))


def _averages() -> Callable[[], Any]:
    rng = np.random.default_rng(1)
    cells = {
        "age": rng.integers(18, 90, NUMBERS),
        "income": rng.lognormal(8, 1, NUMBERS).round(2),
        "hours": rng.integers(1, 60, NUMBERS),
    }
    columns = {n: encode_texts(pa.array([str(v) for v in c.tolist()])) for n, c in cells.items()}
    table = Table(columns, np.arange(NUMBERS, dtype=np.int64))
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, AttributeType.FLOAT) for n in cells}
    ctx = StepContext("average", facts, (KAnonymity.of("k", k=5, attributes=tuple(cells)),))
    return _step("microaggregation", {}, InMemoryView.of(table), ctx)


def _timed(name: str, rows: int, step: Callable[[], Any], peer: str) -> Row:
    step()
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    return Row(f"local.{name}", rows, time.perf_counter() - wall, 0, peer, cpu=time.process_time() - cpu)
