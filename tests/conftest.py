"""What all tests share: the command line in a process of its own, the public datasets where they are at hand, and fakes
behind the ports of audits: small tables in memory, and DuckDB over the same cells.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import configuration, settings

from ppdm_flow.api.explain.cards import figure_pages
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sources import statistical
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.quoting import untold
from ppdm_flow.testing.view import InMemoryPairs, InMemorySql, InMemoryView

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / "pipelines/data"))  # the generator of transactions, `quest`
sys.path.insert(0, str(ROOT / "tests"))

from tiers import MARKERS, mark_folders, split_tiers, take_shard  # noqa: E402  # beside this file
from warm import Probes, Programs  # noqa: E402  # the same

configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "ppdm-flow-hypothesis")

RATIOS = {"share", "probability", "ratio", "nats", "distance", "index", "correlation"}
"""Units of figures that mean nothing without a formula."""

LONGEST = (
    "adversary/",
    "cluster/",
    "engine/approval/test_kills",
    "mining/people/",
    "mining/recoding/test_adult.py",
    "test_recipes.py",
)
"""Tests of the full tier that take half a minute or more each, and folders of such."""

LEFT_OUT = pytest.StashKey[int]()

Cli = Callable[..., subprocess.CompletedProcess[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose a tier."""
    group = parser.getgroup("tiers")
    group.addoption("--full", action="store_true", help="run every test, not only the quick tier")
    group.addoption(
        "--rest", action="store_true", help="run what the quick tier left out, and properties with more examples"
    )
    group.addoption("--shard", metavar="N/COUNT", help="run one share of the test modules, such as 2/4")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and give properties as many examples as the tier has.

    Where interrupts are ignored, as below `nohup`, processes of tests would inherit that, and no test could send one.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.fsync = lambda _: None  # a run waits for the disk some thirty times; tests of what is lost replace it themselves
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}(quick=0): {meaning}; full tier only, but for `quick` items")
    settings.load_profile("full" if config.getoption("full") or config.getoption("rest") else "quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage: there is none among twenty thousand tests, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the tier leaves out, and begin with what takes longest, lest one process does it in the end."""
    mark_folders(items, ROOT / "tests")
    if shard := config.getoption("shard"):
        items[:] = take_shard(items, shard)
    if config.getoption("rest"):
        quick, rest = split_tiers(items)
        items[:] = [*(item for item in quick if hasattr(item.obj, "hypothesis")), *rest]
    elif not config.getoption("full"):
        items[:], left_out = split_tiers(items)
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = len(left_out)
    items.sort(key=lambda item: not item.path.relative_to(ROOT / "tests").as_posix().startswith(LONGEST))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the process that prints know how many tests were left out: with workers it has collected none itself."""
    gc.unfreeze()  # else DuckDB complains at the end of what it takes for leaks
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take that number from a worker; all workers have collected the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests the quick tier has left out, and how to run them."""
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"quick tier: {left_out:,} tests were left out; `pytest --full` runs all")


@pytest.fixture(scope="session", autouse=True)
def _compared_kernels() -> Iterator[None]:
    """Carry kernels out by Python besides, where ``PPDM_KERNELS_COMPARED`` names a file for the names of those."""
    if "PPDM_KERNELS_COMPARED" not in os.environ:
        yield
        return
    from kernel_forms import Comparison  # beside this file

    comparison = Comparison()
    with pytest.MonkeyPatch.context() as patched:
        comparison.patch(patched)
        yield
    Path(os.environ["PPDM_KERNELS_COMPARED"]).write_text("\n".join(sorted(comparison.carried_out)))


@pytest.fixture(scope="session", autouse=True)
def _probes() -> Iterator[None]:
    """Let readers of statistical files look at each in a fork of one process, instead of a new Python."""
    probes = Probes()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(statistical, "subprocess", probes)
        yield
    probes.close()


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **(env or {})}


