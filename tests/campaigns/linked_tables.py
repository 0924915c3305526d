"""Random policies of linked tables on random data, each held against a plain join of the files that left.

    python tests/campaigns/linked_tables.py --start 1000 --count 1000

prints how many figures were compared, and ends with 1 where one differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ppdm_flow import api

HOME = Path(__file__).parents[1] / "engine" / "linked"
KEY = "0123456789abcdef0011223344556677"


def module(name):
    spec = spec_from_file_location(name, HOME / f"{name}.py")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--start", type=int, default=1000)
    options.add_argument("--count", type=int, default=1000)
    given = options.parse_args()
    os.environ["CLINIC_KEY"] = KEY
    test, plain = module("test_against_files"), module("plain_join")
    figures, wrong = 0, []
    for seed in range(given.start, given.start + given.count):
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            try:
                figures += test.compared(
                    lambda policy, folder=folder, **tables: plain.write(folder, policy, tables),
                    lambda policy, folder=folder: api.run(policy, out=folder / "runs", keep_withheld=True),
                    seed,
                )
            except AssertionError as fault:
                wrong.append(seed)
                print(f"seed {seed}: {str(fault).splitlines()[0]}", flush=True)
        done = seed - given.start + 1
        if done % 100 == 0:
            print(f"{done} policies, {figures} figures compared, {len(wrong)} wrong", flush=True)
    print(f"{given.count} policies, {figures} figures compared, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
