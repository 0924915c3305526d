"""What a plain run imports: a table of half a million rows is released in the time that some packages take to start."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product

import pytest

PROGRAM = """
import json, sys
from ppdm_flow.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as left:
    print(json.dumps([left.code or 0, *sorted({name.partition(".")[0] for name in sys.modules})]))
"""
POLICY = """version: 1
name: numbers
source: {path: table.csv}
attributes:
  sex: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer}
  admitted: {role: insensitive, type: date}
  income: {role: insensitive, type: float}
privacy: {k_anonymity: {k: 5}}
audits: {shapes: {use: distributions}}
releases: {out: {path: out.ENDING}}
"""
"""That of ``tests/benchmarks/numeric.py``, with fewer columns."""

NEEDLESS = {"numba", "llvmlite", "sklearn"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_plain_run_imports_no_compiler_and_no_package_that_it_does_not_use(tmp_path, ending):
    cells = product(("female", "male"), range(30, 33), ("2020-01-01", "2021-02-03"), range(3))
    lines = [f"{sex},{age},{day},{i / 7}" for sex, age, day, i in cells]
    (tmp_path / "table.csv").write_text("\n".join(["sex,age,admitted,income", *lines]) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY.replace("ENDING", ending))
    command = [sys.executable, "-c", PROGRAM, "run", "policy.yaml", "--out", "runs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    status, *modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    assert len(list(tmp_path.glob(f"runs/numbers/*/released/*/out.{ending}"))) == 1
    assert NEEDLESS.isdisjoint(modules)
