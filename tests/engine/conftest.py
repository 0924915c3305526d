from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.options import RunOptions, RunOutcome
from ppdm_flow.engine.reading.binding import columns
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import load
from ppdm_flow.sdk.spec import PluginSpec

SERVERS = {"postgres", "mariadb", "place", "store"}
"""Fixtures that start a server: all tests that have one are marked."""
CANARY = "zqcanary"
KEY = RunKey(bytes(range(32)))
HEADER = "name,age,town,illness,score"

POLICY = """version: 1
name: clinic
source: {path: table.csv, missing: ["?", ""]}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
  score: {role: insensitive}
privacy:
  k_anonymity: {k: 2}
  sensitivities:
    illness: {default: {tolerance: 4}}
steps:
  bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}
  bare: {use: drop, with: {attributes: [illness]}}
  perturb: {use: fine_grain_perturbation, input: bands}
releases:
  study: {path: study.csv}
  other: {from: bare, path: sub/other.parquet}
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server, before tests are left out by their markers."""
    for item in items:
        if SERVERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("server")


class LocalSpec(PluginSpec):
    """A plugin whose algorithm is a class of a test."""

    __slots__ = ("local",)

    def load(self) -> Any:
        return self.local


def swapped(plan: Plan, name: str, algorithm: type) -> Plan:
    """The plan with another algorithm in the step or audit of that name."""

    def other(node: Any) -> Any:
        if node.name != name:
            return node
        spec = node.bound.spec
        local = LocalSpec(spec.info, spec.params, spec.algorithm, spec.effect)
        object.__setattr__(local, "local", algorithm)
        return replace(node, bound=replace(node.bound, spec=local))

    return replace(plan, steps=tuple(map(other, plan.steps)), audits=tuple(map(other, plan.audits)))


def rows(count: int, seed: int = 5) -> list[list[str]]:
    """People, with a canary in every column but the age."""
    draw = np.random.default_rng(seed)
    ages = draw.integers(0, 100, count)
    towns = draw.integers(0, 4, count)
    ills = draw.integers(0, 6, count)
    return [
        [f"{CANARY}name{i}", str(ages[i]), f"{CANARY}town{towns[i]}", f"{CANARY}ill{ills[i]}", f"{CANARY}{i % 97}"]
        for i in range(count)
    ]


@dataclass
class Bench:
    """A folder with data and a policy, and runs of it."""

    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "runs"

    def data(
        self, found: list[list[str]], header: str = "name,age,town,illness,score", name: str = "table.csv"
    ) -> Path:
        path = self.folder / name
        path.write_text("\n".join([header, *(",".join(r) for r in found), ""]))
        return path

    def plan(self, policy: str = POLICY, data: Path | None = None) -> Plan:
        """Compile for the columns of the data; the policy must be in order."""
        path = self.folder / "policy.yaml"
        path.write_text(policy)
        loaded = load(path)
        first = compile_policy(loaded)
        assert first.plan is not None, first.diagnostics
        found = columns(first.plan, data)
        compiled = compile_policy(loaded, found)
        assert not has_errors(compiled.diagnostics), compiled.diagnostics
        assert compiled.plan is not None
        return compiled.plan

    def process(self, seconds: float | None = None) -> int:
        """The status of `ppdm-flow run` as a process of its own, killed after so many seconds."""
        with subprocess.Popen(
            [sys.executable, "-m", "ppdm_flow", "run", str(self.folder / "policy.yaml"), "--out", str(self.out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(seconds)
            run.kill()
        return run.returncode

    def process_seconds(self) -> float:
        """How long such a run takes here, once its kernels are compiled: what moments to kill it at are shares of."""
        durations = []
        for _ in range(2):
            start = time.monotonic()
            assert self.process() == 0
            durations.append(time.monotonic() - start)
        return min(durations)

    def run(
        self, plan: Plan, data: Path | None = None, listener: Listener = ignore_events, **options: Any
    ) -> RunOutcome:
        documents = options.pop("documents", lambda report: {})
        chosen = RunOptions(**{"key": KEY, **options})
        return execute(plan, data, self.out, chosen, listener, documents)

    def fails(self, plan: Callable[[], Plan] | Plan, data: Path | None = None, **options: Any) -> PpdmError:
        """The error of a run that fails; it quotes no value and leaves nothing behind."""
        with pytest.raises(PpdmError) as caught:
            self.run(plan() if callable(plan) else plan, data, **options)
        error = caught.value
        shown = f"{error} {[vars_of(d) for d in error.diagnostics]} {error.__cause__!r}"
        assert CANARY not in shown
        assert error.__suppress_context__ or error.__context__ is None or CANARY not in repr(error.__context__)
        assert left(self.out) == []
        return error


def vars_of(diagnostic: Any) -> str:
    return f"{diagnostic.message} {diagnostic.hint} {diagnostic.help} {diagnostic.notes}"


def left(out: Path) -> list[Path]:
    """Every file and folder of runs below ``out``, hidden ones too."""
    return [p for policy in out.glob("*") for p in policy.glob("*")] if out.exists() else []


def released(run: Path, folder: str = "released") -> Mapping[str, bytes]:
    """The bytes of every released file by its path."""
    base = run / folder
    return {p.relative_to(base).as_posix(): p.read_bytes() for p in sorted(base.rglob("*")) if p.is_file()}


def manifest(run: Path) -> dict[str, Any]:
    return json.loads((run / "manifest.json").read_text())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def tools() -> Any:
    """What tests need beside the bench: conftest cannot be imported by name here."""

    class Tools:
        pass

    for tool in (rows, released, manifest, left, swapped):
        setattr(Tools, tool.__name__, staticmethod(tool))
    Tools.CANARY, Tools.POLICY, Tools.KEY = CANARY, POLICY, KEY
    return Tools


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of the tests' own; see ``tests/postgres.py``."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra `sql` is not installed")
    spec = spec_from_file_location("ppdm_tests_postgres", Path(__file__).parents[1] / "postgres.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        server = module.Postgres.start()
    except module.NoServerError as error:
        pytest.skip(str(error))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Any]:
    """A MariaDB server of the tests' own; see ``tests/mariadb.py``."""
    pytest.importorskip("pymysql", reason="the extra `mysql` is not installed")
    spec = spec_from_file_location("ppdm_tests_mariadb", Path(__file__).parents[1] / "mariadb.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        server = module.MariaDb.start()
    except module.NoServerError as error:
        pytest.skip(str(error))
    yield server
    server.stop()
