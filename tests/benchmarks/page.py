"""The steward's page under load: guests read tables of a million rows while two runs work.

The server is ``ppdm-flow serve``, in a process of its own, with nothing set otherwise. Two policies release tables of
so many rows (one CSV, one Parquet; 11 columns: labels, codes, words, numbers, dates, pseudonyms); both are shown to
guests. Then stewards put runs of these policies into the server's queue, of which two work at any time, as jobs do: on
the last core, at a low priority. Each guest has an account, a connection and a cookie, reads pages of a kind drawn by
the shares below, and thinks for a time between 2 and 8 seconds, uniformly drawn, between an answer and the next
request. What is measured is the time from a request to the last byte of its answer, over a plain connection on this
machine; the clients take part of the two cores as well. Asked: 95 % of pages in less than 300 ms, and 500 MB for the
server.

    python tests/benchmarks/page.py
    python tests/benchmarks/page.py --rows 100000 --seconds 20 --guests 50
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from measuring import Row, Sheet, flow, timed

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.records import JobRecords
from ppdm_flow.page.services.released.files import ReleasedFolder
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.page.services.tables.table import CopiedTable
from ppdm_flow.page.services.tables.tables import ReleasedTable
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site

PASSWORD = "correct horse battery staple"
THINKING = (2.0, 8.0)
"""Seconds between an answer and the next request."""
STEWARDS = ("steward", "other steward")
WAITING = 5
"""Runs that each steward puts into the queue: more than end while guests read, and as many as one may have."""
MOST_MS, MOST_MB = 300.0, 500.0
POLICY = """
version: 1
name: {name}
source: {{path: {data}, format: csv}}
attributes:
  age: {{role: quasi_identifier, type: integer, hierarchy: {{intervals: [0, 18, 30, 45, 65, 120]}}}}
  sex: {{role: quasi_identifier}}
  region: {{role: quasi_identifier}}
  occupation: {{role: insensitive}}
  postcode: {{role: insensitive}}
  disease: {{role: sensitive}}
  days: {{role: insensitive, type: integer}}
  cost: {{role: insensitive, type: float}}
  admitted: {{role: insensitive, type: date}}
  pseudonym: {{role: insensitive}}
  payment: {{role: insensitive}}
privacy: {{k_anonymity: {{k: 5}}}}
steps:
  coarse: {{use: generalize, with: {{attributes: {{age: {{}}}}}}}}
releases:
  study: {{path: study.{format}, from: coarse}}