@pytest.fixture(scope="session")
def new_processes() -> Cli:
    """Run ``ppdm-flow`` with these words in a new process, as users do; returns it finished."""

    def run(
        *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ppdm_flow", *map(str, words)],
            cwd=cwd or ROOT,
            env=_environment(env),
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def cli(new_processes: Cli) -> Iterator[Cli]:
    """Run ``ppdm-flow`` with these words; returns the finished process: a fork of one that has its imports.

    What is imported, and what a start takes, are tested with new processes.
    """
    programs = Programs()

    def run(
        *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = programs.run([*map(str, words)], cwd or ROOT, _environment(env), timeout=1200)
        return done or new_processes(*words, cwd=cwd, env=env)

    yield run
    programs.close()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public datasets: ``PPDM_DATA``, or ``../shared/data`` beside the checkout."""
    folder = Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public datasets are not at hand: set PPDM_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def only_run() -> Callable[[Path], Path]:
    """The one run directory below ``--out``."""

    def find(out: Path) -> Path:
        runs = [p.parent for p in out.glob("*/*/manifest.json")]
        assert len(runs) == 1, runs
        return runs[0]

    return find


@pytest.fixture(scope="session")
def report_of() -> Callable[[Path], dict[str, Any]]:
    """Read ``report.json`` of a run directory; each of its figures has a page."""

    def read(run: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((run / "report.json").read_text())
        silent = [metric for metric in found["metrics"] if not figure_pages(metric)]
        assert not silent, silent
        return found

    return read


@pytest.fixture(scope="session")
def cards_hold() -> Callable[[str, str], AbstractContextManager[None]]:
    """Hold the built-in plugins of a group to their cards: what ``method`` gives has no figure that they do not tell.

    Return a context: `cards_hold("audits", "measure")`.
    """
    return _cards_hold


@contextmanager
def _cards_hold(group: str, method: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for plugin in registry.listed(group):
            if plugin.built_in:
                spec = registry.load(group, plugin.name)
                algorithm = spec.load()
                patch.setattr(algorithm, method, _held(getattr(algorithm, method), spec.info))
        yield


def _held(plain: Callable[..., Any], info: PluginInfo) -> Callable[..., Any]:
    def called(self: Any, *args: Any, **more: Any) -> Any:
        outcome = plain(self, *args, **more)
        measured = (m.metric for m in getattr(outcome, "measured", ()))
        said = list(untold(info, [*outcome.figures, *measured]))
        assert not said, "; ".join(said)
        for metric, figure in outcome.figures.items():
            told = info.figures[info.figure_of(metric) or ""]
            fine = told.formula or figure.value is None or figure.unit not in RATIOS
            assert fine, f"`{metric}` of `{info.name}` is a {figure.unit}: of what?"
        return outcome

    return called


ROLES = {
    "q": Role.QUASI_IDENTIFIER,
    "s": Role.SENSITIVE,
    "t": Role.TARGET,
    "w": Role.WEIGHT,
    "i": Role.IDENTIFIER,
    "u": Role.SUBJECT,
    "x": Role.INSENSITIVE,
}


@dataclass(frozen=True)
class Case:
    """An original, a candidate, and the context to judge them in."""

    original: InMemoryView
    candidate: InMemoryView
    ctx: AuditContext = field(repr=False)

    @property
    def args(self) -> tuple[InMemoryView, InMemoryView, AuditContext]:
        return self.original, self.candidate, self.ctx

    def but(self, **changes: object) -> Case:
        return replace(self, ctx=replace(self.ctx, **changes))


def view(columns: Mapping[str, list[str | None]] | Table, roles: Mapping[str, Role]) -> InMemoryView:
    table = columns if isinstance(columns, Table) else Table.of(columns)
    return InMemoryView(
        table,
        Schema(tuple(Field(n, roles[n]) for n in table.names)),
        partition_rows=7 if len(table) < 1000 else 1 << 18,
    )


def case(
    original: Mapping[str, list[str | None]] | Table,
    released: Mapping[str, list[str | None]] | Table,
    roles: str | Mapping[str, Role],
    *,
    sources: Mapping[str, str] | None = None,
    changes: Mapping[str, tuple[tuple[str, Change], ...]] | None = None,
    paired: bool = True,
    nulls: Nulls = Nulls.OWN_CATEGORY,
    **more: object,
) -> Case:
    """``roles``: a letter for each column of the original, or a mapping; ``sources``: released name → source name."""
    names = original.names if isinstance(original, Table) else tuple(original)
    role_of = dict(zip(names, (ROLES[r] for r in roles), strict=True)) if isinstance(roles, str) else dict(roles)
    origin = {n: (sources or {}).get(n, n) for n in (released.names if isinstance(released, Table) else released)}
    before = view(original, role_of)
    after = view(released, {n: role_of[s] for n, s in origin.items()})
    done = changes or {}
    facts = {n: AttributeFacts(n, role_of[s], source=s, changes=done.get(n, ())) for n, s in origin.items()}
    ctx = AuditContext(
        release="public",
        attributes=facts,
        original_attributes={n: AttributeFacts(n, role_of[n], source=n) for n in names},
        pairs=InMemoryPairs(before.whole, after.whole) if paired else None,
        sql=InMemorySql({"candidate": after.whole, "original": before.whole}),
        nulls=nulls,
    )
    return Case(before, after, replace(ctx, **more))


@pytest.fixture(scope="session")
def build() -> SimpleNamespace:
    """The builders above, as a fixture: tests import nothing from one another."""
    return SimpleNamespace(case=case, view=view, View=InMemoryView, Pairs=InMemoryPairs, Sql=InMemorySql, roles=ROLES)


@pytest.fixture(scope="session")
def agree():
    """Compare a recheck with its measure, as the engine does."""

    def check(audit: object, example: Case, least: int = 1) -> dict[str, float | int | None]:
        figures = audit.measure(*example.args).figures
        again = audit.recheck(*example.args)
        assert len(again) >= least
        for name, value in again.items():
            mine = figures[name].value
            if value is None or mine is None:
                assert value == mine, name
            else:
                assert abs(value - mine) <= 1e-9 * max(1.0, abs(mine)), (name, value, mine)
        return {name: f.value for name, f in figures.items()}

    return check
