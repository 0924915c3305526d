"""Random policies of linked tables: each is run, or refused as a policy, and no stage breaks.

    python tests/campaigns/linked_policies.py --start 1000 --count 1000

prints how the runs ended, and ends with 1 where a stage broke.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from linked_tables import KEY, module

from ppdm_flow import api


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--start", type=int, default=1000)
    options.add_argument("--count", type=int, default=1000)
    given = options.parse_args()
    os.environ["CLINIC_KEY"] = KEY
    test, plain = module("test_random_policies"), module("plain_join")
    ends, broken = Counter(), []
    for seed in range(given.start, given.start + given.count):
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            try:
                status = test.ended(
                    lambda policy, folder=folder, **tables: plain.write(folder, policy, tables),
                    lambda policy, folder=folder: api.run(policy, out=folder / "runs", keep_withheld=True),
                    seed,
                )
                ends[status] += 1
            except Exception as fault:  # noqa: BLE001  # each kind of it is what the campaign looks for
                broken.append(seed)
                print(f"seed {seed}: {type(fault).__name__}: {str(fault)[:200]}", flush=True)
    print(f"{given.count} policies; exit statuses {dict(sorted(ends.items()))}; {len(broken)} broken")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
