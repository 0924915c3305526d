"""Changes of a single byte to a signed run: each is found, in the manifest, the report, the data and the envelopes.

    python tests/campaigns/evidence.py [--count 100000] [--seed 1]

A byte is replaced, put in before, or taken out, at a place that is drawn evenly over the files of a kind. An envelope
is changed by itself, together with the copy in its release, and below its base64, spelled again as it has to be. The
run is verified as `ppdm-flow verify RUN --signers FILE` does it. Ends with 1 where a change is not found.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from signed_runs import key, signer, signers, small_run

from ppdm_flow.core.digests import canonical
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.evidence.signing import sign_run
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import verify
from ppdm_flow.evidence.signers import Signers

FOUND = "found"
MISSED = "NOT FOUND"
_MEMORY = Path("/dev/shm")  # where there is one, no disk waits for a hundred thousand small files
_WAYS = ("replaced", "put in", "taken out")
_SHARES = {
    "manifest": 0.2,
    "report": 0.15,
    "data": 0.15,
    "envelope": 0.15,
    "envelope and copy": 0.15,
    "payload": 0.1,
    "signature": 0.05,
    "key id": 0.05,
}
"""What is changed, and how often: of the envelope also what stands in its base64."""


@dataclass(frozen=True)
class Campaign:
    """A signed run that is changed and put back, again and again."""

    run: Path
    people: Signers

    @classmethod
    def made(cls, folder: Path) -> Campaign:
        run = small_run(folder)
        sign_run(run, key("alice"), "data-owner", utc_now())
        sign_run(run, key("bob"), "privacy-officer", utc_now())
        campaign = cls(run, signers(signer("alice", "data-owner"), signer("bob", "privacy-officer")))
        assert campaign.holds(), "the run has to verify before it is changed"
        return campaign

    def holds(self) -> bool:
        """Whether the run verifies. A run whose documents cannot be read is no run."""
        try:
            return verify(self.run, None, _no_plan, signers=self.people).holds
        except PpdmError:
            return False

    def outcomes(self, count: int, seed: int) -> Iterator[tuple[str, str, str]]:
        """Yield what was changed, in which way, and whether that was found."""
        draw = random.Random(seed)
        kinds = list(_SHARES)
        for _ in range(count):
            kind, way = draw.choices(kinds, weights=list(_SHARES.values()))[0], draw.choice(_WAYS)
            files = self._files(kind, draw)
            before = {path: path.read_bytes() for path in files}
            changed = _changed(kind, next(iter(before.values())), way, draw)
            for path in files:
                path.write_bytes(changed)
            try:
                found = not self.holds()
            finally:
                for path, data in before.items():
                    path.write_bytes(data)
            yield kind, way, FOUND if found else f"{MISSED}: {files[0].relative_to(self.run)}"

    def _files(self, kind: str, draw: random.Random) -> list[Path]:
        """Return the files that are changed alike; the first is drawn by its size."""
        if kind == "manifest":
            return [self.run / "manifest.json"]
        if kind == "report":
            return [self.run / "report.json"]
        if kind == "data":
            every = sorted(p for p in self.run.glob("released/*/*") if p.is_file())
            return draw.choices(every, weights=[p.stat().st_size for p in every])
        if kind == "envelope":
            return [draw.choice(sorted(self.run.rglob("attestations/*.json")))]
        path = draw.choice(sorted((self.run / "attestations").iterdir()))
        name, _, release = path.stem.rpartition("-")
        return [path, self.run / "released" / release / "attestations" / f"{name}.json"]


def _changed(kind: str, data: bytes, way: str, draw: random.Random) -> bytes:
    if kind not in ("payload", "signature", "key id"):
        return _byte(data, way, draw)
    document = json.loads(data)
    signature = document["signatures"][0]
    if kind == "payload":
        document["payload"] = _inside(document["payload"], way, draw)
    elif kind == "signature":
        signature["sig"] = _inside(signature["sig"], way, draw)
    else:
        signature["keyid"] = _byte(signature["keyid"].encode(), way, draw).decode("latin-1")
    return canonical(document)


def _inside(text: str, way: str, draw: random.Random) -> str:
    return base64.b64encode(_byte(base64.b64decode(text), way, draw)).decode()


def _byte(data: bytes, way: str, draw: random.Random) -> bytes:
    place = draw.randrange(len(data))
    if way == "replaced":
        return data[:place] + bytes([data[place] ^ draw.randrange(1, 256)]) + data[place + 1 :]
    if way == "put in":
        return data[:place] + bytes([draw.randrange(256)]) + data[place:]
    return data[:place] + data[place + 1 :]


def _no_plan(_policy: Path, _data: Path | None) -> object:
    raise AssertionError("hashes need no plan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="so many changes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally, missed, begun = Counter[tuple[str, str]](), 0, time.monotonic()
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        for number, (kind, way, end) in enumerate(Campaign.made(Path(name)).outcomes(options.count, options.seed), 1):
            tally[kind, way] += 1
            if end != FOUND:
                missed += 1
                print(f"{kind}, a byte {way}: {end}", flush=True)
            if number % 10_000 == 0:
                print(f"{number:,} changes in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    for kind in _SHARES:
        ways = ", ".join(f"{tally[kind, way]:,} {way}" for way in _WAYS)
        print(f"{kind}: {sum(tally[kind, way] for way in _WAYS):,} ({ways})")
    seconds = time.monotonic() - begun
    print(f"{options.count:,} changes of a byte, {options.count - missed:,} found, {missed:,} not, in {seconds:.0f} s")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
