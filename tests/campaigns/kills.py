"""`kill -9` around publishing: what is published is known to the ledger, and `verify` takes nothing else for a release.

How the points are chosen. A first run is watched from the moment at which its manifest is written to its end. Each of
these is a point: just before and just after every system call that changes what is on disk (rename, link, unlink,
mkdir, rmdir, fsync) and every SQL statement to the ledger, its COMMIT among them, and every line of the modules that
publish and write the ledger. No time is involved, so every campaign hits the same places. Half of the points are those
nearest to a rename or to a COMMIT that follows one, a quarter are other calls, the rest are lines, each evenly spread.
Every point is a run of its own, in a forked process that kills itself there.

After each kill: everything called ``released`` is a run at its place that `verify` accepts, and the ledger knows each
of its releases, pending or released; every other folder of a run is "not published"; the chain is whole. Where an entry
is pending, ``--repair`` is killed as well, at another of its own points each time; then it is carried out, and nothing
may be pending any more, what is published is released, and what is not is gone. After every tenth point the policy runs
again, and has to be released. Ends with 1 where anything of that is not so.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kill_points import KillPoints, Tally
from postgres import NoServerError, Postgres

import ppdm_flow.engine.local.sql
from ppdm_flow import api
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates import directory, unpublished
from ppdm_flow.engine.ledger import file, key, ledger, repair, server, tables
from ppdm_flow.engine.ledger import server as ledger_link
from ppdm_flow.engine.ledger.fields import PENDING, RELEASED
from ppdm_flow.engine.run import finishing
from ppdm_flow.engine.run import finishing as run_publishing
from ppdm_flow.engine.run.finishing import FinishedRun

LEDGER = (key, file, ledger, repair, server, ledger, tables, ledger, ledger_link)
WATCHED = (run_publishing, finishing, directory, unpublished, manifest, *LEDGER)
"""Modules that publish and write the ledger: each of their lines is a point."""
MODULES = frozenset(str(module.__file__) for module in WATCHED)
CALLS = ("rename", "link", "unlink", "mkdir", "rmdir", "fsync")
POLICY = """
version: 1
name: ward
source: {path: people.csv}
LEDGER
attributes: {patient: {role: identifier}, zip: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases:
  one: {path: one.csv}
  two: {path: two.parquet}
"""


class Points(KillPoints):
    """Counts points from :meth:`begin` on, and dies at one of them."""

    def __init__(self, target: int = 0) -> None:
        super().__init__(target, counts=False)

    def begin(self) -> None:
        self.counts = True
        sys.settrace(self._trace)

    def install(self) -> None:
        """Watch this process; it is one of its own."""
        self.watch_calls(CALLS)
        points = self

        class Watched(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> Any:
                return points.around(f"SQL {sql.split()[0]}", super().execute)(sql, *values)

        real, ask = sqlite3.connect, ledger_link.ServerConnection.ask
        sqlite3.connect = lambda *a, **w: real(*a, factory=Watched, **w)
        ledger_link.ServerConnection.ask = lambda link, sql, **w: points.around(f"SQL {sql.split()[0]}", ask)(
            link, sql, **w
        )

    def _trace(self, frame: Any, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename not in MODULES:
            return None
        if event == "line":
            self.at(f"line {Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
        return self._trace


@dataclass
class Home:
    """A fresh folder for one point: policy, data, ledger."""

    folder: Path
    place: str | None

    @property
    def key(self) -> Path:
        return self.folder / "releases.key"

    def run(self) -> bool:
        return api.run(self.folder / "policy.yaml", out=self.folder / "runs", workers=1).released

    def look(self, *, repair: bool = False) -> Any:
        return api.ledger(self.place or "", self.key, repair=repair)

    def runs(self) -> list[Path]:
        return [p for p in (self.folder / "runs").glob("*/*") if p.is_dir()]


def in_child(work: Callable[[], None]) -> int:
    """Do something in a process of its own, and return how it ended; negative for a signal."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:  # noqa: BLE001  # said, and told by the status
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def publishing(home: Home, points: Points) -> Callable[[], None]:
    """Return a run that is watched from its manifest on."""

    def work() -> None:
        points.install()
        real = FinishedRun._write_manifest

        def begin(self: FinishedRun, *arguments: Any) -> Any:
            points.begin()
            return real(self, *arguments)

        FinishedRun._write_manifest = begin
        home.run()

    return work


def repairing(home: Home, points: Points) -> Callable[[], None]:
    """Return a repair that is watched."""

    def work() -> None:
        points.install()
        points.begin()
        home.look(repair=True)

    return work


def warm(home: Home) -> None:
    """Import here, without running anything, what a run imports, so that the children of this process need not."""
    warm_modules(home.folder / "modules", home.run)
    (run,) = home.runs()
    api.report(run, "html")


def warm_modules(told: Path, work: Callable[[], Any]) -> None:
    """Import what some work imports, which a child of this process carries out."""

    def whole() -> None:
        work()
        told.write_text("\n".join(name for name, module in sys.modules.items() if module is not None))

    if in_child(whole):
        raise SystemExit("what is to be killed does not even end by itself")
    for name in told.read_text().splitlines():
        with contextlib.suppress(Exception):
            import_module(name)


def watched(work: Callable[[Points], Callable[[], None]], folder: Path) -> list[str]:
    """Return all points of something that is not killed."""
    points, told = Points(), folder / "points"

    def whole() -> None:
        work(points)()
        points._on = False
        told.write_text("\n".join(points.seen))

    if in_child(whole):
        raise SystemExit("what is to be killed does not even end by itself")
    return told.read_text().splitlines()


def chosen(seen: Sequence[str], count: int) -> list[int]:
    """Return the numbers of ``count`` points, from 1, or all if there are no more."""
    calls = [i for i, name in enumerate(seen) if not name.startswith("line")]
    first = next((i for i in calls if "rename" in seen[i]), 0)
    marks = [i for i in calls if "rename" in seen[i] or ("COMMIT" in seen[i] and i > first)]
    near = sorted({j for i in marks for j in range(i - 2, i + 3) if 0 <= j < len(seen)})
    found: dict[int, None] = {}
    for some, share in ((near, count // 2), (calls, count // 4), (range(len(seen)), count)):
        left = [i for i in some if i not in found]
        wanted = min(share, count - len(found), len(left))
        found |= {left[k * len(left) // wanted]: None for k in range(wanted)}
    return sorted(i + 1 for i in found)


def examined(home: Home) -> Iterator[str]:
    """Yield what is wrong with what a kill left."""
    known = {e.manifest: e.state for e in home.look().entries} if home.place else {}
    for run in home.runs():
        outcome, out = api.verify(run), (run / "released").exists()
        if out and not outcome.holds:
            yield f"{run.name} has a folder `released`, and verify says: {outcome.text}"
        elif out and home.place and sha256(run / "manifest.json") not in known:
            yield f"{run.name} is published, and the ledger does not know it"
        elif not out and (outcome.holds or "not published" not in outcome.text):
            yield f"{run.name} is not published, and verify says: {outcome.text}"
    if [p for p in (home.folder / "runs").rglob("released") if p.parent not in home.runs()]:
        yield "something else is called `released`"


def settled(home: Home) -> Iterator[str]:
    """Yield what is wrong after a repair."""
    published = {sha256(run / "manifest.json") for run in home.runs() if (run / "released").is_dir()}
    entries = home.look(repair=True).entries
    yield from (f"no. {e.number} is pending after a repair" for e in entries if e.state == PENDING)
    released = {e.manifest for e in entries if e.state == RELEASED}
    if released != published:
        yield f"{len(published)} runs are published, and {len(released)} are in the ledger"


class Campaign:
    """Homes on one kind of ledger, and the points in them."""

    def __init__(self, kind: str, server: Postgres | None, folder: Path) -> None:
        self._kind = kind
        self._server = server
        self._folder = folder
        self._number = 0

    def home(self) -> Home:
        """Make a fresh one."""
        self._number += 1
        folder = self._folder / f"home-{self._number}"
        folder.mkdir()
        place, words = None, ""
        if self._server is not None:
            place = self._server.url(self._server.database())
            words = f"ledger: {{url: '{place}', key: releases.key, subject: patient}}"
        elif self._kind == "file":
            place, words = str(folder / "releases.ledger"), "ledger: {path: releases.ledger, key: releases.key, "
            words += "subject: patient}"
        (folder / "policy.yaml").write_text(POLICY.replace("LEDGER", words))
        lines = "".join(f"p{i},{'low' if i < 10 else 'high'}\n" for i in range(20))
        (folder / "people.csv").write_text(f"patient,zip\n{lines}")
        home = Home(folder, place)
        if place is not None and in_child(lambda: api.create_ledger(place, home.key) and None):
            raise SystemExit("no ledger could be made")
        return home

    def carry_out(self, count: int, tally: Tally) -> None:
        """Kill a run at each of ``count`` points."""
        home = self.home()
        warm(home)
        home = self.home()
        seen = watched(lambda points: publishing(home, points), home.folder)
        repairs = self._repairs(home) if home.place else []
        numbers = chosen(seen, count)
        print(f"{len(seen)} points of a run, of a repair {len(repairs)}; chosen {len(numbers)}", file=sys.stderr)
        for done, number in enumerate(numbers, 1):
            home = self.home()
            name = seen[number - 1]
            try:
                faults = self._point(home, number, repairs, done, tally)
            except PpdmError as error:
                faults = [str(error)]
            tally.faults += [f"point {number} ({name}): {fault}" for fault in faults]
            shutil.rmtree(home.folder)
            if done % 25 == 0:
                print(f"{done} done, {len(tally.faults)} faults", file=sys.stderr)

    def _repairs(self, home: Home) -> list[str]:
        """Return the points of a repair of a run that died just before its release."""
        other = self.home()
        seen = watched(lambda points: publishing(other, points), other.folder)
        last = max(i for i, name in enumerate(seen) if name == "before rename") + 1
        other = self.home()
        in_child(publishing(other, Points(last)))
        return watched(lambda points: repairing(other, points), other.folder)

    def _point(self, home: Home, number: int, repairs: Sequence[str], done: int, tally: Tally) -> list[str]:
        status = in_child(publishing(home, Points(number)))
        tally.ends["killed" if status == -signal.SIGKILL else f"ended with {status}"] += 1
        faults = list(examined(home))
        out = any((run / "released").is_dir() for run in home.runs())
        if home.place:
            states = [e.state for e in home.look().entries]
            kind = "pending" if PENDING in states else "released" if states else "unknown"
            tally.ends[f"{'published' if out else 'not published'}, in the ledger {kind}"] += 1
            if PENDING in states:
                at = 1 + done * 37 % len(repairs)
                status = in_child(repairing(home, Points(at)))
                tally.ends["repair killed" if status == -signal.SIGKILL else "repair ended before its kill"] += 1
                faults += examined(home)
            faults += settled(home)
        else:
            tally.ends["published" if out else "not published"] += 1
        if done % 10 == 0:
            tally.ends["ran again"] += 1
            if in_child(lambda: home.run() or sys.exit(1)):
                faults.append("the next run is not released")
            faults += examined(home)
            hidden = [run.name for run in home.runs() if run.name.startswith(".")]
            faults += [f"{name} is still there after the next run" for name in hidden]
        return faults


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200, help="how many kills, for each ledger")
    parser.add_argument("--ledger", choices=("file", "server", "none", "both"), default="both")
    asked = parser.parse_args()
    faults = 0
    for kind in ("file", "server") if asked.ledger == "both" else (asked.ledger,):
        server = None
        if kind == "server":
            try:
                server = Postgres.start()
            except NoServerError as error:
                print(f"ledger {kind}: skipped, {error}")
                continue
        tally = Tally()
        try:
            with tempfile.TemporaryDirectory() as folder:
                Campaign(kind, server, Path(folder)).carry_out(asked.points, tally)
        finally:
            if server is not None:
                server.stop()
        print(f"ledger {kind}:\n{tally}", flush=True)
        faults += len(tally.faults)
    return int(faults > 0)


if __name__ == "__main__":
    assert ppdm_flow.engine.local.sql
    sys.exit(main())
