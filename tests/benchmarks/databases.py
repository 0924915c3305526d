"""What a table of a PostgreSQL server costs: copying it, and a whole run, against ADBC's own time to read it.

    python tests/benchmarks/databases.py [--rows 1000000 10000000] [--repeats 3] [--json FILE]

Needs a PostgreSQL installation, of which it makes a server of its own. Each row is one process, the best of the
repeats, which take turns; ``ratio`` is the wall time over that of ADBC reading every batch, in the same call. Starting
Python and importing is part of the run, and not of the two others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import Row, Sheet, Spent, flow, timed

sys.path.insert(0, str(Path(__file__).parents[1]))
from postgres import Postgres

TABLE = """
CREATE TABLE visits AS SELECT i AS visit, (random() * 80)::int AS age, md5((i % 50)::text) AS town,
    'ward ' || i % 1000 AS ward, random() AS score, date '2000-01-01' + i % 5000 AS day,
    (random() * 1000)::numeric(10, 2) AS cost
FROM generate_series(1, {rows}) AS i
"""
POLICY = """version: 1
name: visits
source: {{url: '{url}', table: visits}}
attributes:
  visit: {{role: identifier}}
  age: {{role: quasi_identifier, type: integer}}
  town: {{role: insensitive}}
  ward: {{role: insensitive}}
  score: {{role: insensitive, type: float}}
  day: {{role: insensitive, type: date}}
  cost: {{role: insensitive, type: float}}
privacy: {{k_anonymity: {{k: 5}}}}
releases: {{out: {{path: out.parquet}}}}
"""
READ = """
import sys, time
import adbc_driver_postgresql.dbapi as driver
started = time.perf_counter()
with driver.connect(sys.argv[1]) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT * FROM visits")
    assert sum(batch.num_rows for batch in cursor.fetch_record_batch()) == int(sys.argv[2])
print(time.perf_counter() - started)
"""
COPY = """
import sys, time
from pathlib import Path
from ppdm_flow.sdk import registry
import adbc_driver_postgresql.dbapi
spec = registry.load("sources", "sql")
made = spec.load()
started = time.perf_counter()
source = made(spec.params(url=sys.argv[1], table="visits"), Path("visits"))
rows = []
source.copy(source.names(), rows.append)
assert rows[-1] == int(sys.argv[2])
print(time.perf_counter() - started)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sheet = Sheet()
    sheet.head()
    server = Postgres.start()
    try:
        for rows in options.rows:
            measure(server, rows, options.repeats, sheet)
    finally:
        server.stop()
    sheet.write(options.json)


def measure(server: Postgres, rows: int, repeats: int, sheet: Sheet) -> None:
    """Add the rows of one size."""
    database = server.database()
    server.sql(database, f"DROP TABLE IF EXISTS visits; {TABLE.format(rows=rows)}; ANALYZE visits; CHECKPOINT")
    url = server.url(database)
    spent: dict[str, list[tuple[float, Spent]]] = {"adbc": [], "copy": [], "run": []}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "policy.yaml").write_text(POLICY.format(url=url))
        for _ in range(repeats):
            for what, code in (("adbc", READ), ("copy", COPY)):
                (home / f"measure_{what}.py").write_text(code)
                out = home / "seconds"
                took = timed("sh", "-c", f'"{sys.executable}" measure_{what}.py "{url}" {rows} > {out}', cwd=home)
                spent[what].append((float(out.read_text()), took))
            took = timed(*flow("run", "policy.yaml", "--out", "runs"), cwd=home)
            spent["run"].append((took.seconds, took))
    base = min(seconds for seconds, _ in spent["adbc"])
    for what, each in spent.items():
        seconds, cpu = min(s for s, _ in each), min(t.cpu for _, t in each)
        ratio, baseline = (None, "") if what == "adbc" else (seconds / base, "adbc")
        sheet.add(Row(what, rows, seconds, max(t.peak_mb for _, t in each), baseline, ratio, cpu))


if __name__ == "__main__":
    main()
