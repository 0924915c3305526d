"""Write `laboratory.csv.gz`: laboratory values of 6,000 invented patients.

    python pipelines/data/make_laboratory.py

Nobody was measured. Values have the units and about the spread of a hospital's laboratory; creatinine rises with age,
haemoglobin is lower in women and where creatinine is high, glucose is high in the fifth who have diabetes. A tenth
of the CRP values is missing, as not everybody's is taken. Everything is derived from one stream of uniform numbers, so
that the file is the same bytes on every machine.
"""

from __future__ import annotations

import datetime as dt
import gzip
import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

SEED = 20261122
PATIENTS = 6_000
FIRST_DAY = dt.date(2025, 1, 1)
WARDS = ("cardiology", "surgery", "internal", "geriatrics")
COLUMNS = ("patient", "age", "sex", "ward", "admitted", "diabetes", "glucose", "creatinine", "haemoglobin", "crp")


def patients(seed: int = SEED) -> list[tuple[str, ...]]:
    """Return a row of texts for each patient."""
    uniform = np.random.Generator(np.random.PCG64(seed)).random((PATIENTS, 10))
    return [_patient(number, row.tolist()) for number, row in enumerate(uniform, 1)]


def _patient(number: int, uniform: list[float]) -> tuple[str, ...]:
    normal = [NormalDist().inv_cdf(min(max(u, 1e-9), 1 - 1e-9)) for u in uniform]
    age = min(95, max(18, round(58 + 18 * normal[0])))
    female = uniform[1] < 0.52
    ward = 3 if age >= 75 and uniform[2] < 0.5 else int(uniform[2] * 3)
    day = FIRST_DAY + dt.timedelta(days=int(uniform[3] * 365))
    diabetic = uniform[4] < 0.08 + 0.002 * age
    glucose = math.exp(4.55 + 0.11 * normal[5] + (0.45 + 0.15 * normal[4] if diabetic else 0.0))
    creatinine = math.exp(-0.35 + 0.005 * age + (0.0 if female else 0.2) + 0.22 * normal[6])
    haemoglobin = (13.4 if female else 14.9) - 0.9 * max(0.0, creatinine - 1.0) + 1.1 * normal[7]
    crp = "" if uniform[9] < 0.1 else f"{math.exp(1.2 + 1.1 * normal[8]):.1f}"
    return (
        f"P{number:05d}",
        str(age),
        "female" if female else "male",
        WARDS[ward],
        day.isoformat(),
        "yes" if diabetic else "no",
        f"{glucose:.0f}",
        f"{creatinine:.2f}",
        f"{haemoglobin:.1f}",
        crp,
    )


def document(seed: int = SEED) -> bytes:
    """Return the CSV file's text as bytes."""
    lines = [",".join(COLUMNS), *(",".join(row) for row in patients(seed))]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file beside this module."""
    target = Path(__file__).with_name("laboratory.csv.gz")
    target.write_bytes(gzip.compress(document(), mtime=0))
    sys.stdout.write(f"{target.name}: {PATIENTS} patients\n")


if __name__ == "__main__":
    main()
