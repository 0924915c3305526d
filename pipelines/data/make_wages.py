"""Write `wages.csv.gz`: 5,000 invented employees who were asked for their wage, with their sampling weights.

    python pipelines/data/make_wages.py

Nobody was asked. The sample is stratified: small regions were asked more often than large ones, so that each of them
has enough respondents; and the young answered less often, for which the weights make up. A weight is how many of the
412,000 employees a respondent stands for. Education follows age, occupation follows education and sex, the wage
follows all of them and the region. Everything is derived from one stream of uniform numbers, so that the file is the
same bytes on every machine.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

SEED = 20261122
RESPONDENTS = 5_000

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

REGIONS = ("Harbour", "Old Town", "Riverside", "Lakes", "Highlands", "Northmoor")
EMPLOYEES = (130_000, 104_000, 88_000, 47_000, 28_000, 15_000)
ASKED = (1_150, 1_050, 950, 750, 600, 500)
SEXES = ("female", "male")
EDUCATION = ("basic", "vocational", "secondary", "degree")
OCCUPATIONS = (
    "cleaning", "farming", "construction", "driving", "factory", "sales", "office", "care", "teaching", "engineering",
    "medicine", "management",
)  # fmt: skip
# Edges of the age groups that the tables below speak of.
AGE_GROUPS = (16, 25, 35, 45, 55, 67)
AGE_SHARE = (0.11, 0.23, 0.24, 0.25, 0.17)
ANSWERED = (0.55, 0.70, 0.80, 0.85, 0.90)
EDUCATION_BY_AGE = np.array(  # age group x education
    [
        [0.30, 0.34, 0.31, 0.05],
        [0.09, 0.38, 0.22, 0.31],
        [0.10, 0.42, 0.20, 0.28],
        [0.13, 0.47, 0.18, 0.22],
        [0.18, 0.50, 0.15, 0.17],
    ]
)
JOB_BY_EDUCATION = np.array(  # education x occupation
    [
        [0.22, 0.07, 0.13, 0.12, 0.22, 0.15, 0.03, 0.06, 0.00, 0.00, 0.00, 0.00],
        [0.03, 0.03, 0.13, 0.10, 0.19, 0.15, 0.17, 0.14, 0.01, 0.03, 0.00, 0.02],
        [0.02, 0.01, 0.03, 0.05, 0.08, 0.20, 0.37, 0.10, 0.04, 0.05, 0.00, 0.05],
        [0.00, 0.01, 0.01, 0.01, 0.02, 0.06, 0.24, 0.05, 0.20, 0.19, 0.08, 0.13],
    ]
)
JOB_BY_SEX = np.array(  # sex x occupation, as factors
    [
        [1.6, 0.6, 0.15, 0.25, 0.6, 1.3, 1.4, 1.7, 1.5, 0.4, 1.1, 0.7],
        [0.5, 1.4, 1.80, 1.70, 1.4, 0.7, 0.6, 0.3, 0.6, 1.6, 0.9, 1.3],
    ]
)
WAGE_BY_JOB = (12.4, 12.9, 17.2, 15.1, 17.8, 14.6, 19.4, 16.0, 25.8, 30.5, 37.0, 41.5)
WAGE_BY_AGE = (0.80, 0.94, 1.03, 1.08, 1.07)
WAGE_BY_SEX = (0.94, 1.05)
WAGE_BY_EDUCATION = (0.90, 0.98, 1.02, 1.16)
WAGE_BY_REGION = (1.04, 1.10, 1.00, 0.96, 0.93, 0.90)
UNION_BY_JOB = (0.14, 0.08, 0.31, 0.34, 0.43, 0.13, 0.17, 0.29, 0.46, 0.24, 0.27, 0.06)


def choose(shares: Floats, draws: Floats) -> Codes:
    """Pick one column of each row of ``shares`` (rows, choices; any positive scale) by its uniform draw."""
    edges = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    return np.minimum((draws[:, None] >= edges).sum(axis=1), shares.shape[1] - 1)


def weights(region: Codes, group: Codes) -> Floats:
    """Return the weights: by region and age group what the design and the answers make of them, adding up by region."""
    raw = 1.0 / np.array(ANSWERED)[group]
    total = np.bincount(region, raw, len(REGIONS))
    return raw * (np.array(EMPLOYEES) / total)[region]


def respondents(seed: int = SEED) -> dict[str, list[str]]:
    """Return the columns of the table, by name."""
    count = RESPONDENTS
    draws = np.random.Generator(np.random.PCG64(seed)).random((count, 9))
    region = np.repeat(np.arange(len(REGIONS)), ASKED)
    answering = np.array(AGE_SHARE) * np.array(ANSWERED)
    group = choose(np.broadcast_to(answering, (count, len(answering))), draws[:, 0])
    low, high = np.array(AGE_GROUPS)[group], np.array(AGE_GROUPS)[group + 1]
    age = low + np.floor(draws[:, 1] * (high - low)).astype(np.int64)
    sex = (draws[:, 2] < 0.52).astype(np.int64)
    education = choose(EDUCATION_BY_AGE[group], draws[:, 3])
    job = choose(JOB_BY_EDUCATION[education] * JOB_BY_SEX[sex], draws[:, 4])
    deviates = np.array([NormalDist().inv_cdf(min(max(u, 1e-9), 1 - 1e-9)) for u in draws[:, 5].tolist()])
    mean = np.array(WAGE_BY_JOB)[job] * np.array(WAGE_BY_AGE)[group] * np.array(WAGE_BY_SEX)[sex]
    mean = mean * np.array(WAGE_BY_EDUCATION)[education] * np.array(WAGE_BY_REGION)[region]
    wage = np.maximum(mean * np.exp(0.22 * deviates), 11.6)
    union = draws[:, 6] < np.array(UNION_BY_JOB)[job]
    order = np.argsort(draws[:, 7], kind="stable")
    columns = {
        "respondent": [f"R{n}" for n in (np.argsort(draws[:, 8], kind="stable") + 10_000).tolist()],
        "age": [str(a) for a in age.tolist()],
        "sex": [SEXES[s] for s in sex.tolist()],
        "region": [REGIONS[r] for r in region.tolist()],
        "education": [EDUCATION[e] for e in education.tolist()],
        "occupation": [OCCUPATIONS[j] for j in job.tolist()],
        "union": ["yes" if u else "no" for u in union.tolist()],
        "hourly_wage": [f"{w:.2f}" for w in wage.tolist()],
        "survey_weight": [f"{w:.2f}" for w in weights(region, group).tolist()],
    }
    return {name: [cells[i] for i in order.tolist()] for name, cells in columns.items()}


def document(seed: int = SEED) -> bytes:
    """Return the CSV file's text as bytes."""
    columns = respondents(seed)
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file beside this module."""
    target = Path(__file__).with_name("wages.csv.gz")
    target.write_bytes(gzip.compress(document(), mtime=0))
    sys.stdout.write(f"{target.name}: {RESPONDENTS} respondents\n")


if __name__ == "__main__":
    main()
