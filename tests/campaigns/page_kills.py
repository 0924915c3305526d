"""`kill -9` of the page's server: accounts, journal, policies, uploads, jobs and runs are whole when it starts again.

How the points are chosen. A first server is watched from its start to its end, while somebody opens the first account,
invites a steward, who uploads tables, changes a policy, runs it and removes a table, and is given another role. Each of
these is a point: just before and just after every system call that changes what is on disk (rename, replace, link,
unlink, mkdir, rmdir, fsync, write) and every SQL statement that changes the server's file, its COMMIT among them. Half
of the points are those nearest to a rename, a link or a COMMIT, the others are spread over all. Every point is a server
of its own, in a forked process that kills itself there.

After each kill another server opens the same state. The journal's chain is whole, and has every action that was
answered, and every action that was done: where nobody was answered, as interrupted. Every account that was answered is
there, with its roles and its password, or else the first link is made again. Every upload that was answered is there,
byte for byte, and nothing else lies in their folder. The policy is the old text or the new one, and the new one where
that was answered. Every job is over in the end, none is taken for done that is not; `verify` accepts everything called
``released``. The new server does the same work again to its end. Ends with 1 where anything of that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "page"))

import httpx2
from kill_points import KillPoints, Tally
from sites import CHEAP, PASSWORD

from ppdm_flow import api
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.job import JobState
from ppdm_flow.page.serving.server import serve, state_held, upkeep
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site

CALLS = ("rename", "replace", "link", "unlink", "mkdir", "rmdir", "fsync", "write")
CHANGES = frozenset({"BEGIN", "COMMIT", "INSERT", "UPDATE", "DELETE", "CREATE"})
DECISIVE = ("rename", "replace", "link", "COMMIT")
TABLE = b"age,ill\n" + b"".join(b"%d,flu\n" % (30 + number % 2 * 10) for number in range(40))
POLICY = """version: 1
name: clinic
description: DESCRIPTION
source: {path: clinic.csv}
attributes: {age: {role: quasi_identifier}, ill: {role: insensitive}}
privacy: {k_anonymity: {k: 5}}
releases: {study: {path: study.csv}}
"""
OLD, NEW = POLICY.replace("DESCRIPTION", "old"), POLICY.replace("DESCRIPTION", "new")
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]+)"')
_LINK = re.compile(r'value="https?://[^/"]+(/open/[^"]+)"')
_ENTRY = re.compile(r'action="/uploads/([0-9a-f]{32})/remove"')
_DIGEST = re.compile(r'name="digest" value="([^"]+)"')
_SECONDS = 120.0
_NUMBERS = count()
"""Names of stewards are never used twice."""


class Points(KillPoints):
    """Counts points, in all threads, and dies at one of them."""

    def install(self) -> None:
        """Watch this process; it is one of its own."""
        self.watch_calls(CALLS)
        points, real = self, sqlite3.connect

        class Watched(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> Any:
                word = sql.split()[0]
                work = super().execute
                return points.around(f"SQL {word}", work)(sql, *values) if word in CHANGES else work(sql, *values)

        sqlite3.connect = lambda *a, **w: real(*a, factory=Watched, **w)


@dataclass
class Home:
    """The folders of one server."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir()
        for name in ("policies", "runs"):
            (self.folder / name).mkdir()
        (self.folder / "policies" / "clinic.yaml").write_text(OLD)

    @property
    def settings(self) -> Settings:
        at = self.folder
        return Settings(at / "policies", at / "runs", at / "state", port=0, stop_seconds=1, **CHEAP)


class Person:
    """Somebody at the page. ``answered`` has every action that the server said is done."""

    def __init__(self, address: str, answered: list[str]) -> None:
        self.client = httpx2.Client(base_url=address, timeout=_SECONDS)
        self.answered = answered

    def send(self, path: str, action: str, files: Any = None, **fields: Any) -> httpx2.Response:
        fields["form_token"] = _TOKEN.search(self.client.get("/sign-in").text)[1]
        got = self.client.post(path, data=fields, files=files)
        if got.status_code >= 400:
            raise AssertionError(f"{action} was answered with {got.status_code}")
        self.answered.append(action)
        return got

    def open(self, link: str, **fields: str) -> None:
        self.send(link, "accounts.open", password=PASSWORD, password_again=PASSWORD, **fields)

    def sign_in(self, name: str) -> None:
        self.send("/sign-in", "accounts.sign_in", name=name, password=PASSWORD)

    def upload(self) -> None:
        self.send("/uploads", "uploads.add", files={"file": ("clinic.csv", TABLE)})

    def uploads(self) -> list[str]:
        return _ENTRY.findall(self.client.get("/uploads").text)


