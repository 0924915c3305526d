"""`kill -9` around the release of a held run: exactly one release or none, and ledger and folder agree.

A release is watched from its start to its end. Each of these is a point: just before and just after every system call
that changes what is on disk (rename, link, unlink, mkdir, rmdir, fsync) and every SQL statement to the ledger, its
COMMIT among them, and every line of the modules that check signatures, judge, write the ledger and publish. No time is
involved, so every campaign hits the same places. Half of the points are those nearest to a rename or to a COMMIT, a
quarter are other calls, the rest are lines, each evenly spread. Every point is a release of its own, in a forked
process that kills itself there.

After each kill: the run is held as it was, or released as `verify` accepts it, and never both; what is released the
ledger knows, pending or released. Where an entry is pending, ``--repair`` is killed as well, at another of its own
points each time; then it is carried out, and nothing may be pending any more: the ledger has a release if the folder
has one. A second release then publishes what is held, and refuses what is out. In the end there is one release, of one
number, and nothing private is left. After every tenth point the policy runs again: no held run may be taken away by
that. Ends with 1 where anything of that is not so.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import kills
from held_runs import HeldHome
from kills import Points, Tally, chosen, in_child, warm_modules, watched
from postgres import NoServerError, Postgres

import ppdm_flow.engine.local.sql
from ppdm_flow import api
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.engine.approval import decision, release
from ppdm_flow.engine.candidates import unpublished
from ppdm_flow.engine.evidence import signatures, writing
from ppdm_flow.engine.held import private, publication
from ppdm_flow.engine.ledger.fields import PENDING, RELEASED

WATCHED = (
    decision,
    release,
    release,
    release,
    unpublished,
    signatures,
    signatures,
    writing,
    private,
    publication,
)


def releasing(home: HeldHome, points: Points) -> Callable[[], None]:
    """Return a release that is watched."""

    def work() -> None:
        points.install()
        points.begin()
        home.release(home.runs()[0])

    return work


def repairing(home: HeldHome, points: Points) -> Callable[[], None]:
    """Return a repair that is watched."""

    def work() -> None:
        points.install()
        points.begin()
        home.look(repair=True)

    return work


def examined(home: HeldHome) -> Iterator[str]:
    """Yield what is wrong with what a kill left."""
    known = {e.run: e.state for e in home.look().entries} if home.ledger else {}
    for run in home.runs():
        out, held = (run / "released").exists(), (run / "held").exists()
        outcome = api.verify(run)
        if out == held:
            yield f"{run.name} has both folders, or none of them"
        elif not outcome.holds or outcome.verdict != ("released" if out else "held"):
            yield f"{run.name} is {'released' if out else 'held'}, and verify says: {outcome.text}"
        elif out and home.ledger and run.name not in known:
            yield f"{run.name} is released, and the ledger does not know it"
        elif held and known.get(run.name) == RELEASED:
            yield f"{run.name} is held, and released in the ledger"


def agreed(home: HeldHome) -> Iterator[str]:
    """Yield what is wrong after a repair."""
    entries = home.look(repair=True).entries
    yield from (f"no. {e.number} is pending after a repair" for e in entries if e.state == PENDING)
    published = {run.name for run in home.runs() if (run / "released").is_dir()}
    if {e.run for e in entries if e.state == RELEASED} != published:
        yield f"{len(published)} runs are released, and {len(entries)} are in the ledger"


def finished(home: HeldHome, run: Path) -> Iterator[str]:
    """Release it once more, and yield what is wrong in the end."""
    out = (run / "released").is_dir()

    def again() -> None:
        try:
            published = home.release(run).outcome.published
        except UsageError as error:
            if not out or error.diagnostics[0].code != "PPF970":
                raise
        else:
            if out or not published:
                raise SystemExit("it was released twice, or not at all")

    if in_child(again):
        yield "the second release did not end as it should"
    yield from examined(home)
    if not (run / "released").is_dir():
        yield "it is not released in the end"
    if (run / private.NAME).exists():
        yield "what the run kept for its release is still there"
    if home.ledger:
        yield from agreed(home)
        mine = [e for e in home.look().entries if e.run == run.name]
        if [e.state for e in mine] != [RELEASED]:
            yield f"the ledger has {len(mine)} entries of it in the end"


class Campaign:
    """Homes on one kind of ledger, and the points in them."""

    def __init__(self, kind: str, database: Postgres | None, folder: Path) -> None:
        self._kind = kind
        self._database = database
        self._folder = folder
        self._number = 0
        self._made: HeldHome | None = None

    def home(self) -> HeldHome:
        """Make a fresh one, with a run that is held and approved."""
        self._number += 1
        folder = self._folder / f"home-{self._number}"
        place = None if self._database is None else self._database.url(self._database.database())
        keys = folder / "made"

        def make() -> None:
            home = HeldHome.make(folder, ledger=self._kind != "none", place=place)
            home.approve(home.run().run_dir)
            keys.write_text(home.ledger)

        if in_child(make):
            raise SystemExit("no held run could be made")
        return HeldHome(folder, keys.read_text())

    def carry_out(self, count: int, tally: Tally) -> None:
        """Kill a release at each of ``count`` points."""
        kills.MODULES = frozenset(str(module.__file__) for module in (*WATCHED, *kills.LEDGER))
        home = self.home()
        warm_modules(home.folder / "modules", lambda: home.release(home.runs()[0]))
        home = self.home()
        seen = watched(lambda points: releasing(home, points), home.folder)
        repairs = self._repairs() if home.ledger else []
        numbers = chosen(seen, count)
        print(f"{len(seen)} points of a release, of a repair {len(repairs)}; chosen {len(numbers)}", file=sys.stderr)
        for done, number in enumerate(numbers, 1):
            home = self.home()
            try:
                faults = self._point(home, number, repairs, done, tally)
            except PpdmError as error:
                faults = [str(error)]
            tally.faults += [f"point {number} ({seen[number - 1]}): {fault}" for fault in faults]
            shutil.rmtree(home.folder)
            if done % 25 == 0:
                print(f"{done} done, {len(tally.faults)} faults", file=sys.stderr)

    def _repairs(self) -> list[str]:
        """Return the points of a repair after a release that died just before its rename."""
        other = self.home()
        seen = watched(lambda points: releasing(other, points), other.folder)
        last = max(i for i, name in enumerate(seen) if name == "before rename") + 1
        other = self.home()
        in_child(releasing(other, Points(last)))
        return watched(lambda points: repairing(other, points), other.folder)

    def _point(self, home: HeldHome, number: int, repairs: Sequence[str], done: int, tally: Tally) -> list[str]:
        [run] = home.runs()
        status = in_child(releasing(home, Points(number)))
        tally.ends["killed" if status == -signal.SIGKILL else f"ended with {status}"] += 1
        faults = list(examined(home))
        out = "released" if (run / "released").is_dir() else "held"
        if home.ledger:
            states = [e.state for e in home.look().entries]
            kind = "pending" if PENDING in states else "released" if states else "unknown"
            tally.ends[f"{out}, in the ledger {kind}"] += 1
            if PENDING in states:
                at = 1 + done * 37 % len(repairs)
                status = in_child(repairing(home, Points(at)))
                tally.ends["repair killed" if status == -signal.SIGKILL else "repair ended before its kill"] += 1
                faults += examined(home)
            if done % 2:  # half of the time nobody repairs before the second release
                faults += agreed(home)
        else:
            tally.ends[out] += 1
        if done % 10 == 0:
            tally.ends["ran again"] += 1
            if in_child(lambda: home.run(None).held or sys.exit(1)):
                faults.append("the next run is not held")
            faults += examined(home)
        return [*faults, *finished(home, run)]


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200, help="how many kills, for each ledger")
    parser.add_argument("--ledger", choices=("file", "server", "none", "all"), default="all")
    asked = parser.parse_args()
    faults = 0
    for kind in ("file", "server", "none") if asked.ledger == "all" else (asked.ledger,):
        database = None
        if kind == "server":
            try:
                database = Postgres.start()
            except NoServerError as error:
                print(f"ledger {kind}: skipped, {error}")
                continue
        tally = Tally()
        try:
            with tempfile.TemporaryDirectory() as folder:
                Campaign(kind, database, Path(folder)).carry_out(asked.points, tally)
        finally:
            if database is not None:
                database.stop()
        print(f"ledger {kind}:\n{tally}", flush=True)
        faults += len(tally.faults)
    return int(faults > 0)


if __name__ == "__main__":
    assert ppdm_flow.engine.local.sql
    sys.exit(main())
