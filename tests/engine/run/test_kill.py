"""A run that is killed at any moment leaves nothing that looks like a release, unless it is one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ppdm_flow.engine.candidates.unpublished import is_unpublished
from ppdm_flow.engine.verify.verify import verify

TIMES = [("time", round(0.02 + i * 0.05, 3)) for i in range(21)]
EVENTS = [("event", round(i / 16, 4)) for i in range(1, 17)]
KILLS = TIMES + EVENTS


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of runs that were killed, and how each of them ended."""
    return tmp_path_factory.mktemp("killed")


def outcomes(bench, tools, folder: Path) -> list[dict]:
    bench.data(tools.rows(800))
    bench.plan()
    words = [sys.executable, str(Path(__file__).with_name("zygote.py")), str(bench.folder / "policy.yaml"), str(folder)]
    done = subprocess.run([*words, json.dumps(KILLS)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.kill
def test_kill_9_at_many_moments(bench, tools, killed):
    first, *kills = outcomes(bench, tools, killed)
    assert first["status"] == 0
    assert len(kills) == len(KILLS)
    assert {k["status"] for k in kills if k["how"] == "event"} == {signal.SIGKILL}
    finished = unfinished = 0
    for number in range(len(KILLS)):
        for policy in (killed / f"k{number}").glob("*"):
            for run in policy.iterdir():
                if is_unpublished(run):
                    unfinished += 1
                    assert not (run / "released").exists()
                    assert verify(run, None, None).verdict == "not published"
                    assert not verify(run, None, None).holds
                else:
                    finished += 1
                    found = verify(run, None, None)
                    assert found.holds, (number, found)
                    assert found.verdict == "released"
                    assert {p.name for p in (run / "released").iterdir()} == {"study", "other"}
    assert unfinished >= len(EVENTS)
    assert finished <= len(KILLS) - unfinished


def test_the_next_run_removes_what_the_dead_ones_left_and_nothing_else(bench, tools):
    bench.data(tools.rows(300))
    plan = bench.plan()
    folder = bench.out / plan.policy
    (folder / ".tmp-99999-dead" / "released").mkdir(parents=True)
    (folder / ".tmp-99999-dead" / "released" / "study.csv").write_text("x")
    (folder / "kept").mkdir()
    seen: list[str] = []
    run = bench.run(plan, listener=lambda _: seen.extend(p.name for p in folder.glob(".tmp-*"))).run_dir
    assert sorted(p.name for p in folder.iterdir()) == sorted(["kept", run.name])
    assert ".tmp-99999-dead" not in seen
    assert all(name.startswith(".tmp-") for name in seen)


@pytest.mark.slow
def test_two_runs_at_once_leave_each_other_alone(bench, tools):
    bench.data(tools.rows(300))
    plan = bench.plan()
    inner: list[Path] = []

    def another(event) -> None:
        if type(event).__name__ == "RequirementJudged" and not inner:
            inner.append(Path())
            inner[0] = bench.run(plan).run_dir

    outer = bench.run(plan, listener=another).run_dir
    assert outer != inner[0]
    for run in (outer, inner[0]):
        assert verify(run, None, None).holds
    assert tools.released(outer) == tools.released(inner[0])


@pytest.mark.slow
def test_an_interruption_leaves_nothing(bench, tools):
    bench.data(tools.rows(300))
    plan = bench.plan()
    count = 0

    def count_up(_event) -> None:
        nonlocal count
        count += 1

    bench.run(plan, listener=count_up)
    done = tools.left(bench.out)
    for at in range(0, count, 5):
        seen = 0

        def interrupt(_event, at=at) -> None:
            nonlocal seen
            seen += 1
            if seen == at + 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            bench.run(plan, listener=interrupt)
        assert tools.left(bench.out) == done