def work(address: str, link: str | None, answered: list[str]) -> None:
    """Do all that people do, in one order; what the server answered before it died is in ``answered``."""
    first = Person(address, answered)
    if link is not None:
        first.open(httpx2.URL(link).path, name="first")
    else:
        first.sign_in("first")
    name = f"steward{next(_NUMBERS)}"
    page = first.send("/accounts", "accounts.invite", name=name, role=[PageRole.STEWARD.value]).text
    steward = Person(address, answered)
    steward.open(_LINK.search(page)[1])
    answered.append(f"account {name}")
    steward.upload()
    steward.upload()
    digest = _DIGEST.search(steward.client.get("/policies/clinic.yaml/edit").text)[1]
    steward.send("/policies/clinic.yaml/edit", "policies.save", text=NEW, digest=digest)
    upload = steward.uploads()[0]
    job = steward.send("/policies/clinic.yaml/run", "runs.start", upload=upload).headers["location"]
    for _ in range(600):
        if "hx-trigger" not in steward.client.get(job).text:
            break
        threading.Event().wait(0.2)
    steward.send(f"/uploads/{steward.uploads()[-1]}/remove", "uploads.remove")
    account = next(
        each
        for each in re.findall(r'href="(/accounts/\d+)">([^<]+)', first.client.get("/accounts").text)
        if each[1] == name
    )[0]
    both = [PageRole.STEWARD.value, PageRole.APPROVER.value]
    first.send(f"{account}/roles", "accounts.set_roles", role=both)
    answered.append(f"approver {name}")


