"""Make hipaa_stays.csv.gz: 3,000 invented hospital stays with all that Safe Harbor has removed. Nobody in it exists.

``python make_hipaa_stays.py`` writes the file beside this module; the same bytes with any version of Python. Numbers of
people are of ranges that are never given out: telephone numbers 555-01xx, Social Security numbers from 900-10 on,
addresses at example.org.
"""

from __future__ import annotations

import gzip
import random
import sys
from datetime import date, timedelta
from pathlib import Path

SEED = 164_514
STAYS = 3000
FIRST = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gail", "Hugo", "Iris", "Jon", "Kim", "Leo", "Mona", "Nils", "Ole")
LAST = ("Abbott", "Brook", "Castle", "Dale", "Elm", "Field", "Grove", "Hill", "Isle", "Jade", "Knoll", "Lake", "Moor")
AREAS = {
    "MA": ("021", "022", "024"),
    "NH": ("030", "031", "036"),
    "VT": ("054", "056", "059"),
    "WY": ("820", "821", "830"),
}
DIAGNOSES = ("fracture", "pneumonia", "sepsis", "stroke", "asthma", "diabetes")
CODES = ("E1", "E2", "S1", "S2")


def stays(seed: int = SEED) -> list[dict[str, str]]:
    """Return the stays, each with the columns of the file."""
    draw = random.Random(seed)  # noqa: S311  # nobody's secrets
    return [stay(number, draw) for number in range(STAYS)]


def stay(number: int, draw: random.Random) -> dict[str, str]:
    """Return one stay."""
    first, last = FIRST[number % 15], LAST[number // 15 % 13]
    second = f"{LAST[number // 195 % 13]}{' II' if number >= 2535 else ''}"
    state = draw.choice(sorted(AREAS))
    admitted = date(2021, 1, 1) + timedelta(days=draw.randrange(365 * 4))
    age = min(101, int(draw.triangular(0, 102, 68)))
    born = admitted.year - age
    return {
        "patient": f"{first} {last} {second}",
        "phone": f"{201 + number // 100}-555-01{number % 100:02d}",
        "email": f"{first}.{last}{number}@example.org".lower(),
        "ssn": f"9{number % 100:02d}-{10 + number // 100}-4321",
        "mrn": f"{7_000_000 + number * 37 % 999_983}",
        "state": state,
        "zip": f"{draw.choice(AREAS[state])}{draw.randrange(100):02d}",
        "birth_year": str(born),
        "age": str(age),
        "admitted": admitted.isoformat(),
        "days": str(1 + min(40, int(draw.expovariate(0.2)))),
        "visit_code": draw.choice(CODES),
        "diagnosis": draw.choice(DIAGNOSES),
        "note": f"seen on {admitted:%m/%d/%Y}, call 212-555-01{draw.randrange(100):02d}" if draw.random() < 0.1 else "",
    }


def document(seed: int = SEED) -> bytes:
    """Return the CSV file's text as bytes."""
    rows = stays(seed)
    lines = [",".join(rows[0]), *(",".join(f'"{c}"' if "," in c else c for c in row.values()) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file beside this module."""
    target = Path(__file__).with_name("hipaa_stays.csv.gz")
    target.write_bytes(gzip.compress(document(), mtime=0))
    sys.stdout.write(f"{target.name}: {STAYS} stays\n")


if __name__ == "__main__":
    main()
