"""The anonymity family in time and memory.

    python tests/benchmarks/anonymity.py [--data DIR] [--only adult] [--json FILE]

``check``: privacy models checked on about 1 million rows. ``adult``: optimal full-domain recoding of ARX's Adult, the
search alone and the whole run. ``million``: the same table 33 times over, with noise. ``local``:
local recoding, suppression and microaggregation. ``ledger``: a second release that is judged against the first.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from checking import check
from classes_apart import local
from ledgers import ledger
from measuring import ROOT, Sheet
from searches import adult, million

PARTS = {"check": check, "adult": adult, "million": million, "local": local, "ledger": ledger}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=PARTS)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    for name in [chosen.only] if chosen.only else PARTS:
        for row in PARTS[name](chosen.data):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
