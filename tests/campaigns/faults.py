"""Deliberate faults: thirty changed lines, one at a time, and whether the tests find each.

    python tests/campaigns/faults.py --list
    python tests/campaigns/faults.py --json faults.json
    python tests/campaigns/faults.py --json faults.json --from 12
    python tests/campaigns/faults.py --json faults.json --only 7 19
    python tests/campaigns/faults.py --json faults.json --reader

Three modules are drawn in each of ten rooms, and in each module one change: a comparison, an operator, a constant, a
``not``, or a call such as ``min``. The draw depends on the seed, on the paths of the modules and on their text.

Each fault is made in a clone of the last commit, which has a Python environment of its own: in every process that a
test starts, ``ppdm_flow`` is that of the clone. The quick tier runs until a test fails: first the tests of the room,
then all others. If none fails, the full tests of the room run. A test finds a fault if it fails with it and passes
without it. A tier that does not end within ``--limit`` minutes has found the fault, too.

With ``--reader`` sixty faults are drawn in ``ppdm_flow/reader/`` instead, of all changes alike, and only the reader's
own tests run, all of them.

The results are kept in the file of ``--json``. A second call goes on where the first one ended; ``--only`` repeats.
The clone and the outputs of the tests stay in the folder ``--work``, with the compiled kernels: a kernel is compiled
anew where its module differs, so a fault never runs with the machine code of another source. Ends with 1 where a fault
is not found and has no explanation in `EXPLANATIONS`.
"""

from __future__ import annotations

import argparse
import ast
import fcntl
import functools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parents[2]
SEED = 23
MODULES_PER_ROOM = 3
NOT_DRAWN = {"__init__.py", "spec.py"}
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Bytes of data that a process may have: an endless loop that collects rows must not end other programs."""

EXPLANATIONS: dict[tuple[str, str], str] = {}
"""Why a fault that no test finds changes nothing: by its file and the line before the change."""


@dataclass(frozen=True)
class Room:
    """A part of the package.

    The draw takes one module of each place in turn. A place is a list of patterns below ``ppdm_flow/``; ``tests`` are
    patterns below ``tests/``. Patterns that match nothing are passed over: they are where modules were or may go.
    """

    name: str
    places: tuple[tuple[str, ...], ...]
    tests: tuple[str, ...]


ROOMS = (
    Room(
        "requirement figures",
        (("requirements/*/algorithm.py", "requirements/*/audit.py"),),
        ("requirements", "adversary"),
    ),
    Room(
        "lineage",
        (
            ("core/lineage.py", "core/lineage/*.py"),
            ("mining/exposure/*.py", "mining/exposure.py"),
            ("plan/flow.py", "plan/flow/*.py", "plan/**/lineage*.py", "engine/steps/origins.py"),
        ),
        ("mining/exposure", "core/test_lineage*.py", "plan", "testing/test_derivations.py", "adversary"),
    ),
    Room(
        "readers",
        (("sources/**/*.py",), ("engine/reading/*.py", "engine/reading.py")),
        ("sources", "engine/reading", "engine/test_reading*.py"),
    ),
    Room(
        "floors",
        (("policy/floors/*.py", "policy/floors.py"),),
        ("policy/test_floors*.py", "policy/floors", "policy/order"),
    ),
    Room("diff", (("policy/order/*.py", "policy/order.py"),), ("policy/order", "cli/test_diff*.py", "mutants")),
    Room("ledger", (("engine/ledger/*.py", "engine/ledger.py"),), ("engine/ledger", "engine/test_ledger*.py")),
    Room(
        "publishing",
        (
            ("engine/**/publish*.py", "engine/**/publication*.py"),
            ("engine/candidates/*.py", "engine/candidates.py"),
        ),
        ("engine/run", "engine/candidates", "engine/approval", "engine/test_*publi*.py"),
    ),
    Room("report", (("report/run/*.py", "report/run.py"),), ("report",)),
    Room(
        "sweep",
        (("api/sweep/*.py", "api/sweep.py"), ("report/sweep/*.py", "report/sweep.py")),
        ("api/test_sweep*.py", "cli/test_sweep*.py", "report/test_sweep*.py"),
    ),
    Room(
        "page access",
        (
            ("page/http/route.py", "page/http/answering.py", "page/http/call.py", "page/**/*access*.py"),
            ("page/services/accounts/*.py", "page/**/*session*.py"),
            ("page/services/approvals/*.py", "page/**/*permission*.py"),
        ),
        ("page/accounts", "page/test_*.py"),
    ),
)

READER = Room("reader", (("reader/**/*.py",),), ("reader",))
FAULTS_OF_READER = 60

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_PAIRS = (("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil"))
CALLS = {name: other for pair in _PAIRS for name, other in (pair, pair[::-1])}


class NoModulesError(Exception):
    """A room has fewer modules or tests than the draw needs: its patterns are out of date."""


@dataclass(frozen=True)
class Change:
    """A span of a module's bytes and what replaces it."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True)