"""
SHARES = {
    "list": 4,
    "first page": 18,
    "next page": 26,
    "far page": 8,
    "equals": 14,
    "contains": 8,
    "range": 7,
    "order": 7,
    "filter + order": 5,
    "data sheet": 2,
    "files": 1,
}
"""How often each kind of page is asked for, in percent."""


def invented(rows: int) -> pa.Table:
    """Return an invented table."""
    rng = np.random.default_rng(1)

    def words(word: str, many: int) -> np.ndarray:
        return np.char.add(word, rng.integers(0, many, rows).astype(str))

    return pa.table(
        {
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["female", "male"], rows),
            "region": words("region ", 40),
            "occupation": words("occupation ", 300),
            "postcode": np.char.zfill(rng.integers(0, 10_000, rows).astype(str), 5),
            "disease": words("disease ", 800),
            "days": rng.poisson(5, rows),
            "cost": rng.lognormal(7, 1, rows).round(2),
            "admitted": (np.datetime64("2020-01-01") + rng.integers(0, 2_000, rows).astype("timedelta64[D]")).astype(
                str
            ),
            "pseudonym": np.array([f"{each:016x}" for each in rng.integers(0, 2**60, rows)]),
            "payment": rng.choice(["insured", "instalments", "cash"], rows),
        }
    )


@dataclass
class Guest:
    """One person at a browser: a connection that stays open, and pages of tables."""

    host: str
    port: int
    cookie: str
    tables: list[str]
    draw: random.Random
    pages: int
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: list[str] = field(default_factory=list)
    at: tuple[str, dict[str, str], int] = ("", {}, 1)

    async def visit(self, until: float) -> None:
        """Read pages until the time is over."""
        await asyncio.sleep(self.draw.uniform(0, THINKING[1]))
        reader, writer = await asyncio.open_connection(self.host, self.port)
        while time.monotonic() < until:
            (kind,) = self.draw.choices(list(SHARES), list(SHARES.values()))
            address = self._address(kind)
            began = time.perf_counter()
            try:
                status, size = await self._get(reader, writer, address)
            except (ConnectionError, asyncio.IncompleteReadError):  # the server closes connections that rest
                reader, writer = await asyncio.open_connection(self.host, self.port)
                began = time.perf_counter()
                status, size = await self._get(reader, writer, address)
            self.times[kind].append((time.perf_counter() - began) * 1_000)
            if status != 200 or not size:
                self.failed.append(f"{status} {address}")
            await asyncio.sleep(self.draw.uniform(*THINKING))
        writer.close()

    def _address(self, kind: str) -> str:
        draw, table = self.draw, self.draw.choice(self.tables)
        page, words = 1, dict[str, str]()
        if kind == "list":
            return "/released"
        if kind in ("data sheet", "files"):
            return f"{table}/{'sheet.html' if kind == 'data sheet' else 'files'}"
        if kind == "next page" and self.at[0]:
            table, words, page = self.at[0], self.at[1], self.at[2] + 1
        if kind == "far page":
            page = draw.randrange(1, self.pages + 1)
        if kind in ("equals", "filter + order"):
            column, many = draw.choice([(0, 5), (1, 2), (2, 40), (10, 3)])
            words[f"c{column}"] = str(draw.randrange(many))
        if kind == "contains":
            column, word = draw.choice([(3, "ation 1"), (4, "12"), (5, "SE 7"), (9, f"{draw.randrange(4096):03x}")])
            words[f"c{column}"] = word
        if kind == "range":
            least = draw.randrange(100, 3_000)
            words |= draw.choice([{"c7from": str(least), "c7to": str(least * 2)}, {"c8from": "2021-03-01"}])
        if kind in ("order", "filter + order"):
            words |= {"by": str(draw.choice([0, 5, 7, 8, 9])), **draw.choice([{}, {"down": "1"}])}
            page = draw.choice([1, 1, 2, draw.randrange(1, self.pages + 1)])
        self.at = (table, words, page)
        return f"{table}?{urlencode({**words, 'page': str(page)})}"

    async def _get(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str) -> tuple[int, int]:
        head = f"GET {address} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nCookie: {self.cookie}\r\n\r\n"
        writer.write(head.encode())
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length: (\d+)", answer)
        if length is None:
            raise ValueError("an answer does not say how long it is")
        return int(answer.split()[1]), len(await reader.readexactly(int(length[1])))


def prepared(folder: Path, rows: int, guests: int, sheet: Sheet) -> tuple[Settings, list[str]]:
    """Make the tables, show them, have them copied, and make accounts. Returns the addresses of the tables."""
    settings = Settings(folder / "policies", folder / "runs", folder / "state")
    for place in (settings.policies, settings.runs):
        place.mkdir()
    data = folder / "visits.csv"
    pcsv.write_csv(invented(rows), data)
    for name, form in (("visits", "csv"), ("stays", "parquet")):
        policy = settings.policies / f"{name}.yaml"
        policy.write_text(POLICY.format(name=name, data=data, format=form))
        spent = timed(*flow("run", policy, "--out", settings.runs, "-q"), cwd=folder)
        sheet.add(Row(f"page.run.{form}", rows, spent.seconds, spent.peak_mb, cpu=spent.cpu))
    site = opened_site(settings)
    addresses = _shown(site, rows, guests, sheet)
    return settings, addresses


def _shown(site: Site, rows: int, guests: int, sheet: Sheet) -> list[str]:
    stewards = [site.accounts.add(name, [PageRole.STEWARD], PASSWORD) for name in STEWARDS]
    invited = [site.accounts.add(f"guest {number}", [PageRole.GUEST], PASSWORD) for number in range(guests)]
    addresses = []
    for run in sorted(site.settings.runs.glob("*/*")):
        policy = run.parent.name
        refusal = site.shown.show(stewards[0], policy, run.name, "study", invited)
        if refusal is not None:
            sys.exit(f"{run}: {refusal}")
        began, released = time.perf_counter(), ReleasedTable.of(ReleasedFolder(run, "study"))
        site.tables.get(released)
        site.tables.finished(3_600)
        if not isinstance(site.tables.get(released), CopiedTable):
            sys.exit(f"{run}: no copy of the table could be made")
        sheet.add(Row(f"page.copy.{released.format}", rows, time.perf_counter() - began, 0))
        addresses.append(f"/released/{policy}/{run.name}/study")
    return addresses


@contextmanager
def served(settings: Settings) -> Iterator[tuple[int, int]]:
    """Start the server; give its process and its port."""
    words = flow("serve", "--policies", settings.policies, "--runs", settings.runs, "--state", settings.state)
    process = subprocess.Popen([*words, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        port, line = 0, ""
        while "Ctrl-C" not in line:
            line = process.stdout.readline()
            if not line:
                sys.exit("the server ended")
            if match := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                port = int(match[1])
        yield process.pid, port
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        process.stdout.close()


class Form:
    """Somebody who sends forms: signed in from the beginning."""

    def __init__(self, port: int, name: str) -> None:
        self._port, self.cookie = port, ""
        self.send("/sign-in", name=name, password=PASSWORD)

    def send(self, address: str, **fields: str) -> str:
        """Send a form as a page does, and return where the answer leads."""
        token = re.search(r'name="form_token" value="([0-9a-f]+)"', self._asked("GET", "/sign-in")[1])
        if token is None:
            sys.exit("the page has no form")
        answer, _ = self._asked("POST", address, urlencode({**fields, "form_token": token[1]}))
        if answer.status != 303:
            sys.exit(f"{address} was answered with {answer.status}")
        return answer.headers["location"]

    def _asked(self, method: str, address: str, form: str | None = None) -> tuple[http.client.HTTPResponse, str]:
        heads = {"Cookie": self.cookie, **({"Content-Type": "application/x-www-form-urlencoded"} if form else {})}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        connection.request(method, address, form, heads)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        given = "; ".join(each.partition(";")[0] for each in answer.headers.get_all("set-cookie") or ())
        self.cookie = given or self.cookie
        return answer, text


@dataclass
class Working:
    """Runs in the server's queue, begun by stewards on its pages, and how many of them work at once."""

    records: JobRecords
    jobs: list[tuple[Form, str]] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)

    def begin(self, port: int) -> None:
        """Put runs into the queue."""
        for name in STEWARDS:
            steward = Form(port, name)
            for number in range(WAITING):
                policy = ("visits", "stays")[number % 2]
                self.jobs.append((steward, steward.send(f"/policies/{policy}.yaml/run")))
        while self.records.many("state = 'running'") < 2:
            time.sleep(0.2)

    async def watch(self, until: float) -> None:
        """Count every second those that work."""
        while time.monotonic() < until:
            self.at_once.append(self.records.many("state = 'running'"))
            await asyncio.sleep(1)

    def end(self) -> None:
        """Cancel all, those first that wait, and wait until none works."""
        for steward, address in reversed(self.jobs):
            steward.send(f"{address}/cancel")
        while self.records.many("state = 'running'"):
            time.sleep(0.2)


