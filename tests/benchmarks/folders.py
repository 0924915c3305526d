"""What a folder costs: a whole run over many Parquet files, against one file of the same rows.

    python tests/benchmarks/folders.py [--rows 5000000] [--files 200] [--repeats 3] [--json FILE]

Each row is one process, the best of the repeats, which take turns; ``ratio`` is the CPU time of the folder over that of
the one file, in the same call: other work on the machine changes that least. Wall time is beside it.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from measuring import Row, Sheet, Spent, flow, timed

POLICY = """version: 1
name: visits
source: {path: PLACE}
attributes:
  sex: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer}
  hospital: {role: insensitive}
  cost: {role: insensitive, type: float}
privacy: {k_anonymity: {k: 5}}
releases: {out: {path: out.parquet}}
"""
PLACES = {"one file": "visits.parquet", "folder": "visits/", "partitions": "by_sex/"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home, options.rows, options.files)
        spent: dict[str, list[Spent]] = {id_: [] for id_ in PLACES}
        for id_, place in PLACES.items():
            (home / f"{id_}.yaml").write_text(POLICY.replace("PLACE", place))
        for _ in range(options.repeats):
            for id_ in PLACES:
                spent[id_].append(timed(*flow("run", f"{id_}.yaml", "--out", "runs"), cwd=home))
    base = min(each.cpu for each in spent["one file"])
    for id_, every in spent.items():
        cpu, seconds = min(each.cpu for each in every), min(each.seconds for each in every)
        ratio, baseline = (None, "") if id_ == "one file" else (cpu / base, "one file")
        sheet.add(Row(id_, options.rows, seconds, max(each.peak_mb for each in every), baseline, ratio, cpu))
    sheet.write(options.json)


def write(home: Path, rows: int, files: int) -> None:
    draws = np.random.default_rng(7)
    table = pa.table(
        {
            "sex": pa.array(np.sort(draws.choice(["f", "m"], rows))),
            "age": draws.integers(0, 100, rows),
            "hospital": pa.array(draws.choice([f"H{i:03}" for i in range(300)], rows)),
            "cost": draws.integers(0, 100_000, rows) / 100,
        }
    )
    pq.write_table(table, home / "visits.parquet")
    (home / "visits").mkdir()
    size = -(-rows // files)
    for number in range(files):
        pq.write_table(table.slice(number * size, size), home / "visits" / f"part-{number:04}.parquet")
    for sex in ("f", "m"):
        folder = home / "by_sex" / f"sex={sex}"
        folder.mkdir(parents=True)
        own = table.filter(pc.equal(table["sex"], sex)).drop(["sex"])
        size = -(-len(own) // (files // 2))
        for number in range(files // 2):
            pq.write_table(own.slice(number * size, size), folder / f"part-{number:04}.parquet")


if __name__ == "__main__":
    main()
