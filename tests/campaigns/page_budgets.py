"""Nothing that one person sends to the page keeps others waiting: large and odd requests beside a visitor.

A real server process gets requests of up to 2 MiB: every shape of text (names of combining marks, nested YAML, many
releases, equal lines, ranges, ...) in every field that takes one, odd headers, addresses, multipart bodies and uploaded
files, each sent by everybody: an administrator, a steward, an approver, a guest and somebody without an account. Beside
them a visitor, in a process of its own, loads a page each second. What is printed is how long the visitor waited, what
was being answered meanwhile, and which requests took longest. Ends with 1 where the visitor waited longer than a
second, or a request was answered with 500.
"""

from __future__ import annotations

import argparse
import gzip
import io
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from queue import Empty, SimpleQueue

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "page"))

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import serving
from sites import Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole

LIMIT = 1.0
"""Seconds that the visitor may wait."""
_TIMEOUT = 120.0
_HEAD = "version: 1\nname: p\nsource: {path: a.csv}\n"
_REST = "attributes: {age: {role: quasi_identifier}}\nprivacy: {k_anonymity: {k: 5}}\nreleases: {r: {path: r.csv}}\n"
POLICY = _HEAD + _REST
Shape = Callable[[int], str]


def repeated(unit: str, begin: str = "", end: str = "") -> Shape:
    """Return a text of at most so many bytes that repeats a unit."""
    return lambda size: begin + unit * max(1, (size - len(begin)) // len(unit.encode())) + end


def numbered(line: str, begin: str = "", end: str = "") -> Shape:
    """Return a text of at most so many bytes of numbered lines."""
    return lambda size: begin + "".join(line.format(n=n, m=n - 1) for n in range(max(1, size // (len(line) + 4)))) + end


SHAPES: dict[str, Shape] = {
    "long": repeated("a"),
    "marks": repeated("\u0301", "a"),
    "mixed marks": repeated("\u0301\u0323", "a"),
    "ligatures": repeated("\ufdfa"),
    "spaces": repeated(" "),
    "lines": repeated("a\n"),
    "empty lines": repeated("\n"),
    "urls": repeated("://:"),
    "secrets": repeated("?a_key_key"),
    "quotes": repeated("'"),
    "backslashes": repeated("\\", '"'),
    "digits": repeated("9", "k: "),
    "dots": repeated("a."),
    "flow": repeated("["),
    "maps": repeated("{a: "),
    "indented": lambda size: "".join(f"{' ' * n}a:\n" for n in range(int((2 * size) ** 0.5) - 2)),
    "dashes": repeated("- "),
    "questions": repeated("? "),
    "anchors": repeated("&a "),
    "tags": repeated("!a "),
    "documents": repeated("---\n"),
    "comments": repeated("# a\n", POLICY),
    "tabs": repeated("\t"),
    "unicode": repeated("\U0001f468\u200d"),
    "paths": repeated("../"),
    "globs": repeated("**/"),
    "percent": repeated("%2e"),
    "ranges": repeated("0..999,"),
    "releases": numbered(
        "  r{n}: {{path: r{n}.csv}}\n", POLICY.replace("releases: {r: {path: r.csv}}\n", "releases:\n")
    ),
    "attributes": numbered(
        "  a{n}: {{role: quasi_identifier}}\n", _HEAD + "privacy: {k_anonymity: {k: 5}}\nattributes:\n"
    ),
    "patterns": numbered('  "*a{n}*": {{role: sensitive}}\n', _HEAD + "privacy: {k_anonymity: {k: 5}}\nattributes:\n"),
    "steps": numbered("  s{n}: {{use: drop, with: {{attributes: [age]}}}}\n", POLICY + "steps:\n"),
    "chain": numbered("  s{n}: {{use: drop, input: s{m}, with: {{attributes: [x]}}}}\n", POLICY + "steps:\n"),
    "templates": numbered("  - house{n}.yaml\n", POLICY + "extends:\n"),
    "params": numbered("  p{n}: {{default: '${{p{m}}}'}}\n", POLICY + "params:\n"),
    "audits": numbered("  a{n}: {{use: class_sizes, release: r}}\n", POLICY + "audits:\n"),
    "gates": numbered("  g{n}: {{metric: a.b, max: 0.5}}\n", POLICY + "gates:\n"),
    "unknown": numbered("unknown{n}: 1\n", POLICY),
    "waivers": numbered("  w{n}: {{of: PPF100, reason: x, owner: x, until: 2030-01-01}}\n", POLICY + "waivers:\n"),
    "levels": numbered(
        "[{n}, {n}],", POLICY.replace("quasi_identifier}", "quasi_identifier, hierarchy: {levels: ["), "]}}}"
    ),
    "same key": repeated("releases: {}\n", POLICY),
    "pairs": numbered("same\nb{n}\n"),
}
"""Texts that some algorithm may take long over."""


@dataclass(frozen=True)
class Kind:
    """A kind of request: its name, and how it is sent by a browser."""

    name: str
    send: Callable[[Person, int], httpx2.Response]


class Person:
    """Somebody's browser, signed in where they have an account."""

    def __init__(self, address: str, cookies: dict[str, str], token: str) -> None:
        self.token = token
        self.client = httpx2.Client(base_url=address, cookies=cookies, timeout=_TIMEOUT)

    def post(self, path: str, **fields: str) -> httpx2.Response:
        """Send a form in as few bytes as it can be sent in: most escapes take three, and larger forms are refused."""
        written = [f"{name}={_escaped(text)}" for name, text in {"form_token": self.token, **fields}.items()]
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return self.client.post(path, content="&".join(written).encode(), headers=headers)

    def upload(self, name: str, data: bytes) -> httpx2.Response:
        """Send a file."""
        return self.client.post("/uploads", data={"form_token": self.token}, files={"file": (name, data)})


def _escaped(text: str) -> str:
    for sign in "%&+=":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text.replace(" ", "+")


FIELDS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("/sign-in", "name", {"password": "x"}),
    ("/sign-in", "password", {"name": "x"}),
    ("/policies/p.yaml/check", "text", {}),
    ("/policies/p.yaml/propose", "text", {}),
    ("/policies/p.yaml/edit", "text", {"digest": "x"}),
    ("/policies/p.yaml/form", "text", {"base": POLICY}),
    ("/policies/p.yaml/sweep", "values_1", {"path_1": "privacy.k_anonymity.k"}),
    ("/policies/p.yaml/sweep", "path_1", {"values_1": "2,3"}),
    ("/policies/new", "text", {"name": "q.yaml"}),
    ("/policies/new", "name", {}),
    ("/waivers/new/p.yaml", "reason", {"name": "w"}),
    ("/policies/commit", "message", {}),
    ("/accounts", "name", {"role": "guest"}),
    ("/jobs/none/cancel", "x", {}),
)
"""Addresses with the field that is filled, and the others."""
ADDRESSES = (
    "/explain?term=",
    "/policies/p.yaml/propose?changes=",
    "/policies/p.yaml/propose?set=",
    "/journal?subject=",
)


def kinds() -> Iterator[Kind]:
    """Yield all kinds of requests."""
    yielded = list(SHAPES.items())
    texts = [each for each in FIELDS if each[1] == "text"]
    for path, field, others in FIELDS:
        shapes = (
            yielded
            if (path, field, others) in texts[:1]
            else yielded[::5]
            if (path, field, others) in texts
            else yielded[:6]
        )
        for name, shape in shapes:
            yield Kind(f"{path} {field} {name}", _form(path, field, others, shape))
    for address in ADDRESSES:
        for name in ("long", "marks", "urls", "flow", "quotes"):
            yield Kind(f"{address} {name}", _address(address, SHAPES[name]))
    yield from _odd()
    yield from _files()


def _form(path: str, field: str, others: dict[str, str], shape: Shape) -> Callable[[Person, int], httpx2.Response]:
    return lambda person, size: person.post(
        path, **{**others, field: shape(min(size, 980_000 if field == "text" else size))}
    )


def _address(address: str, shape: Shape) -> Callable[[Person, int], httpx2.Response]:
    return lambda person, _size: person.client.get(address + shape(20_000))


def _odd() -> Iterator[Kind]:
    """Yield odd headers and bodies."""

    def raw(body: Callable[[int], bytes], kind: str, path: str) -> Callable[[Person, int], httpx2.Response]:
        return lambda person, size: person.client.post(
            path, content=body(size), headers={"content-type": kind, "x-form-token": person.token}
        )

    form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"
    bodies: dict[str, tuple[Callable[[int], bytes], str]] = {
        "ampersands": (lambda size: b"&" * size, form),
        "fields": (lambda size: b"a=1&" * (size // 4), form),
        "percents": (lambda size: b"a=" + b"%" * size, form),
        "escapes": (lambda size: b"text=" + b"%41" * (size // 3), form),
        "broken escapes": (lambda size: b"text=" + b"%C3%28x" * (size // 7), form),
        "one key": (lambda size: b"a" * size, form),
        "no boundary": (lambda size: b"-" * size, "multipart/form-data"),
        "boundaries": (lambda size: b"--b\r\n" * (size // 5), parts),
        "half boundaries": (lambda size: b"\r\n--" * (size // 4), parts),
        "part headers": (lambda size: b"--b\r\n" + b"a: b\r\n" * (size // 6), parts),
        "long part header": (lambda size: b"--b\r\nContent-Disposition: form-data; name=" + b"a" * size, parts),
        "empty parts": (
            lambda size: b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * (size // 56) + b"--b--",
            parts,
        ),
        "quoted name": (lambda size: b'--b\r\nContent-Disposition: form-data; name="' + b'\\"' * (size // 2), parts),
        "json": (lambda size: b"[" * size, "application/json"),
    }
    for name, (body, kind) in bodies.items():
        for path in ("/policies/p.yaml/check", "/uploads", "/sign-in"):
            yield Kind(f"{path} body {name}", raw(body, kind, path))
    headers: dict[str, dict[str, str]] = {
        "cookies": {"cookie": "; ".join(f"c{n}=x" for n in range(2_000))},
        "long cookie": {"cookie": "visit=" + "a" * 20_000},
        "quoted cookie": {"cookie": 'visit="' + "\\" * 20_000},
        "many headers": {f"x-{n}": "a" for n in range(1_500)},
        "host": {"host": "a." * 5_000},
        "ranges": {"range": "bytes=" + ",".join(f"{n}-" for n in range(3_000))},
        "types": {"content-type": "multipart/form-data; " + "a=b; " * 4_000},
        "languages": {"accept-language": "en;q=0.1," * 2_000},
        "forwarded": {"x-forwarded-for": "1.1.1.1, " * 2_000},
        "tags": {"if-none-match": '"a", ' * 4_000},
    }
    for name, extra in headers.items():
        yield Kind(f"headers {name}", _headers(extra))


def _headers(extra: dict[str, str]) -> Callable[[Person, int], httpx2.Response]:
    return lambda person, _size: person.client.get("/static/base.css", headers=extra)


def _files() -> Iterator[Kind]:
    """Yield tables that are wide, packed, nested or damaged."""

    def dictionary(_size: int) -> bytes:
        file = io.BytesIO()
        column = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000_000, pa.int32()), ["x" * 5_000])
        pq.write_table(pa.table({"a": column}), file)
        return file.getvalue()

    texts: dict[str, tuple[str, Callable[[int], bytes]]] = {
        "wide": ("w.csv", lambda size: b",".join(b"c%d" % n for n in range(size // 8)) + b"\n"),
        "wide later": ("w.csv", lambda size: b"a,b\n" + b"," * size),
        "quotes": ("q.csv", lambda size: b'a,b\n"' + b'"' * size),
        "open quote": ("q.csv", lambda size: b'a,b\n"' + b"x\n" * (size // 2)),
        "one line": ("l.csv", lambda size: b"a" * size),
        "lines": ("l.csv", lambda size: b"a,b\n" + b"1,2\n" * (size // 4)),
        "empty lines": ("l.csv", lambda size: b"\n" * size),
        "delimiters": ("d.csv", lambda size: b"a;b,c|d\te\n" * (size // 10)),
        "returns": ("r.csv", lambda size: b"a,b\r" * (size // 4)),
        "wide utf-16": ("u.csv", lambda size: ("," * (size // 2)).encode("utf-16")),
        "lists": ("n.jsonl", lambda size: b'{"a": ' + b"[" * size + b"\n"),
        "objects": ("n.jsonl", lambda size: b'{"a":' * (size // 5)),
        "numbers": ("n.jsonl", lambda size: b'{"a": ' + b"9" * size + b"}\n"),
        "zeros": ("z.csv.gz", lambda size: gzip.compress(b"a,b\n" + b"1,2\n" * (200 * size // 4))),
        "dictionary": ("d.parquet", dictionary),
        "damaged parquet": ("d.parquet", lambda size: b"PAR1" + b"\0" * size + b"PAR1"),
        "damaged workbook": ("d.xlsx", lambda size: b"PK\x03\x04" + b"\0" * size),
        "damaged stata": ("d.dta", lambda size: b"<stata_dta>" + b"\xff" * size),
    }
    for name, (file, data) in texts.items():
        yield Kind(f"upload {name}", _upload(file, data))


def _upload(file: str, data: Callable[[int], bytes]) -> Callable[[Person, int], httpx2.Response]:
    return lambda person, size: person.upload(file, data(size))


def visit(address: str, over: Synchronized[int], waits: multiprocessing.Queue[tuple[float, float]]) -> None:
    """Load a page each second, and tell when and how long it took."""
    with httpx2.Client(base_url=address, timeout=_TIMEOUT) as client:
        while not over.value:
            begun = time.time()
            client.get("/sign-in").raise_for_status()
            waits.put((begun, time.time() - begun))
            time.sleep(max(0.0, begun + 1 - time.time()))


def people(server: Server, address: str) -> dict[str, Person]:
    """Return everybody's browser."""
    every = {}
    for role in (*PageRole, None):
        browser = Browser(server.site, None if role is None else server.users[role])
        token = browser.token()
        every["nobody" if role is None else role.value] = Person(address, dict(browser.client.cookies.items()), token)
    return every


def main() -> int:
    """Send every kind of request by everybody, and print what the visitor waited."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=2 * 2**20 - 2_000, help="the size of a request")
    parser.add_argument("--kinds", type=int, default=0, help="how many kinds, by chance; 0: all")
    parser.add_argument("--senders", type=int, default=5, help="requests at once")
    parser.add_argument("--only", default="", help="kinds whose name has this in it")
    options = parser.parse_args()
    every = [kind for kind in kinds() if options.only in kind.name]
    random.Random(0).shuffle(every)
    every = every[: options.kinds or None]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        (server.site.settings.policies / "p.yaml").write_text(POLICY)
        with serving.process(Path(folder)) as process:
            return _measure(server, process.address, every, options)


def _measure(server: Server, address: str, every: list[Kind], options: argparse.Namespace) -> int:
    browsers = people(server, address)
    context = multiprocessing.get_context("spawn")
    over, waits = context.Value("i", 0), context.Queue()
    visitor = context.Process(target=visit, args=(address, over, waits))
    visitor.start()
    work: SimpleQueue[tuple[str, Kind]] = SimpleQueue()
    for kind in every:
        for name in browsers:
            work.put((name, kind))
    done: list[tuple[float, float, str, int]] = []

    def send() -> None:
        while True:
            try:
                name, kind = work.get_nowait()
            except Empty:
                return
            begun = time.time()
            try:
                status = kind.send(browsers[name], options.bytes).status_code
            except httpx2.HTTPError as error:
                status = 0 if isinstance(error, httpx2.TimeoutException) else -1
            done.append((begun, time.time(), f"{name}: {kind.name}", status))

    senders = [threading.Thread(target=send) for _ in range(options.senders)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    time.sleep(3)
    over.value = 1
    times: list[tuple[float, float]] = []
    while visitor.is_alive() or not waits.empty():
        try:
            times.append(waits.get(timeout=1))
        except Empty:
            continue
    return _told(times, done, len(every))


def _told(times: list[tuple[float, float]], done: list[tuple[float, float, str, int]], number: int) -> int:
    waited = sorted(wait for _, wait in times)
    print(f"{number} kinds, {len(done)} requests: {dict(Counter(status for *_, status in done).most_common())}")
    half = waited[len(waited) // 2]
    print(f"the visitor loaded {len(times)} pages: half within {half:.2f} s, the worst {waited[-1]:.2f} s")
    for begun, wait in sorted(times, key=lambda each: -each[1])[:5]:
        beside = [name for start, end, name, _ in done if start < begun + wait and end > begun]
        print(f"  {wait:.2f} s beside {'; '.join(beside[:6])}{' …' if len(beside) > 6 else ''}")
    print("longest requests:")
    for start, end, name, status in sorted(done, key=lambda each: each[0] - each[1])[:15]:
        print(f"  {end - start:6.1f} s  {status}  {name}")
    failed = sorted({name for *_, name, status in done if status >= 500 or status == 0})
    for name in failed:
        print(f"  failed: {name}")
    return int(waited[-1] > LIMIT or bool(failed))


if __name__ == "__main__":
    sys.exit(main())