async def read(guests: list[Guest], working: Working, seconds: float) -> None:
    """Let all guests read for so long."""
    until = time.monotonic() + seconds
    await asyncio.gather(working.watch(until), *(guest.visit(until) for guest in guests))


def peak_mb(process: int) -> float:
    """Return the largest resident memory that a process had, in MB."""
    line = next(x for x in Path(f"/proc/{process}/status").read_text().splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) / 1_024


def cpu_seconds(process: int) -> float:
    """Return what a process has taken of the processors."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(guests: list[Guest]) -> dict[str, list[float]]:
    """Return the milliseconds of all guests by kind of page, and of all pages."""
    times: dict[str, list[float]] = defaultdict(list)
    for guest in guests:
        for kind, each in guest.times.items():
            times[kind] += each
            times["all pages"] += each
    return {kind: sorted(times[kind]) for kind in (*SHARES, "all pages") if times[kind]}


def share(times: list[float], part: float) -> float:
    """Return the time that this part of the pages does not exceed."""
    return times[min(int(part * len(times)), len(times) - 1)]


def report(times: dict[str, list[float]], sheet: Sheet, rows: int, peak: float, cpu: float) -> None:
    """Print the table, and add its lines as rows."""
    print(f"\n{'kind of page':<18}{'pages':>8}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}")
    for kind, each in times.items():
        p50, p95 = share(each, 0.5), share(each, 0.95)
        print(f"{kind:<18}{len(each):>8}{p50:>9.1f}{p95:>9.1f}{each[-1]:>9.1f}")
        name = kind.replace(" + ", "_").replace(" ", "_")
        for figure, value in (("p50", p50), ("p95", p95), ("max", each[-1])):
            sheet.rows.append(Row(f"page.{name}.{figure}", rows, value / 1_000, 0))
    every = times["all pages"]
    sheet.rows.append(Row("page.server", rows, sum(every) / 1_000, peak, cpu=cpu))


def main() -> int:
    parser = argparse.ArgumentParser(description="The page under load.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--guests", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--no-runs", action="store_true", help="nothing works beside: what the server takes alone")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        settings, addresses = prepared(Path(name), args.rows, args.guests, sheet)
        working = Working(JobRecords(PageDatabase(settings.database, ()), settings.jobs))
        with served(settings) as (process, port):
            idle = peak_mb(process)
            cookies = [Form(port, f"guest {number}").cookie for number in range(args.guests)]
            if not args.no_runs:
                working.begin(port)
            pages = max(args.rows // 100, 1)
            guests = [
                Guest("127.0.0.1", port, cookie, addresses, random.Random(number), pages)
                for number, cookie in enumerate(cookies)
            ]
            began, spent = time.perf_counter(), cpu_seconds(process)
            asyncio.run(read(guests, working, args.seconds))
            seconds, spent = time.perf_counter() - began, cpu_seconds(process) - spent
            peak = peak_mb(process)
            working.end()
    times = told(guests)
    report(times, sheet, args.rows, peak, spent)
    every, failed = times["all pages"], [each for guest in guests for each in guest.failed]
    within = sum(each < MOST_MS for each in every) / len(every)
    print(f"\n{args.guests} guests, {THINKING[0]:g} to {THINKING[1]:g} s between pages")
    print(f"pages a second: {len(every) / seconds:.1f}; the server took {spent / seconds:.0%} of a core")
    print(f"runs at work: {min(working.at_once)} to {max(working.at_once)}")
    print(f"below {MOST_MS:g} ms: {within:.1%} of pages (asked: 95 %); not answered well: {len(failed)}")
    print(f"the server's memory: {idle:.0f} MB at its start, {peak:.0f} MB at most (asked: {MOST_MB:g})")
    print(f"load of the machine in the last minute: {os.getloadavg()[0]:.1f}")
    sheet.write(args.json)
    return 0 if within >= 0.95 and peak < MOST_MB and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