class Fault:
    """A change to one line of a module; ``before`` and ``after`` are that line, stripped."""

    number: int
    room: str
    path: str
    line: int
    before: str
    after: str
    change: Change

    @property
    def identity(self) -> tuple[str, str, str]:
        """What stays the same when other lines of the module change."""
        return self.path, self.before, self.after

    def record(self) -> dict[str, Any]:
        """Return what the JSON file says of the fault."""
        told = asdict(self)
        del told["change"]
        return {**told, "explanation": EXPLANATIONS.get((self.path, self.before))}


def draw_faults(tree: Path, seed: int) -> list[Fault]:
    """Return the faults of all rooms, in the order of `ROOMS`. Raises NoModulesError."""
    faults: list[Fault] = []
    for room in ROOMS:
        room_tests(tree, room)
        for path in _draw_modules(tree, room, seed):
            faults.append(_draw_fault(tree, path, room, seed, len(faults) + 1))
    return faults


def draw_in_room(tree: Path, room: Room, seed: int, number: int) -> list[Fault]:
    """Return so many faults in the modules of one room, each change of any of them as likely."""
    paths = sorted(path for patterns in room.places for p in patterns for path in (tree / "ppdm_flow").glob(p))
    every = [(path, change) for path in paths for change in changes_of(path.read_bytes())]
    faults = []
    for path, change in Random(f"{seed} {room.name}").sample(every, number):
        source = path.read_bytes()
        line = source.count(b"\n", 0, change.start)
        before, after = (text.splitlines()[line].decode().strip() for text in (source, changed(source, change)))
        place = path.relative_to(tree).as_posix()
        faults.append(Fault(len(faults) + 1, room.name, place, line + 1, before, after, change))
    return faults


def room_tests(tree: Path, room: Room) -> list[str]:
    """Return the test folders and modules of a room, relative to ``tree``. Raises NoModulesError."""
    matches = {path for pattern in room.tests for path in (tree / "tests").glob(pattern)}
    if not matches:
        raise NoModulesError(f"room `{room.name}` has no tests: {', '.join(room.tests)}")
    return sorted(path.relative_to(tree).as_posix() for path in matches)


def _draw_modules(tree: Path, room: Room, seed: int) -> list[str]:
    """Return modules that have something to change, one of each place in turn."""
    ranked: list[list[str]] = []
    for patterns in room.places:
        matches = {path for pattern in patterns for path in (tree / "ppdm_flow").glob(pattern)}
        paths = [path.relative_to(tree).as_posix() for path in matches if path.name not in NOT_DRAWN]
        ranked.append(sorted(paths, key=lambda path: (Random(f"{seed} {path}").random(), path)))
    modules: list[str] = []
    while len(modules) < MODULES_PER_ROOM and any(ranked):
        for paths in ranked:
            usable = (path for path in paths if path not in modules and changes_of((tree / path).read_bytes()))
            module = next(usable, None)
            paths[:] = paths[paths.index(module) + 1 :] if module else []
            modules += [module] if module else []
    if len(modules) < MODULES_PER_ROOM:
        raise NoModulesError(f"room `{room.name}` has too few modules: {room.places}")
    return modules[:MODULES_PER_ROOM]


def _draw_fault(tree: Path, path: str, room: Room, seed: int, number: int) -> Fault:
    source = (tree / path).read_bytes()
    by_line: dict[int, list[Change]] = {}
    for change in changes_of(source):
        by_line.setdefault(source.count(b"\n", 0, change.start), []).append(change)
    random = Random(f"{seed} {path} line")
    line = random.choice(sorted(by_line))
    change = random.choice(by_line[line])
    before, after = (text.splitlines()[line].decode().strip() for text in (source, changed(source, change)))
    return Fault(number, room.name, path, line + 1, before, after, change)


def changed(source: bytes, change: Change) -> bytes:
    """Return the source with the span replaced; all other bytes are kept."""
    return source[: change.start] + change.replacement.encode() + source[change.end :]


