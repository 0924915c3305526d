"""Write `clinic_patients.csv.gz` and `clinic_visits.csv.gz`: 4,000 invented patients and their visits of one year.

    python pipelines/data/make_clinic_visits.py

Nobody was treated. Most patients come once or twice, some every month, and a few dozens of times: dialysis, dressings.
Who has a chronic disease comes back for it, older people come more often, and most go to the hospital of their
district. Everything is derived from one stream of uniform numbers, so that the files are the same bytes on every
machine.
"""

from __future__ import annotations

import datetime as dt
import gzip
import sys
from pathlib import Path

import numpy as np

SEED = 20261123
PATIENTS = 4_000
MOST_VISITS = 160
FIRST_DAY = dt.date(2025, 1, 1)
DISTRICTS = ("Harbour", "Old Town", "Lakes", "Hills", "Riverside", "Mills")
HOSPITALS = ("St. Mary", "General", "Lakeside")
CHRONIC = ("diabetes", "hypertension", "depression", "kidney failure", "HIV")
ACUTE = ("fracture", "flu", "back pain", "infection", "check-up", "burn", "asthma")
PATIENT_COLUMNS = ("patient", "birth_year", "sex", "district")
VISIT_COLUMNS = ("visit", "patient", "day", "hospital", "diagnosis", "cost")
Rows = list[tuple[str, ...]]


def tables(seed: int = SEED) -> tuple[Rows, Rows]:
    """Return a row of texts for each patient, and for each visit in the order of days."""
    draws = np.random.Generator(np.random.PCG64(seed))
    patients: Rows = []
    visits: list[tuple[dt.date, str, str, str, str]] = []
    for number in range(1, PATIENTS + 1):
        name, uniform = f"P{number:05d}", draws.random(7).tolist()
        age = int(18 + 75 * (uniform[0] + uniform[1]) / 2)
        district = int(uniform[2] * len(DISTRICTS))
        chronic = CHRONIC[min(4, int(uniform[3] * 11))] if uniform[3] * 11 < 5 and uniform[4] < age / 120 else ""
        patients.append((name, str(2025 - age), "female" if uniform[5] < 0.52 else "male", DISTRICTS[district]))
        for day, place, cause, cost in draws.random((_times(uniform[6], age, chronic), 4)).tolist():
            hospital = HOSPITALS[district // 2 if place < 0.8 else int(place * 1000) % 3]
            diagnosis = chronic if chronic and cause < 0.7 else ACUTE[int(cause * 1000) % len(ACUTE)]
            date = FIRST_DAY + dt.timedelta(days=int(day * 365))
            visits.append((date, name, hospital, diagnosis, f"{40 + 900 * cost**4:.2f}"))
    visits.sort()
    numbered = [
        (f"V{place:06d}", name, date.isoformat(), hospital, diagnosis, cost)
        for place, (date, name, hospital, diagnosis, cost) in enumerate(visits, 1)
    ]
    return patients, numbered


def _times(uniform: float, age: int, chronic: str) -> int:
    """Return how often somebody comes: a few very often."""
    if uniform > 0.9985:
        return MOST_VISITS - int((uniform - 0.9985) * 60_000)
    usual = 1 + (age > 60) + 2 * bool(chronic)
    return int(usual * uniform / (1.02 - uniform) ** 0.6)


def documents(seed: int = SEED) -> dict[str, bytes]:
    """Return the texts of both CSV files as bytes, by name."""
    patients, visits = tables(seed)
    return {
        "clinic_patients": _document(PATIENT_COLUMNS, patients),
        "clinic_visits": _document(VISIT_COLUMNS, visits),
    }


def _document(columns: tuple[str, ...], rows: Rows) -> bytes:
    return ("\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n").encode()


def main() -> None:
    """Write the files beside this module."""
    for name, text in documents().items():
        target = Path(__file__).with_name(f"{name}.csv.gz")
        target.write_bytes(gzip.compress(text, mtime=0))
        rows = text.count(b"\n") - 1
        sys.stdout.write(f"{target.name}: {rows} rows\n")


if __name__ == "__main__":
    main()
