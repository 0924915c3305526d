"""Damaged files of SPSS, Stata and SAS: each is a table or a diagnostic, and none ends the process that reads it.

    python tests/campaigns/damaged_files.py [--count 300] [--seed 1]

Bytes of a small file of each kind are changed at random, mostly near its beginning, where it says what it holds. Each
is read by a process of its own. Ends with 1 where one of them dies, or raises anything but a diagnostic.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk import registry

KINDS = {".sav": "spss", ".zsav": "spss", ".por": "spss", ".dta": "stata", ".xpt": "sas"}
_HEAD = 6_000
_SECONDS = 60
_TABLE, _DIAGNOSTIC, _RAISED = 0, 1, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="so many files of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        write(home)
        for ending, kind in KINDS.items():
            whole, ends = (home / f"whole{ending}").read_bytes(), Counter[str]()
            for _ in range(options.count):
                damaged = home / f"damaged{ending}"
                damaged.write_bytes(changed(whole, draw))
                end = outcome(kind, damaged)
                ends[end] += 1
                if end not in ("a table", "a diagnostic"):
                    wrong += 1
                    kept = Path(tempfile.gettempdir()) / f"damaged-{wrong}{ending}"
                    kept.write_bytes(damaged.read_bytes())
                    print(f"{end}: {kept}")
            print(f"{ending}: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}", flush=True)
    sys.exit(1 if wrong else 0)


def write(home: Path) -> None:
    """Write a small file of each kind."""
    rows = 200
    table = pd.DataFrame(
        {
            "a": np.arange(float(rows)) % 7,
            "s": [f"name {i % 9}" for i in range(rows)],
            "d": pd.date_range("2020-01-01", periods=rows),
            "wide": ["x" * 300 + str(i) for i in range(rows)],
        }
    )
    labels = {"a": {i: f"label {i}" for i in range(7)}}
    titles = ["a number", "a name", "a day", "a text"]
    pyreadstat.write_sav(table, home / "whole.sav", variable_value_labels=labels, column_labels=titles)
    pyreadstat.write_sav(table, home / "whole.zsav", variable_value_labels=labels, compress=True)
    pyreadstat.write_dta(table, home / "whole.dta", variable_value_labels=labels, column_labels=titles)
    pyreadstat.write_por(table[["a", "s"]], home / "whole.por")
    pyreadstat.write_xport(table[["a", "s"]], home / "whole.xpt")


def changed(whole: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 1, 2, 5])):
        end = min(len(damaged), _HEAD) if draw.random() < 0.7 else len(damaged)
        damaged[draw.randrange(end)] = draw.choice([0, 255, 128, draw.randrange(256)])
    return bytes(damaged)


def outcome(kind: str, file: Path) -> str:
    """Say how a process ends that reads the file as a run does."""
    child = os.fork()
    if not child:
        signal.alarm(_SECONDS)
        os._exit(read(kind, file))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    return {_TABLE: "a table", _DIAGNOSTIC: "a diagnostic"}.get(os.WEXITSTATUS(status), "raised something else")


def read(kind: str, file: Path) -> int:
    try:
        spec = registry.load("sources", kind)
        source = spec.load()(spec.params(), file)
        names = source.names()
        sum(batch.num_rows for batch in source.batches(names))
    except PpdmError:
        return _DIAGNOSTIC
    except BaseException:  # noqa: BLE001  # any other exception is no diagnostic
        traceback.print_exc()
        return _RAISED
    return _TABLE


if __name__ == "__main__":
    main()