@functools.cache
def changes_of(source: bytes) -> tuple[Change, ...]:
    """Return the changes that a module allows, in the order of their places."""
    tree = ast.parse(source)
    lines = [0, *(match.end() for match in re.finditer(rb"\n", source))]
    finder = _ChangeFinder(source, lines)
    found = {change for node in _code_nodes(tree) for change in finder.changes(node)}
    before = ast.dump(tree)
    usable = (change for change in found if _is_other_code(changed(source, change), before))
    return tuple(sorted(usable, key=lambda change: (change.start, change.end, change.replacement)))


def _is_other_code(source: bytes, before: str) -> bool:
    try:
        return ast.dump(ast.parse(source)) != before
    except SyntaxError:
        return False


def _code_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one that say what the program computes: no annotations, decorators or messages."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_passed_over(node, child):
                yield child
                yield from _code_nodes(child)


def _is_passed_over(parent: ast.AST, node: ast.AST) -> bool:
    """Whether a node is for readers, type checkers or messages, or only guards against programming errors."""
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.If(test=test):
            return {"TYPE_CHECKING", "__name__"} & {n.id for n in ast.walk(test) if isinstance(n, ast.Name)} != set()
        case ast.ClassDef(bases=bases):
            return any(ast.unparse(base).startswith("Protocol") for base in bases)
        case ast.FunctionDef(decorator_list=decorators):
            return any(ast.unparse(decorator).endswith("overload") for decorator in decorators)
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr())):
            return isinstance(parent, ast.Module)  # an alias of a type
        case ast.keyword(arg="strict"):
            return isinstance(parent, ast.Call) and ast.unparse(parent.func) == "zip"
        case _:
            return False


class _ChangeFinder:
    """Finds the changes of single nodes. Offsets of ``ast`` are bytes, too."""

    def __init__(self, source: bytes, line_starts: Sequence[int]) -> None:
        self._source = source
        self._line_starts = line_starts

    def changes(self, node: ast.AST) -> Iterator[Change]:
        """Yield the changes of a node itself, not those of nodes within it."""
        for before, after, old, new in self._operators(node):
            yield from self._operator(before, after, old, new)
        match node:
            case ast.UnaryOp(op=ast.Not()):
                start = self._start(node)
                word = re.compile(rb"not\s*").match(self._source, start)
                if word:
                    yield Change(start, word.end(), "")
            case ast.Constant(value=bool(value)):
                yield Change(self._start(node), self._end(node), str(not value))
            case ast.Constant(value=int(value) | float(value)):
                yield Change(self._start(node), self._end(node), repr(value + 1))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in CALLS:
                end = self._end(node.func)
                yield Change(end - len(name), end, CALLS[name])

    def _operators(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, str]]:
        """Yield both operands, the operator between them and its replacement; none for texts and paths."""
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                for operator, (before, after) in zip(operators, pairwise([left, *others]), strict=True):
                    yield before, after, *COMPARISONS[type(operator)]
            case ast.BoolOp(op=operator, values=values):
                words = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield from ((before, after, *words) for before, after in pairwise(values))
            case (
                ast.BinOp(left=before, op=operator, right=after)
                | ast.AugAssign(target=before, op=operator, value=after)
            ) if type(operator) in OPERATORS and not _is_text(before) and not _is_text(after):
                if isinstance(operator, ast.Div) and b"pathlib" in self._source:
                    return
                sign = "=" if isinstance(node, ast.AugAssign) else ""
                old, new = OPERATORS[type(operator)]
                yield before, after, f"{old}{sign}", f"{new}{sign}"

    def _operator(self, before: ast.AST, after: ast.AST, old: str, new: str) -> Iterator[Change]:
        """Yield the change of the operator between two operands; beside it are only brackets and comments."""
        start, end = self._end(before), self._start(after)
        between = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self._source[start:end])
        match = re.search(rb"\s+".join(re.escape(word.encode()) for word in old.split()), between)
        if match:
            yield Change(start + match.start(), start + match.end(), new)

    def _start(self, node: Any) -> int:
        return self._line_starts[node.lineno - 1] + int(node.col_offset)

    def _end(self, node: Any) -> int:
        return self._line_starts[node.end_lineno - 1] + int(node.end_col_offset)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


class BrokenCopyError(Exception):
    """The unchanged clone does not run: nothing that it said of faults would mean anything."""


