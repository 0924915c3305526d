"""A second release that is judged against the first, with the ledger in a file and in PostgreSQL, and without one.

    python tests/benchmarks/ledgers.py 1000000 50

measures so many releases of so many people, one after the other, with one ledger in a file. The people, the table and
the policy are invented; nearly every person is in the same class of both releases.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import ROOT, Row, Sheet, flow, timed

from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import LedgerRecord, hashes_of
from ppdm_flow.engine.ledger.ledger import make_ledger
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.sdk.history import Membership

sys.path.insert(0, str(ROOT / "tests"))
from postgres import NoServerError, Postgres  # beside this folder

SIZES = (10_000, 100_000, 1_000_000)
POLICY = """version: 1
name: people
source: {path: one.parquet}
LEDGER
attributes:
  person: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy: {PRIVACY}
releases:
  public: {path: people.parquet}
"""
PRIVACY = {"k": "k_anonymity: {k: 2}", "k, l": "k_anonymity: {k: 2}, l_diversity: {illness: {l: 2}}"}


def ledger(_data: Path) -> Iterator[Row]:
    """Yield the runs of each size, and what the stores alone take for the largest."""
    try:
        server = Postgres.start()
    except NoServerError as error:
        print(f"without PostgreSQL: {error}", file=sys.stderr)
        server = None
    try:
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                yield from _runs(size, Path(folder), server)
    finally:
        if server is not None:
            server.stop()


def _runs(size: int, home: Path, server: Postgres | None) -> Iterator[Row]:
    for number, name in enumerate(("one", "two")):
        pq.write_table(_people(size, number), home / f"{name}.parquet")
    places = {"file": str(home / "releases.ledger")} | ({"server": server.url(server.database())} if server else {})
    for kind, asked in PRIVACY.items():
        alone = _second(home, "", asked)
        yield Row(f"ledger.none.{kind}", size, alone.seconds, alone.peak_mb, cpu=alone.cpu)
        for name, place in places.items():
            if server is not None and name == "server":
                server.database()
            where = "path: releases.ledger" if name == "file" else f"url: '{place}'"
            line = f"ledger: {{{where}, key: releases.key, subject: person}}"
            _clean(home)
            make_ledger(place, home / "releases.key")
            first = _second(home, line, asked, "one")
            yield Row(f"ledger.{name}.{kind}.first", size, first.seconds, first.peak_mb, cpu=first.cpu)
            found = _second(home, line, asked)
            ratio = found.cpu / alone.cpu
            yield Row(f"ledger.{name}.{kind}", size, found.seconds, found.peak_mb, "no ledger, CPU", ratio, found.cpu)
    for name, place in places.items():
        _clean(home)
        if server is not None and name == "server":
            server.database()
        yield from _store(name, make_ledger(place, home / "releases.key"), size)


def _second(home: Path, line: str, asked: str, data: str = "two") -> Row:
    (home / "policy.yaml").write_text(POLICY.replace("LEDGER", line).replace("PRIVACY", asked))
    spent = timed(*flow("run", "policy.yaml", "--data", f"{data}.parquet", "--out", "runs", "-q"), cwd=home)
    return Row("", 0, spent.seconds, spent.peak_mb, cpu=spent.cpu)


def _long_history(size: int, releases: int, home: Path) -> Iterator[Row]:
    """Yield each release, and the bytes of the ledger for each person and release so far, as its ratio."""
    make_ledger(str(home / "releases.ledger"), home / "releases.key")
    for number in range(releases):
        pq.write_table(_people(size, number), home / "data.parquet")
        spent = _second(
            home, "ledger: {path: releases.ledger, key: releases.key, subject: person}", PRIVACY["k, l"], "data"
        )
        length = sum(path.stat().st_size for path in home.glob("releases.ledger*")) / size / (number + 1)
        yield Row(f"ledger.release.{number + 1}", size, spent.seconds, spent.peak_mb, "bytes", length, spent.cpu)
        for run in home.glob("runs/*"):
            shutil.rmtree(run)


def _clean(home: Path) -> None:
    for path in home.glob("releases.*"):
        path.unlink()


def _people(size: int, number: int) -> pa.Table:
    """Two thousand classes; every tenth person falls ill between the first release and another one."""
    draw = np.random.default_rng(7)
    ids = np.arange(size)
    sick = draw.integers(0, 6, size)
    sick = np.where(draw.random(size) < 0.1 * (number > 0), draw.integers(0, 6, size), sick)
    columns = {"age": ids % min(50, size // 1000), "town": ids // 50 % 40, "illness": sick}
    texts = {name: pa.array(values.astype(str)) for name, values in columns.items()}
    return pa.table({"person": pa.array(np.char.add("P", ids.astype(str))), **texts})


def _store(name: str, store: LedgerStore, size: int) -> Iterator[Row]:
    """Write the people of one release, and read them."""
    draw = np.random.default_rng(7)
    members = Membership(hashes_of(draw.bytes(16 * size)), hashes_of(draw.bytes(16 * size)))
    entry = LedgerRecord(PENDING, "p", "r", "public", "", "", "", "", "", "", size, (), size, False)
    started, cpu = time.perf_counter(), _cpu()
    with store.locked():
        (number,) = store.add([(entry, members)])
    yield Row(f"ledger.{name}.write", size, time.perf_counter() - started, 0, cpu=_cpu() - cpu)
    started, cpu = time.perf_counter(), _cpu()
    (entry,) = store.entries()
    back = store.members(replace(entry, number=number))
    yield Row(f"ledger.{name}.read", size, time.perf_counter() - started, 0, cpu=_cpu() - cpu)
    if not np.array_equal(back.subjects, members.subjects):
        raise SystemExit("the people that were read are not those written")


def _cpu() -> float:
    return sum(os.times()[:2])


if __name__ == "__main__":
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as folder:
        for row in _long_history(int(sys.argv[1]), int(sys.argv[2]), Path(folder)):
            sheet.add(row)
