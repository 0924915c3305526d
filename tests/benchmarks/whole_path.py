"""What the whole path costs: check, run, perturbation from Parquet to Parquet, CSV reading.

    python tests/benchmarks/whole_path.py [--data ../shared/data] [--only stream] [--largest 10000000] [--json FILE]

Each row is one process, timed from start to exit, with the peak of its resident memory; ``ratio`` is its time over that
of a baseline measured in the same run: an empty Python process, or Arrow reading and writing the same file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import ROOT, Row, Sheet, Spent, best, flow, timed

COLUMNS = 10
VALUES = 12
BATCH = 1_000_000

STREAM = """version: 1
name: stream
source: {path: table.parquet}
attributes:
  c0: {role: sensitive, domain: [DOMAIN]}
  "c*": {role: insensitive}
privacy:
  sensitivities:
    c0: {default: {tolerance: 4}}
steps:
  perturb: {use: fine_grain_perturbation}
releases:
  out: {path: out.parquet}
"""


def long_policy(folder: Path, lines: int = 300) -> Path:
    """The worked hospital policy, grown to ``lines`` lines by more attributes and templates."""
    text = (ROOT / "pipelines/hospital.yaml").read_text()
    more = (lines - text.count("\n")) // 6
    attributes = "".join(f"  extra{i}:\n    role: quasi_identifier\n" for i in range(more))
    templates = "".join(
        f"    more-{i}:\n      channel: [extra{i}, sex]\n      sensitive: {{payment: [charity]}}\n"
        f"      confidence: 0.{i % 80 + 10}\n"
        for i in range(more)
    )
    text = text.replace("  disease:\n    role: sensitive\n", attributes + "  disease:\n    role: sensitive\n", 1)
    text = text.replace("  # Whoever gives", templates + "  # Whoever gives", 1)
    path = folder / "long.yaml"
    path.write_text(text)
    return path


def checks(folder: Path) -> Iterator[Row]:
    empty = best(5, sys.executable, "-c", "pass", cwd=folder).seconds
    for name, policy in (("small", ROOT / "pipelines/bank_credit.yaml"), ("300_lines", long_policy(folder))):
        spent = best(5, *flow("check", policy), cwd=folder)
        yield row(f"check.{name}", policy.read_text().count("\n"), spent, "empty process", empty)


def adult(folder: Path, data: Path) -> Iterator[Row]:
    file = data / "adult_uci/adult.data.gz"
    if not file.exists():
        print(f"adult: left out, {file} is missing", file=sys.stderr)
        return
    words = flow("run", ROOT / "pipelines/adult.yaml", "--data", file, "--out", folder / "adult")
    spent = best(3, *words, cwd=folder)
    read = f"p.read_csv({str(file)!r}, header=None, names=list('abcdefghijklmno'))"
    copy = f"import pandas as p; {read}.to_parquet('copy.parquet')"
    base = best(3, sys.executable, "-c", copy, cwd=folder).seconds
    yield row("adult.whole", 30_162, spent, "pandas, CSV to Parquet", base)


def table(path: Path, rows: int) -> None:
    generator = np.random.default_rng(7)
    names = pa.array([f"value {v}" for v in range(VALUES)])
    weights = 1 / np.arange(1, VALUES + 1)
    schema = pa.schema([(f"c{c}", pa.dictionary(pa.int8(), pa.string())) for c in range(COLUMNS)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, BATCH):
            size = min(BATCH, rows - start)
            columns = [
                pa.DictionaryArray.from_arrays(
                    pa.array(generator.choice(VALUES, size, p=weights / weights.sum()).astype(np.int8)), names
                )
                for _ in range(COLUMNS)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def stream(folder: Path, largest: int) -> Iterator[Row]:
    policy = folder / "stream.yaml"
    policy.write_text(STREAM.replace("DOMAIN", ", ".join(f"value {v}" for v in range(VALUES))))
    copy = (
        "import pyarrow.parquet as q\n"
        "f = q.ParquetFile('table.parquet')\n"
        "w = q.ParquetWriter('copy.parquet', f.schema_arrow, compression='zstd')\n"
        "[w.write_batch(b) for b in f.iter_batches(262144)]\n"
        "w.close()\n"
    )
    for rows in (largest // 10, largest // 3, largest):
        table(folder / "table.parquet", rows)
        spent = timed(*flow("run", policy, "--out", folder / f"runs{rows}"), cwd=folder)
        base = timed(sys.executable, "-c", copy, cwd=folder).seconds
        yield row(f"stream.{rows}", rows, spent, "Arrow, Parquet to Parquet", base)


def row(name: str, rows: int, spent: Spent, baseline: str, base: float) -> Row:
    return Row(name, rows, spent.seconds, spent.peak_mb, baseline, spent.seconds / base, spent.cpu)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    words.add_argument("--only", choices=("check", "adult", "stream"))
    words.add_argument("--largest", type=int, default=10_000_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=20)
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "check": lambda: checks(folder),
            "adult": lambda: adult(folder, chosen.data.resolve()),
            "stream": lambda: stream(folder, chosen.largest),
        }
        for part, rows in parts.items():
            if chosen.only in (None, part):
                for found in rows():
                    sheet.add(found)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
