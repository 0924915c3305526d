"""Policy tests: 50 small tests of two policies like the hospital's, by the command line, start-up included.

``one`` and ``two`` are so many processes. The aim: well under 30 seconds on two cores. Baseline: as many runs of
``ppdm-flow run``, each a process of its own (the best of three, 50 times). The data of each test is 24 rows.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring import Row, Sheet, best, flow, timed

TESTS = 50
ROWS = 24
ROOT = Path(__file__).resolve().parents[2]
POLICY = ROOT / "pipelines" / "hospital.yaml"
GATES = re.compile(r"^gates:\n(  .*\n)+", re.MULTILINE)
"""A classifier of so few rows says too little for them."""
HEADER = "patient_id,age,sex,region,occupation,disease,payment,readmitted"


def written(folder: Path) -> Path:
    """Write two files of 25 tests each; every test has a table of its own."""
    for number in (1, 2):
        policy = GATES.sub("", POLICY.read_text(encoding="utf-8")).replace("name: hospital", f"name: hospital-{number}")
        (folder / f"hospital_{number}.yaml").write_text(policy, encoding="utf-8")
        lines = [f"policy: hospital_{number}.yaml", "tests:"]
        for test in range(TESTS // 2):
            lines += [f"  test-{test}:", "    data: |", f"      {HEADER}"]
            lines += [f"      {row}" for row in patients(test)]
            lines += ["    expect:", "      fails: []", f"      releases: {{billing: {{rows: {ROWS}}}}}"]
        (folder / f"hospital_{number}.test.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def patients(seed: int) -> Iterator[str]:
    """Yield rows of two groups of twelve, so that ten are alike."""
    for i in range(ROWS):
        who = ("female", "Lakes", "nurse") if i < ROWS // 2 else ("male", "Harbour", "builder")
        disease = ("flu", "asthma", "injury", "diabetes")[(i + seed) % 4]
        payment, readmitted = ("insured", "self-paid")[i % 2], ("no", "yes")[i % 3 == 0]
        yield f"p{i},{42 + i % 20},{','.join(who)},{disease},{payment},{readmitted}"


def main() -> None:
    """Print a row for each number of processes; with ``--json`` write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    sheet = Sheet(wide=18)
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name))
        (folder / "patients.csv").write_text("\n".join([HEADER, *patients(0)]) + "\n", encoding="utf-8")
        run = best(3, *flow("run", "hospital_1.yaml", "--data", "patients.csv", "-q"), cwd=folder)
        for label, workers in (("one", 1), ("two", 2)):
            took = timed(*flow("test", ".", "--workers", workers), cwd=folder)
            ratio = took.seconds / (TESTS * run.seconds)
            sheet.add(Row(f"policy_tests.{label}", TESTS, took.seconds, took.peak_mb, "50 runs", ratio, took.cpu))
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
