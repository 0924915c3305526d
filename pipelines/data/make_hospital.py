"""Write `hospital.csv.gz`: 20,000 invented patients whose attributes depend on each other as real ones do.

    python pipelines/data/make_hospital.py

No patient exists. Regions differ in age and trade, occupation follows age, sex and region, disease follows age, sex
and occupation, the way of payment follows occupation and disease, readmission follows disease and age. Everything is
derived from one stream of uniform numbers, so that the file is the same bytes on every machine.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

SEED = 20261120
PATIENTS = 20_000

Codes = npt.NDArray[np.int64]
Uniform = npt.NDArray[np.float64]

REGIONS = ("Harbour", "Old Town", "Riverside", "Lakes", "Highlands", "Northmoor")
REGION_SHARE = (0.24, 0.20, 0.19, 0.15, 0.12, 0.10)
SEXES = ("female", "male")
OCCUPATIONS = (
    "pupil",
    "student",
    "builder",
    "driver",
    "factory",
    "office",
    "teacher",
    "nurse",
    "unemployed",
    "retired",
)
DISEASES = ("flu", "asthma", "injury", "heart disease", "diabetes", "depression", "cancer", "hepatitis", "HIV")
PAYMENTS = ("insured", "self-paid", "instalments", "charity", "bad debt")

# Edges of the age groups that the tables below speak of: child, youth, young, middle, old.
AGE_EDGES = (16, 25, 40, 65)
AGE_GROUPS = (0, 16, 25, 40, 65, 98)
AGE_SHARE = np.array(  # region x age group
    [
        [0.16, 0.15, 0.29, 0.27, 0.13],
        [0.12, 0.17, 0.28, 0.27, 0.16],
        [0.19, 0.12, 0.26, 0.28, 0.15],
        [0.16, 0.09, 0.21, 0.31, 0.23],
        [0.15, 0.08, 0.19, 0.32, 0.26],
        [0.17, 0.09, 0.20, 0.31, 0.23],
    ]
)
JOB_BY_AGE = np.array(  # age group x occupation
    [
        [1.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000, 0.000],
        [0.110, 0.420, 0.080, 0.045, 0.100, 0.110, 0.010, 0.045, 0.080, 0.000],
        [0.000, 0.060, 0.130, 0.090, 0.160, 0.290, 0.080, 0.090, 0.095, 0.005],
        [0.000, 0.025, 0.110, 0.100, 0.170, 0.290, 0.090, 0.090, 0.085, 0.040],
        [0.000, 0.000, 0.020, 0.020, 0.025, 0.055, 0.015, 0.015, 0.000, 0.850],
    ]
)
JOB_BY_SEX = np.array(  # sex x occupation, as factors
    [
        [1.0, 1.1, 0.25, 0.35, 0.75, 1.15, 1.5, 1.7, 1.0, 1.0],
        [1.0, 0.9, 1.80, 1.70, 1.25, 0.85, 0.5, 0.3, 1.0, 1.0],
    ]
)
JOB_BY_REGION = np.array(  # region x occupation, as factors
    [
        [1.0, 0.8, 1.2, 1.6, 1.5, 0.8, 0.8, 0.9, 1.2, 1.0],
        [1.0, 1.7, 0.6, 0.8, 0.5, 1.5, 1.2, 1.0, 0.8, 1.0],
        [1.0, 1.0, 1.1, 1.0, 1.4, 0.9, 1.0, 1.0, 1.1, 1.0],
        [1.0, 0.6, 1.1, 0.9, 0.8, 1.0, 1.1, 1.2, 0.7, 1.0],
        [1.0, 0.6, 1.3, 1.1, 0.7, 0.7, 1.0, 1.1, 1.0, 1.0],
        [1.0, 0.6, 1.1, 1.0, 1.5, 0.6, 0.9, 1.0, 1.6, 1.0],
    ]
)
ILL_BY_AGE = np.array(  # age group x disease
    [
        [0.420, 0.260, 0.260, 0.005, 0.012, 0.015, 0.010, 0.016, 0.002],
        [0.280, 0.130, 0.300, 0.010, 0.020, 0.190, 0.015, 0.035, 0.020],
        [0.210, 0.090, 0.230, 0.040, 0.060, 0.230, 0.050, 0.055, 0.035],
        [0.120, 0.060, 0.140, 0.190, 0.170, 0.130, 0.130, 0.045, 0.015],
        [0.110, 0.045, 0.115, 0.290, 0.190, 0.060, 0.170, 0.018, 0.002],
    ]
)
ILL_BY_SEX = np.array(  # sex x disease, as factors
    [
        [1.0, 1.1, 0.7, 0.75, 0.95, 1.35, 1.05, 0.8, 0.5],
        [1.0, 0.9, 1.3, 1.30, 1.05, 0.65, 0.95, 1.2, 1.5],
    ]
)
ILL_BY_JOB = np.array(  # occupation x disease, as factors
    [
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 0.9, 1.0, 1.0, 1.4, 1.0, 1.0, 1.2],
        [0.9, 1.0, 2.2, 1.0, 0.9, 0.8, 1.0, 1.1, 0.9],
        [0.9, 0.9, 1.5, 1.4, 1.3, 0.9, 1.0, 1.0, 0.9],
        [1.0, 1.6, 1.5, 1.1, 1.0, 0.9, 1.3, 1.0, 0.9],
        [1.0, 0.9, 0.5, 1.1, 1.2, 1.3, 1.0, 0.8, 0.9],
        [1.6, 0.9, 0.6, 0.9, 0.9, 1.4, 0.9, 0.7, 0.7],
        [1.7, 0.9, 0.9, 0.9, 0.9, 1.3, 0.9, 2.4, 0.7],
        [1.0, 1.1, 1.0, 1.2, 1.2, 2.1, 1.0, 1.8, 2.2],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    ]
)
PAY_BY_JOB = np.array(  # occupation x payment
    [
        [0.86, 0.06, 0.05, 0.02, 0.01],
        [0.70, 0.13, 0.09, 0.06, 0.02],
        [0.69, 0.13, 0.11, 0.02, 0.05],
        [0.71, 0.12, 0.10, 0.02, 0.05],
        [0.78, 0.09, 0.08, 0.02, 0.03],
        [0.86, 0.08, 0.04, 0.01, 0.01],
        [0.91, 0.05, 0.03, 0.005, 0.005],
        [0.88, 0.06, 0.04, 0.01, 0.01],
        [0.38, 0.08, 0.16, 0.22, 0.16],
        [0.84, 0.08, 0.05, 0.02, 0.01],
    ]
)
PAY_BY_ILL = np.array(  # disease x payment, as factors
    [
        [1.1, 1.0, 0.5, 0.7, 0.6],
        [1.0, 1.0, 0.8, 0.8, 0.8],
        [1.0, 1.1, 1.0, 0.8, 1.0],
        [0.9, 0.9, 1.5, 1.2, 1.3],
        [1.0, 0.9, 1.1, 1.1, 1.0],
        [0.9, 1.3, 1.0, 1.2, 1.2],
        [0.8, 0.9, 1.9, 1.5, 1.8],
        [0.9, 1.0, 1.1, 1.5, 1.4],
        [0.7, 1.2, 1.2, 2.4, 1.6],
    ]
)
BACK_BY_ILL = np.array([0.04, 0.12, 0.06, 0.27, 0.24, 0.18, 0.36, 0.17, 0.22])
BACK_BY_AGE = np.array([0.7, 0.7, 0.8, 1.1, 1.5])


def choose(shares: Uniform, draws: Uniform) -> Codes:
    """Pick one column of each row of ``shares`` (rows, choices; any positive scale) by its uniform draw."""
    edges = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    return np.minimum((draws[:, None] >= edges).sum(axis=1), shares.shape[1] - 1)


def patients(count: int = PATIENTS, seed: int = SEED) -> dict[str, list[str]]:
    """Return the columns of the table, by name."""
    draws = np.random.Generator(np.random.PCG64(seed)).random((count, 9))
    region = choose(np.broadcast_to(REGION_SHARE, (count, len(REGIONS))).astype(float), draws[:, 0])
    sex = (draws[:, 1] < 0.49).astype(np.int64)
    group = choose(AGE_SHARE[region], draws[:, 2])
    low, high = np.array(AGE_GROUPS)[group], np.array(AGE_GROUPS)[group + 1]
    age = low + np.floor(draws[:, 3] * (high - low)).astype(np.int64)
    job = choose(JOB_BY_AGE[group] * JOB_BY_SEX[sex] * JOB_BY_REGION[region], draws[:, 4])
    illness = choose(ILL_BY_AGE[group] * ILL_BY_SEX[sex] * ILL_BY_JOB[job], draws[:, 5])
    payment = choose(PAY_BY_JOB[job] * PAY_BY_ILL[illness], draws[:, 6])
    back = draws[:, 7] < BACK_BY_ILL[illness] * BACK_BY_AGE[group]
    number = np.argsort(draws[:, 8], kind="stable") + 100_000
    return {
        "patient_id": [f"P{n}" for n in number.tolist()],
        "age": [str(a) for a in age.tolist()],
        "sex": [SEXES[s] for s in sex.tolist()],
        "region": [REGIONS[r] for r in region.tolist()],
        "occupation": [OCCUPATIONS[j] for j in job.tolist()],
        "disease": [DISEASES[i] for i in illness.tolist()],
        "payment": [PAYMENTS[p] for p in payment.tolist()],
        "readmitted": ["yes" if b else "no" for b in back.tolist()],
    }


def document(count: int = PATIENTS, seed: int = SEED) -> bytes:
    """Return the CSV file's text as bytes."""
    columns = patients(count, seed)
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file beside this module."""
    target = Path(__file__).with_name("hospital.csv.gz")
    target.write_bytes(gzip.compress(document(), mtime=0))
    sys.stdout.write(f"{target.name}: {PATIENTS} patients\n")


if __name__ == "__main__":
    main()