class Copy:
    """A clone of the last commit with an environment that takes ``ppdm_flow`` from it, and all else from this one."""

    def __init__(self, work: Path, workers: int, limit: float) -> None:
        self.tree = work / "copy"
        self._logs = work / "outputs"
        self._logs.mkdir(exist_ok=True)
        self._python = work / "environment" / "bin" / "python"
        self._workers = workers
        self._limit = limit
        self._unsound: list[str] = []
        self._sound: set[tuple[str, bool]] = set()
        self.revision = _git(HERE, "rev-parse", "HEAD")
        if not self.tree.exists():
            _git(HERE, "clone", "--quiet", str(HERE), str(self.tree))
        _git(self.tree, "fetch", "--quiet", str(HERE), self.revision)
        _git(self.tree, "checkout", "--quiet", "--force", "--detach", self.revision)
        self.restore()
        venv.create(work / "environment", clear=True, symlinks=True)
        (installed,) = {path for path in sys.path if path.endswith("site-packages")}
        (packages,) = (work / "environment").glob("lib/*/site-packages")
        # A path file lists folders and does not read theirs: the editable installation stays out.
        (packages / "copy.pth").write_text(f"{self.tree}\n{installed}\n", encoding="utf-8")

    def check(self) -> None:
        """Raise BrokenCopyError unless processes use the clone and its tests can be collected."""
        code = "import ppdm_flow; print(ppdm_flow.__file__)"
        nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"
        for words in (["-c", code], ["-I", "-c", code], ["-c", nested]):
            done = subprocess.run(
                [str(self._python), *words],
                cwd=self.tree.parent,
                env=_environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            if not done.stdout.startswith(str(self.tree)):
                raise BrokenCopyError(f"ppdm_flow is not that of the copy: {done.stdout or done.stderr}")
        status, output = self._pytest("collection", "--collect-only", "-q", "-n", "0")
        if status != 0:
            raise BrokenCopyError(f"the tests of the unchanged copy cannot be collected:\n{output[-2000:]}")

    def restore(self) -> None:
        """Undo a fault, and what tests may have left in the clone; files that Git ignores stay."""
        _git(self.tree, "checkout", "--quiet", "--force", "HEAD", "--", ".")
        _git(self.tree, "clean", "-fdq")

    def first_failure(self, fault: Fault, name: str, *words: str) -> str | None:
        """Return the first test that fails with the fault and passes without it, or what else the fault broke."""
        name = f"{fault.number:02d}-{name}"
        while True:
            path = self.tree / fault.path
            path.write_bytes(changed(path.read_bytes(), fault.change))
            try:
                left_out = [word for test in self._unsound for word in ("--deselect", test)]
                status, output = self._pytest(name, "-x", "-n", str(self._workers), *left_out, *words)
                failed = self._failed()
            finally:
                self.restore()
            if status in (0, 5):  # 5: the tier has none of these tests
                return None
            if status is None:
                return f"(no end after {self._limit:g} minutes)"
            if not failed:
                return f"(pytest ended with {status}: {output.strip().splitlines()[-1]})"
            for test in failed:
                if self._passes_unchanged(test, f"{name}-unchanged", full="--full" in words):
                    return test
                print(f"    fails without the fault, too: {test}", file=sys.stderr)
            self._unsound += failed

    def _passes_unchanged(self, test: str, name: str, *, full: bool) -> bool:
        if (test, full) not in self._sound:
            words = ["--full"] if full else []
            words += [] if "::" in test else ["--collect-only"]
            if self._pytest(name, "-n", "0", *words, test)[0] != 0:
                return False
            self._sound.add((test, full))
        return True

    def _failed(self) -> list[str]:
        """Return the tests, and modules that could not be collected, of the last run, as pytest keeps them."""
        try:
            return list(json.loads(self._last_failed.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return []

    @property
    def _last_failed(self) -> Path:
        return self.tree / ".pytest_cache" / "v" / "cache" / "lastfailed"

    def _pytest(self, name: str, *words: str) -> tuple[int | None, str]:
        """Run pytest in the clone; return its exit status, None where it took too long, and its output."""
        self._last_failed.unlink(missing_ok=True)
        log = self._logs / f"{name}.txt"
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                [str(self._python), "-m", "pytest", *words],
                cwd=self.tree,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(self._limit * 60)
            except BaseException as fault:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if not isinstance(fault, subprocess.TimeoutExpired):
                    raise
                status = None
        return status, log.read_text(encoding="utf-8", errors="replace")


def _environment() -> dict[str, str]:
    """Return the environment of tests: nothing that leads to this checkout, but its public data sets."""
    data = HERE.parent / "shared" / "data"
    own = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    return {**({"PPDM_DATA": str(data)} if data.is_dir() else {}), **own}


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def judge(copy: Copy, fault: Fault) -> dict[str, Any]:
    """Return the fault's record with the tier and the test that found it, both None where none did."""
    room = next(room for room in (*ROOMS, READER) if room.name == fault.room)
    tests = room_tests(copy.tree, room)
    stages = (
        ("quick", "room", tests),
        ("quick", "rest", [f"--ignore={path}" for path in tests]),
        ("full", "full", ["--full", *tests]),
    )
    if room is READER:
        stages = stages[2:]
    found: dict[str, str | None] = {"found_by": None, "test": None}
    for tier, name, words in stages:
        if test := copy.first_failure(fault, name, *words):
            found = {"found_by": tier, "test": test}
            break
    return {**fault.record(), **found, "revision": copy.revision}


def run_campaign(faults: Sequence[Fault], chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Judge the chosen faults that have no result yet; return the results of all that have one."""
    results = _kept_results(faults, chosen.json)
    todo = [fault for fault in faults if fault.number >= chosen.first and fault.number not in results]
    if chosen.only:
        todo = [fault for fault in faults if fault.number in chosen.only]
    if todo:
        copy = Copy(chosen.work, chosen.workers, chosen.limit)
        copy.check()
        for fault in todo:
            if (copy.tree / fault.path).read_bytes() != (HERE / fault.path).read_bytes():
                raise BrokenCopyError(f"{fault.path} differs from the last commit: commit it first")
            print(f"{fault.number:2d} {fault.path}:{fault.line}", file=sys.stderr)
            results[fault.number] = judge(copy, fault)
            _keep_results(results, chosen)
    return [results[number] for number in sorted(results)]


def _kept_results(faults: Sequence[Fault], file: Path | None) -> dict[int, dict[str, Any]]:
    """Return earlier results of these faults by their number now; those of other faults are dropped."""
    if file is None or not file.exists():
        return {}
    kept = {(r["path"], r["before"], r["after"]): r for r in json.loads(file.read_text(encoding="utf-8"))["faults"]}
    return {f.number: {**kept[f.identity], **f.record()} for f in faults if f.identity in kept}


def _keep_results(results: dict[int, dict[str, Any]], chosen: argparse.Namespace) -> None:
    if chosen.json is None:
        return
    document = {"seed": chosen.seed, "faults": [results[number] for number in sorted(results)]}
    draft = chosen.json.with_name(f"{chosen.json.name}.draft")
    draft.write_text(json.dumps(document, indent=1), encoding="utf-8")
    draft.replace(chosen.json)


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return a line for each result, the survivors in full, and the totals."""
    lines = [
        f"{r['number']:2d}  {r['found_by'] or '-':5}  {r['room']:19}  {r['path']}:{r['line']}  {r['test'] or ''}"
        for r in results
    ]
    for result in results:
        if result["found_by"] != "quick":
            told = "found by no test" if result["found_by"] is None else "found in the full tier only"
            lines += ["", f"{result['number']} {told}: {result['path']}:{result['line']}"]
            lines += [f"    before: {result['before']}", f"    after:  {result['after']}"]
            lines += [f"    explanation: {result['explanation']}"] if result["explanation"] else []
    quick = sum(result["found_by"] == "quick" for result in results)
    full = sum(result["found_by"] is not None for result in results)
    return "\n".join([*lines, "", f"quick: {quick} of {len(results)}, full: {full} of {len(results)}"])


def main() -> int:
    """List the faults, or run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--list", action="store_true", help="print the faults and run nothing")
    parser.add_argument("--reader", action="store_true", help="sixty faults in the reader, judged by its own tests")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where results are kept")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="NUMBER", help="begin with this fault")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="only these, even if they have a result")
    parser.add_argument("--workers", type=int, default=2, help="processes of pytest")
    parser.add_argument("--limit", type=float, default=60, metavar="MINUTES", help="of one run of pytest")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "ppdm-flow-faults")
    chosen = parser.parse_args()
    try:
        return carry_out(chosen)
    except (NoModulesError, BrokenCopyError, BlockingIOError) as fault:
        parser.exit(2, f"{fault}\n")


def carry_out(chosen: argparse.Namespace) -> int:
    """Do what was chosen; return the exit status."""
    if chosen.reader:
        faults = draw_in_room(HERE, READER, chosen.seed, FAULTS_OF_READER)
    else:
        faults = draw_faults(HERE, chosen.seed)
    if chosen.list:
        for f in faults:
            print(f"{f.number:2d}  {f.room}  {f.path}:{f.line}\n    before: {f.before}\n    after:  {f.after}")
        return 0
    chosen.work = chosen.work.resolve()
    chosen.work.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with (chosen.work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two campaigns would change each other's clone
        results = run_campaign(faults, chosen)
    print(table(results))
    return int(any(r["found_by"] is None and not r["explanation"] for r in results))


if __name__ == "__main__":
    sys.exit(main())
