"""Both engines compared on one case: the one of this machine, and Spark's on a farm in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from farm import FarmHere

from adversary.policies import Case
from adversary.trial import KEY, REFUSED, write
from ppdm_flow.api.run import run
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.spark import engine, source
from ppdm_flow.engine.spark.engine import SparkEngine
from ppdm_flow.python.result import released_table
from ppdm_flow.sources.csv import algorithm

FRAGMENT_ROWS, ROW_BYTES, PART_ROWS = 5, 6, 5
"""Tables of some dozen rows have several fragments and parts; CSV is cut by bytes."""
SAME = ("verdict", "metrics", "requirements", "findings")


@dataclass(frozen=True)
class Ended:
    """What came of a run: its verdict, or the codes of an error; what its report says, and the rows of releases."""

    verdict: str
    codes: tuple[str, ...] = ()
    said: Any = None
    rows: Any = None


def faults(case: Case) -> tuple[str, list[str]]:
    """Return the local verdict of a case, and where Spark's engine differs from it."""
    with TemporaryDirectory(prefix="engines-") as folder:
        home = Path(folder)
        write(case, home)
        here = _ended(home, "local")
        with _on_spark():
            there = _ended(home, "spark")
    return here.verdict, list(_differences(here, there))


def _differences(here: Ended, there: Ended) -> Iterator[str]:
    if here.verdict != there.verdict:
        yield f"{here.verdict} {' '.join(here.codes)} here, {there.verdict} {' '.join(there.codes)} on Spark"
    elif here.codes != there.codes:
        yield f"{' '.join(here.codes)} here, {' '.join(there.codes)} on Spark"
    elif here.verdict != REFUSED:
        yield from (f"other {part}" for part in SAME if here.said[part] != there.said[part])
        if here.rows != there.rows:
            yield "other rows"


def _ended(home: Path, name: str) -> Ended:
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    try:
        result = run(home / "policy.yaml", out=home / name)
    except PpdmError as error:
        return Ended(REFUSED, tuple(dict.fromkeys(d.code for d in error.diagnostics if d.severity == "error")))
    planned = {release["name"]: release for release in result.document["plan"]["releases"]}
    rows = {
        name: released_table(result.run_dir, about, planned[name]).to_pylist()
        for name, about in result.document["releases"].items()
        if result.released
    }
    return Ended(result.verdict, said=result.document, rows=rows)


@contextmanager
def _on_spark() -> Iterator[None]:
    @contextmanager
    def opened(_where: object, _name: str) -> Iterator[SparkEngine]:
        yield SparkEngine(FarmHere())

    with (
        mock.patch.object(sys.modules["ppdm_flow.api.run"], "opened_engine", opened),
        mock.patch.object(source, "FRAGMENT_ROWS", FRAGMENT_ROWS),
        mock.patch.object(algorithm, "_ROW_BYTES", ROW_BYTES),
        mock.patch.object(engine, "PART_ROWS", PART_ROWS),
    ):
        yield
