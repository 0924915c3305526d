"""What a fresh machine pays: each bundled policy with an empty folder of compiled kernels, and again with a full one.

    python tests/benchmarks/cold.py [--data ../shared/data] [--only hospital] [--json FILE]

Seconds are those of the processor in user mode, of all cores; ``ratio`` is the cold run over the warm one, which is the
best of three. The last line is `ppdm-flow test` of the repository that `ppdm-flow init` writes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from measuring import ROOT, Row, Sheet, Spent, flow, timed

BESIDE = {
    "adult": "adult_uci/adult.data.gz",
    "arx_adult": "arx_adult/adult.csv.gz",
    "crx": "crx/crx.data",
}
"""Data that a policy does not name."""
MOST = 1.5
MOST_GENERATED = 3.0


def jobs(data: Path, folder: Path, only: str | None) -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Yield the name of each job whose data is at hand, where it runs, and its words."""
    place = folder / "pipelines"
    shutil.copytree(ROOT / "pipelines", place)  # some keep a ledger beside them
    for policy in sorted(place.glob("*.yaml")):
        if only not in (None, policy.stem):
            continue
        beside = data / BESIDE[policy.stem] if policy.stem in BESIDE else None
        if beside is not None and not beside.exists():
            print(f"{policy.stem}: left out, {beside} is missing", file=sys.stderr)
            continue
        given = () if beside is None else ("--data", beside)
        yield policy.stem, place, flow("run", policy, *given, "--out", folder / "runs", "--quiet")
    if only in (None, "scaffold"):
        timed(*flow("init", folder / "scaffold"), cwd=folder)
        yield "scaffold", folder / "scaffold", flow("test")


def measured(words: tuple[str, ...], folder: Path, kernels: Path) -> tuple[Spent, Spent]:
    """Return what the first run took, and the best of three that find what it compiled.

    Where our own environment keeps no bytecode, a run before makes it: it is no kernel, and a package has it.
    """
    spent = partial(timed, *words, cwd=folder, compiled=kernels.with_name("bytecode"))
    os.environ["CLINIC_KEY"] = hashlib.sha256(b"cold").hexdigest()
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        os.environ["NUMBA_CACHE_DIR"] = str(kernels.with_name(f"{kernels.name}-before"))
        spent()
    os.environ["NUMBA_CACHE_DIR"] = str(kernels)
    cold = spent()
    warm = [spent() for _ in range(3)]
    return cold, min(warm, key=lambda spent: spent.user)


def main() -> None:
    """Measure and print; end with 1 where a ratio is too high."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only")
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet, high = Sheet(), []
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, place, command in jobs(chosen.data.resolve(), folder, chosen.only):
            cold, warm = measured(command, place, folder / f"kernels-{what}")
            ratio = cold.user / warm.user
            sheet.add(Row(f"{what}.warm", 0, warm.seconds, warm.peak_mb, cpu=warm.user))
            sheet.add(replace(Row(f"{what}.cold", 0, cold.seconds, cold.peak_mb, "warm", ratio), cpu=cold.user))
            if ratio > (MOST_GENERATED if "generated" in what else MOST):
                high.append(what)
    sheet.write(chosen.json)
    print(f"too high: {', '.join(high) or 'none'}")
    sys.exit(bool(high))


if __name__ == "__main__":
    main()