@dataclass
class Child:
    """A server in a forked process: where it is, once it is there."""

    pid: int
    address: str
    link: str | None

    def end(self) -> int:
        os.kill(self.pid, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def started(home: Home, target: int, names: Path) -> Child:
    """Start a server that dies at a point; its address is empty where it did not come so far."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            out, points = os.fdopen(write, "w"), Points(target)
            points.install()

            def ready(address: str, link: str | None) -> None:
                out.write(json.dumps([address, link]) + "\n")
                out.close()

            serve(home.settings, ready)
            names.write_text(json.dumps(points.seen))
            status = 0
        except BaseException as error:  # noqa: BLE001  # said, and told by the status
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as said:
        line = said.readline()
    address, link = json.loads(line) if line else ("", None)
    return Child(pid, address, link)


def worked(child: Child, answered: list[str]) -> None:
    """Let people work with a server until it dies."""
    if child.address:
        try:
            work(child.address, child.link, answered)
        except httpx2.TransportError:
            answered.append("killed")


def faults(home: Home, answered: Sequence[str]) -> Iterator[str]:
    """Yield what is not whole after a kill."""
    settings = home.settings
    with state_held(settings):
        site = opened_site(settings)
        with upkeep(site):
            site.journal.recover()
            yield from _journal(site, answered)
            yield from _accounts(site, answered)
            yield from _uploads(site, answered)
            text = (settings.policies / "clinic.yaml").read_text()
            if text != NEW and (text != OLD or "policies.save" in answered):
                yield "the policy is not whole"
            yield from _jobs(site, answered)
        for folder in settings.runs.glob("*/*"):
            if (folder / "released").exists() and not api.verify(folder).unchanged:
                yield "a released run is not whole"


def _journal(site: Site, answered: Sequence[str]) -> Iterator[str]:
    if not site.journal.is_whole():
        yield "the journal's chain is broken"
    entries = Counter(entry.action for entry in site.journal.newest(100_000) if entry.outcome == "done")
    for action, many in Counter(each for each in answered if "." in each).items():
        if entries[action] < many:
            yield f"{action} was answered {many} times, and is in the journal {entries[action]} times"
    known = Counter(entry.action for entry in site.journal.newest(100_000) if entry.outcome in ("done", "interrupted"))
    people = site.accounts.every()
    things = {
        "accounts.open": sum(site.accounts.signed_in(each.user.name, PASSWORD) is not None for each in people),
        "accounts.invite": sum(each.user.name != "first" for each in people),
        "uploads.add": sum(len(site.uploads.all_of(each.user)) for each in people),
        "policies.save": int((site.settings.policies / "clinic.yaml").read_text() == NEW),
        "runs.start": sum(len(site.jobs.of(each.user)) for each in people),
    }
    for action, many in things.items():
        if known[action] < many:
            yield f"{action} was done {many} times, and is in the journal {known[action]} times"


def _accounts(site: Site, answered: Sequence[str]) -> Iterator[str]:
    if site.accounts.signed_in("first", PASSWORD) is None:
        if "accounts.open" in answered:
            yield "the first account is gone"
        if site.people.links.first_administrator() is None:
            yield "nobody can become the first administrator"
    for each in answered:
        kind, _, name = each.partition(" ")
        if kind not in ("account", "approver"):
            continue
        match = site.accounts.signed_in(name, PASSWORD)
        if match is None:
            yield f"the account {name} is gone"
        elif kind == "approver" and PageRole.APPROVER not in match.user.roles:
            yield f"the account {name} lost a role"


def _uploads(site: Site, answered: Sequence[str]) -> Iterator[str]:
    kept = [upload for account in site.accounts.every() for upload in site.uploads.all_of(account.user)]
    if any(upload.path.read_bytes() != TABLE or upload.bytes != len(TABLE) for upload in kept):
        yield "an upload is not whole"
    if {upload.id for upload in kept} != {each.name for each in site.settings.uploads.iterdir()}:
        yield "something lies among the uploads that is none"
    least = answered.count("uploads.add") - answered.count("uploads.remove") - 1  # a removal may have been on its way
    if len(kept) < least:
        yield f"{len(kept)} uploads are left of {least}"


def _jobs(site: Site, answered: Sequence[str]) -> Iterator[str]:
    jobs = [job for account in site.accounts.every() for job in site.jobs.of(account.user)]
    if len(jobs) < answered.count("runs.start"):
        yield "a job is gone"
    for job in jobs:
        try:
            over = site.jobs.finished(job, _SECONDS)
        except TimeoutError:
            yield "a job does not end"
            continue
        if over.state is JobState.DONE and not (site.settings.runs / over.made / "report.json").exists():
            yield "a job is done, and there is no run of it"


def in_child(home: Home, answered: Sequence[str]) -> list[str]:
    """Look for faults in a process of its own: a server has threads, and this process forks."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        found = ["looking for faults failed"]
        try:
            os.close(read)
            found = list(faults(home, answered))
        except BaseException as error:  # noqa: BLE001  # a fault as well
            found = [f"looking for faults failed with {type(error).__name__}: {error}"]
        finally:
            with os.fdopen(write, "w") as out:
                json.dump(found, out)
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        found = json.load(said)
    os.waitpid(pid, 0)
    return list(found)


def chosen(names: Sequence[str], many: int) -> list[int]:
    """Return the numbers of points, from 1: half of them decisive ones, each evenly spread."""
    decisive = [number for number, name in enumerate(names, 1) if name.endswith(DECISIVE)]
    others = [number for number, name in enumerate(names, 1) if not name.endswith(DECISIVE)]
    half = min(len(decisive), many // 2)
    return sorted({*_spread(decisive, half), *_spread(others, many - half)})


def _spread(numbers: Sequence[int], many: int) -> list[int]:
    return [numbers[(2 * at + 1) * len(numbers) // (2 * many)] for at in range(many)] if many else []


def campaign(folder: Path, many: int) -> Tally:
    """Watch one server to its end, kill one at each point, and look after each."""
    tally, names = Tally(), folder / "points.json"
    home, answered = Home(folder / "whole"), []
    child = started(home, 0, names)
    worked(child, answered)
    if child.end():
        tally.faults.append("the server that nobody killed did not end well")
        return tally
    tally.faults += in_child(home, answered)
    if "approver" not in answered[-1] or not list(home.folder.glob("runs/*/*/released/study/study.csv")):
        tally.faults.append("the work did not come to its end")
    seen = json.loads(names.read_text())
    tally.ends["points seen"] = len(seen)
    for target in chosen(seen, many):
        home, answered = Home(folder / str(target)), []
        child = started(home, target, names)
        worked(child, answered)
        status = child.end()
        if status != -signal.SIGKILL:
            tally.ends["ended before its point"] += 1
        else:
            tally.ends["killed"] += 1
            tally.ends[f"killed {'while people worked' if child.address else 'before people came'}"] += 1
        found = in_child(home, answered)
        tally.faults += [f"{seen[target - 1]} ({target}): {fault}" for fault in found]
    again: list[str] = []
    child = started(home, 0, names)
    worked(child, again)
    if child.end() or "killed" in again:
        tally.faults.append("a server that was killed does not work again")
    return tally


def main() -> int:
    """Run the campaign and print its tally."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200, help="servers to kill")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = campaign(Path(folder), words.points)
    print(tally)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
