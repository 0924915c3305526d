"""Write what 6,000 invented visitors sent, `clicks.jsonl.gz`, and the operator that was published to them before.

    python pipelines/data/make_clicks.py

Nobody read any of it. `clicks_operator.json` is chosen from assumed supports alone, as a server would that has seen no
visitor; then each visitor's topics are randomized by it, for one key, so that the files are the same on every machine.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

import ppdm_flow as pf
from ppdm_flow.core.draws import RunKey
from ppdm_flow.mining.transactions.choosing import choose
from ppdm_flow.mining.transactions.operators import document as written

sys.path.insert(0, str(Path(__file__).parent))
from quest import Quest, quest

KEY = 61
VISITS = Quest(
    6_000, 24, length=2.0, longest=3, patterns=60, pattern_length=1.6, correlation=0.3, popularity=0.2, weight=1.0
)
MAX_SUPPORTS, LEVEL = (0.3, 0.12, 0.1), 0.5
TOPICS = (
    *("banks", "books", "camping", "cars", "children", "cooking", "debt", "divorce", "films", "football", "gardens"),
    *("health", "jobs", "law", "music", "nutrition", "painting", "pets", "pregnancy", "religion", "ski", "taxes"),
    *("travel", "weather"),
)


def operator() -> str:
    """Return the published operator: for visitors with one to three topics, whatever these are."""
    chosen = choose(MAX_SUPPORTS, dict.fromkeys((1, 2, 3), 2000.0), len(TOPICS), level=LEVEL).operator
    entry = {
        "attribute": "topics",
        "form": "transactions",
        "operator": written(chosen),
        "items": list(TOPICS),
        "sets": "packed",
    }
    return json.dumps({"version": 1, "operators": [entry]}, indent=1) + "\n"


def visits() -> list[list[str]]:
    """Return the topics of each visitor, which only that visitor has."""
    return [[TOPICS[int(i)] for i in row] for part in quest(VISITS, KEY) for row in part.texts() if row]


def document() -> bytes:
    """Return what they sent, a line each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "operator.json")
        file.write_text(operator())
        sent = pf.randomize(visits(), file, key=RunKey.from_seed("clicks").secret)
    return "".join(f"{json.dumps(each)}\n" for each in sent).encode()


if __name__ == "__main__":
    here = Path(__file__).parent
    (here / "clicks_operator.json").write_text(operator())
    (here / "clicks.jsonl.gz").write_bytes(gzip.compress(document(), 9, mtime=0))
