"""Work on what people typed or sent: in processes with limits, of which nobody has all."""

from __future__ import annotations

import importlib
import os
import pickle
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from sites import PATIENCE, Server

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.page.http import turns
from ppdm_flow.page.looks import templates
from ppdm_flow.page.services import bounded, bounded_process
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.bounded import CHECKS, BoundedCalls, LimitExceededError, in_part
from ppdm_flow.page.services.places import PERSON, WorkPlaces
from ppdm_flow.page.services.policies import checks
from ppdm_flow.page.views.policies import comparing
from ppdm_flow.page.views.policies.comparing import compared
from ppdm_flow.page.views.runs.mending import offers
from ppdm_flow.page.views.runs.routes import policy_file

POLICY = """version: 1
name: p
source: {path: a.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases: {r: {path: r.csv}}
"""


SMALL = BoundedCalls(seconds=1, memory=200, output=1, places=4, each=4)
PATIENT = BoundedCalls(seconds=60, memory=200, output=1, places=4, each=4)
"""On a busy machine a call waits long for its first turn."""


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the functions of this module be found by the processes of calls."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[2]))))
    bounded.stop()
    until = time.monotonic() + PATIENCE
    while True:  # a call that waits for imports may take longer than it may
        try:
            CHECKS.run(double, 1)
        except LimitExceededError:
            assert time.monotonic() < until
        else:
            return


def double(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def environment() -> tuple[str | None, str]:
    return os.environ.get("SOME_WORD"), str(Path.cwd())


def fail(kind: str) -> None:
    if kind == "ours":
        raise PolicyError(Diagnostic("PPF100", "nothing is there"))
    raise ValueError("a value of the data")


def spin() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(60)


def fill() -> int:
    return len(bytearray(2**30))


def write_out() -> bytes:
    return b"x" * 2**22


def crash() -> None:
    os.abort()


def leave_folder() -> None:
    tempfile.mkdtemp()
    spin()


class Foreign:
    def __reduce__(self):
        return os.system, ("true",)


def foreign() -> Foreign:
    return Foreign()


@pytest.mark.slow
def test_a_call_is_carried_out_in_another_process(monkeypatch, tmp_path):
    (number, one), (_, other) = PATIENT.run(double, 4), PATIENT.run(double, number=5)
    assert number == 8
    assert len({one, other, os.getpid()}) == 3
    monkeypatch.setenv("SOME_WORD", "known")
    monkeypatch.chdir(tmp_path)
    assert PATIENT.run(environment) == ("known", str(tmp_path))
    with pytest.raises(PolicyError, match="PPF100"):
        PATIENT.run(fail, "ours")
    with pytest.raises(RuntimeError) as caught:
        PATIENT.run(fail, "another")
    assert "ValueError" in str(caught.value)
    assert "data" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("work", [spin, fill, write_out, crash])
def test_a_call_that_takes_too_much_is_ended(work):
    with pytest.raises(LimitExceededError, match="PPF997"):
        SMALL.run(work)
    assert PATIENT.run(double, 1)[0] == 2


@pytest.mark.slow
def test_a_call_that_is_killed_leaves_no_files(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LimitExceededError):
        SMALL.run(leave_folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_part_that_fails_or_answers_too_much_leaves_the_others():
    assert PATIENT.run(parts) == [None, None, None, (2, 1)]


def parts() -> list[object]:
    found: list[object] = [in_part(0.1, 100, spin), in_part(1, 100, fail, "data"), in_part(1, 100, write_out)]
    doubled = in_part(60, 100, double, 1)
    return [*found, None if doubled is None else (doubled[0], int(doubled[1] != os.getpid()))]


@pytest.mark.slow
def test_a_call_that_only_waits_is_ended_too():
    with pytest.raises(LimitExceededError, match="PPF997"):
        BoundedCalls(seconds=1, memory=200, output=1, places=1, each=1).run(sleep)


@pytest.mark.slow
def test_an_answer_holds_nothing_that_could_be_called():
    with pytest.raises(pickle.UnpicklingError):
        PATIENT.run(foreign)


@pytest.mark.slow
@pytest.mark.kill
def test_a_killed_server_of_forks_is_begun_again():
    PATIENT.run(double, 1)
    bounded._FORKS._process.kill()
    bounded._FORKS._process.wait()
    assert PATIENT.run(double, 2)[0] == 4


@pytest.mark.slow
def test_limits_are_set_before_what_was_sent_is_read(monkeypatch):
    order = []
    monkeypatch.setattr(bounded_process, "_limit", lambda _limits: order.append("limit"))
    monkeypatch.setattr(bounded_process, "_answer", lambda _stream: order.append("answer") or b"")
    monkeypatch.setattr(bounded_process.os, "_exit", lambda _status: None)
    own, other = bounded.socket.socketpair()
    with own:
        own.sendall(pickle.dumps(({"output": 10}, dict(os.environ), str(Path.cwd()))))
        bounded_process._carry_out(other.detach())
    assert order == ["limit", "answer"]


def test_one_person_does_not_take_all_places():
    places, entered, leave = WorkPlaces(2, 1), [], threading.Event()

    def work(person: str) -> None:
        PERSON.set(person)
        with places.taken():
            entered.append(person)
            leave.wait(PATIENCE)

    threads = [threading.Thread(target=work, args=["mallory"]) for _ in range(3)]
    threads.append(threading.Thread(target=work, args=["alice"]))
    for thread in threads:
        thread.start()
    until = time.monotonic() + PATIENCE
    while len(entered) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert sorted(entered) == ["alice", "mallory"]
    leave.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(entered) == ["alice", "mallory", "mallory", "mallory"]


@pytest.mark.slow
def test_what_is_typed_is_parsed_by_no_thread_of_the_server(server: Server, monkeypatch):
    """Each page with a typed or saved text answers, though none of what reads policies works in this process."""
    steward = server.browser(PageRole.STEWARD)
    text = POLICY
    (server.site.settings.policies / "p.yaml").write_text(text)

    def forbidden(*_words, **_more):
        raise AssertionError("parsed by the server")

    for module, names in (
        ("ppdm_flow.policy.text.parse", ["parse"]),
        ("ppdm_flow.policy.edit.changes", ["parse"]),
        ("ppdm_flow.policy.files", ["parse"]),
        ("ppdm_flow.page.views.policies.comparing", ["changed_lines"]),
        ("ppdm_flow.api.sweep.grid", ["_parts"]),
    ):
        for name in names:
            monkeypatch.setattr(importlib.import_module(module), name, forbidden)
    digest = server.site.policies.read("p.yaml").digest
    for answer in (
        steward.send("/policies/p.yaml/check", text=text),
        steward.send("/policies/p.yaml/propose", text=text + "# more\n", digest=digest),
        steward.send("/policies/p.yaml/form", text=text, base=text, digest=digest),
        steward.send("/policies/p.yaml/edit", text=text + "# saved\n", digest=digest),
        steward.send("/policies/p.yaml/sweep", path_1="privacy.k_anonymity.k", values_1="2..5"),
        *map(steward.get, ("/policies", "/policies/p.yaml", "/policies/p.yaml/edit", "/policies/p.yaml/form")),
        *map(steward.get, ("/policies/p.yaml/resolved", "/policies/p.yaml/changes", "/policies/p.yaml/sweep")),
        *map(steward.get, ("/waivers", "/policies/p.yaml/hierarchies")),
    ):
        assert answer.status_code in (200, 303), (answer.request.url, answer.text)


@pytest.mark.slow
def test_a_check_that_takes_too_long_is_a_finding(server: Server, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", BoundedCalls(seconds=1, memory=100, output=0, places=1, each=1))
    checked = server.site.checks.check("p.yaml", "version: 1\n")
    assert [each.code for each in checked.diagnostics] == ["PPF997"]
    assert not checked.valid


def states_after_a_look(server: Server) -> dict[str, checks.FileState | None]:
    checks_ = server.site.checks
    checks_.look()
    return checks_._shown(checks_._stamps())


def test_a_list_waits_for_no_look(server: Server, monkeypatch):
    """A user who saves files all the time keeps nobody waiting: lists show what was known before."""
    (server.site.settings.policies / "a.yaml").write_text(POLICY)
    before = states_after_a_look(server)
    begun, done = threading.Event(), threading.Event()

    def never_ready(*_words):
        begun.set()
        done.wait(PATIENCE)
        return {}

    monkeypatch.setattr(BoundedCalls, "run", never_ready)
    for patience in ("_SECONDS", "_LOOKS", "_MOMENT"):
        monkeypatch.setattr(checks, patience, 0)
    (server.site.settings.policies / "b.csv").write_text("a,b\n")
    assert server.site.checks.states() == before
    assert begun.wait(PATIENCE)
    (server.site.settings.policies / "c.yaml").write_text(POLICY)
    assert server.site.checks.states() == before
    done.set()
    server.site.checks._begun().join(PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        'approvals: {roles: [owner], signers: "\\0"}',
        f"audits: {{x: {{use: linkage, with: {{external: {'a' * 1_000}}}}}}}",
        f"extends: {'a/' * 3_000}b.yaml",
    ],
)
def test_a_text_whose_check_fails_leaves_the_states_of_others(server: Server, more):
    folder = server.site.settings.policies
    (folder / "a.yaml").write_text(POLICY + more + "\n")
    (folder / "b.yaml").write_text(POLICY)
    states = states_after_a_look(server)
    assert states["b.yaml"] == checks.FileState(0, 0)
    assert states["a.yaml"] is not None
    steward = server.browser(PageRole.STEWARD)
    assert [steward.get(f"/policies/a.yaml{page}").status_code for page in ("", "/edit")] == [200, 200]


@pytest.mark.slow
def test_a_look_goes_on_after_a_failure(server: Server, monkeypatch):
    folder, run = server.site.settings.policies, BoundedCalls.run
    for name in "ab":
        (folder / f"{name}.yaml").write_text(POLICY)

    def fails(self, function, *words, **named):
        if function is checks.states_of and "a.yaml" in words[1]:
            raise RuntimeError("a bounded call failed")
        return run(self, function, *words, **named)

    monkeypatch.setattr(BoundedCalls, "run", fails)
    assert states_after_a_look(server) == {"a.yaml": None, "b.yaml": checks.FileState(0, 0)}


@pytest.mark.slow
def test_a_file_that_takes_too_long_leaves_the_states_of_others(server: Server, monkeypatch):
    tiny = BoundedCalls(seconds=1, memory=1_024, output=1, places=1, each=1)
    monkeypatch.setattr(checks, "CHECKS", tiny)
    for name in "ab":
        (server.site.settings.policies / f"{name}.yaml").write_text(POLICY)
    assert states_after_a_look(server) == {"a.yaml": checks.FileState(0, 0), "b.yaml": checks.FileState(0, 0)}
    many = "".join(f"  s{n}: {{use: drop, with: {{attributes: [age]}}}}\n" for n in range(8_000))
    (server.site.settings.policies / "b.yaml").write_text(POLICY + "steps:\n" + many)
    states = [states_after_a_look(server) for _ in range(3)]  # a slow machine finds one by the next look
    assert states[-1] == {"a.yaml": checks.FileState(0, 0), "b.yaml": None}
    assert "not looked at" in server.browser(PageRole.STEWARD).get("/policies").text
    assert "not looked at" in server.browser(PageRole.STEWARD).get("/waivers").text


@pytest.mark.slow
def test_the_states_of_many_files_are_found_by_one_call_after_another(server: Server, monkeypatch):
    monkeypatch.setattr(checks, "_SECONDS", 0)
    monkeypatch.setattr(checks, "_TOGETHER", 2)
    for name in "abc":
        (server.site.settings.policies / f"{name}.yaml").write_text(POLICY)
    states = partial(states_after_a_look, server)
    assert [sorted(states()) for _ in range(3)] == [["a.yaml", "b.yaml"], *(["a.yaml", "b.yaml", "c.yaml"],) * 2]
    (server.site.settings.policies / "a.yaml").write_text(POLICY.replace("k: 5", "k: five"))
    assert states()["a.yaml"].errors > 0


@pytest.mark.slow
def test_a_file_keeps_its_state_while_others_change_all_the_time(server: Server, monkeypatch):
    monkeypatch.setattr(checks, "_SECONDS", 0)
    monkeypatch.setattr(checks, "_TOGETHER", 2)
    folder, states = server.site.settings.policies, partial(states_after_a_look, server)
    for name in "abcz":
        (folder / f"{name}.yaml").write_text(POLICY)
    for number in range(3):
        (folder / "a.yaml").write_text(f"{POLICY}# {number}\n")
        last = states()
    assert last["z.yaml"] == checks.FileState(0, 0)
    (folder / "z.yaml").write_text(POLICY.replace("k: 5", "k: five"))
    assert states()["z.yaml"].errors > 0  # what has changed comes first
    (folder / "z.yaml").unlink()
    assert "z.yaml" not in states()


@pytest.mark.slow
def test_what_takes_long_is_looked_at_after_all_others(server: Server, monkeypatch):
    """However often somebody changes a file, the files of others have their states on the first look."""
    monkeypatch.setattr(checks, "_SECONDS", 1)
    folder, many = server.site.settings.policies, HEAVY
    for name in ("a1", "a2"):
        (folder / f"{name}.yaml").write_text(POLICY + "steps:\n" + many)
    (folder / "z.yaml").write_text(POLICY)
    states = partial(states_after_a_look, server)
    for _ in range(4):
        last = states()
    assert last == {"a1.yaml": None, "a2.yaml": None, "z.yaml": checks.FileState(0, 0)}
    (folder / "a1.yaml").write_text(POLICY + "steps:\n" + many + "# more\n")
    assert states()["z.yaml"] == checks.FileState(0, 0)


HEAVY = "".join(f"  s{n}: {{use: drop, with: {{attributes: [age]}}}}\n" for n in range(8_000))


@pytest.mark.slow
def test_files_that_take_long_under_new_names_leave_the_states_of_others(server: Server, monkeypatch):
    """A file that is renamed is another one each time, and first with all that are new."""
    monkeypatch.setattr(checks, "_SECONDS", 1)
    folder = server.site.settings.policies
    for name in ("a1", "a2", "a3", "a4", "a5", "a6"):
        (folder / f"{name}.yaml").write_text(f"{POLICY}steps:\n{HEAVY}# {name * int(name[1])}\n")
    (folder / "z.yaml").write_text(POLICY)
    states_after_a_look(server)
    for number in range(2):
        (folder / "z.yaml").write_text(POLICY + f"# {number}\n")
        (folder / f"a{number + 1}.yaml").rename(folder / f"b{number}.yaml")
        assert states_after_a_look(server)["z.yaml"] == checks.FileState(0, 0)


@pytest.mark.slow
def test_files_of_each_person_take_turns(server: Server, monkeypatch):
    """However many files one person saves, and how often, those of others have their states in the first look."""
    monkeypatch.setattr(checks, "_SECONDS", 0)
    policies = server.site.policies
    for number in range(6):
        policies.create(f"a{number}.yaml", f"{POLICY}# {number}\n", server.users[PageRole.STEWARD])
    policies.create("z.yaml", POLICY, server.users[PageRole.ADMINISTRATOR])
    (policies.folder / "disk.yaml").write_text(POLICY)
    monkeypatch.setattr(checks, "_TOGETHER", 3)
    names = policies.history.in_turns(sorted(policies.names()))
    assert names[:3] == ["a0.yaml", "disk.yaml", "z.yaml"]
    assert set(states_after_a_look(server)) == {"a0.yaml", "disk.yaml", "z.yaml"}
    for _ in range(2):
        states_after_a_look(server)
    assert set(states_after_a_look(server)) == set(names)


@pytest.mark.slow
def test_who_uses_a_template_is_told_though_a_policy_takes_long(server: Server, monkeypatch):
    folder = server.site.settings.policies
    (folder / "house.yaml").write_text("version: 1\nnulls: exclude\nfloors: {privacy.k_anonymity.k: '>= 3'}\n")
    (folder / "between.yaml").write_text("version: 1\nextends: [house.yaml]\n")
    (folder / "own.yaml").write_text(POLICY + "extends: [house.yaml]\n")
    (folder / "second.yaml").write_text(POLICY + "extends: [between.yaml]\n")
    (folder / "alone.yaml").write_text(POLICY)
    (folder / "heavy.yaml").write_text(POLICY + "extends: [house.yaml]\nsteps:\n" + HEAVY)
    states_after_a_look(server)
    house = folder / "house.yaml"
    assert server.site.checks.users_of(house) == (["own.yaml", "second.yaml"], ["heavy.yaml"])
    texts = house.read_text(), house.read_text().replace(">= 3", ">= 2")
    told = {m.policy: m for m in compared(server.site, "house.yaml", *texts).meanings}
    assert list(told)[-1] == "heavy.yaml"
    assert {name: m.weaker for name, m in told.items() if m.relation} == {"own.yaml": True, "second.yaml": True}
    assert told["heavy.yaml"].weaker  # nobody knows what it extends, and nobody waits for that
    (folder / "own.yaml").write_text(POLICY + "extends: [house.yaml]\napprovals: {roles: [a], signers: /dev/zero}\n")
    os.mkfifo(folder / "pipe")
    (folder / "second.yaml").write_text(POLICY + "extends: [house.yaml]\napprovals: {roles: [a], signers: pipe}\n")
    states_after_a_look(server)
    read = {m.policy: m.relation for m in compared(server.site, "house.yaml", *texts).meanings}
    assert (read["own.yaml"], read["second.yaml"]) == ("equal", "equal")  # neither is read for ever
    with pytest.raises(OSError, match="No such device"):
        os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
    for share in ("_FIRST", "_SHARE"):
        monkeypatch.setattr(comparing, share, 1e-6)
    untold = {m.policy: m for m in compared(server.site, "house.yaml", *texts).meanings}
    assert {(m.put_off is not None, m.weaker) for m in untold.values()} == {(True, True)}
    asked = {m.policy: m for m in compared(server.site, "house.yaml", *texts, asked_policy="own.yaml").meanings}
    assert asked.keys() == untold.keys()
    assert {name for name, m in asked.items() if not m.put_off} == {"own.yaml"}
    assert asked["own.yaml"].relation == "equal"
    steward, changed = server.browser(PageRole.STEWARD), {"text": texts[1], "digest": ""}
    page = steward.send("/policies/house.yaml/propose", **changed).text
    assert 'name="asked" value="own.yaml"' in page
    page = steward.send("/policies/house.yaml/propose", **changed, asked="own.yaml").text
    assert 'name="asked" value="own.yaml"' not in page
    assert 'name="asked" value="second.yaml"' in page
    conflict = steward.send("/policies/house.yaml/edit", **changed)
    assert conflict.status_code == 409
    assert 'name="asked" value="second.yaml"' in conflict.text
    monkeypatch.setattr(server.site.tree, "committed", lambda _name: texts[1])
    changes = steward.get("/policies/house.yaml/changes").text
    assert "/policies/house.yaml/changes?asked=second.yaml" in changes


@pytest.mark.slow
def test_who_uses_a_template_is_not_known_once_another_template_has_changed(server: Server, monkeypatch):
    folder = server.site.settings.policies
    for name in ("house", "middle"):
        (folder / f"{name}.yaml").write_text("version: 1\nnulls: exclude\n")
    (folder / "own.yaml").write_text(POLICY + "extends: [house.yaml]\n")
    (folder / "second.yaml").write_text(POLICY + "extends: [middle.yaml]\n")
    (folder / "alone.yaml").write_text(POLICY)
    states_after_a_look(server)
    users_of = partial(server.site.checks.users_of, folder / "house.yaml")
    assert users_of() == (["own.yaml"], [])
    with monkeypatch.context() as patched:
        patched.setattr(checks.PolicyChecks, "states", lambda self, _seconds: self._shown(self._stamps()))
        (folder / "house.yaml").write_text("version: 1\nnulls: exclude\n# more\n")
        assert users_of() == (["own.yaml"], [])
        (folder / "middle.yaml").write_text("version: 1\nextends: [house.yaml]\n")
        assert users_of() == (["own.yaml"], ["second.yaml"])
    states_after_a_look(server)
    assert users_of() == (["own.yaml", "second.yaml"], [])


@pytest.mark.slow
def test_checks_of_tests_read_no_pipe(server: Server):
    """What somebody else waits for would be lost, and who writes would be let through."""
    folder = server.site.settings.policies
    os.mkfifo(folder / "pipe")
    text = "policy: pipe\ntests: {t: {data: {csv: a.csv}, expect: {verdict: released}}}\n"
    checked = server.site.checks.check("p.test.yaml", text)
    assert not checked.valid
    with pytest.raises(OSError, match="No such device"):  # nobody reads it
        os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK)
    (folder / "p.yaml").write_text(POLICY)
    assert "p.yaml" in {
        Path(each).name for each in server.site.checks.check("p.test.yaml", text.replace("pipe", "p.yaml")).files
    }


@pytest.mark.slow
def test_a_run_is_shown_though_other_policies_take_long(server: Server, monkeypatch):
    def never(*_words):
        raise LimitExceededError(Diagnostic("PPF997", "this takes more than the server allows"))

    run = server.folder / "runs" / "p" / "1"
    names = {"p.yaml": "p", "q.yaml": "q"}
    for file, name in names.items():
        (server.site.settings.policies / file).write_text(POLICY.replace("name: p", f"name: {name}"))
    server.site.policies.named()  # read once, as any page does
    monkeypatch.setattr(BoundedCalls, "run", never)
    listed = SimpleNamespace(policy="p", key="p/1", folder=run)
    assert policy_file(server.site, listed) == "p.yaml"
    assert offers(server.site, "p.yaml", SimpleNamespace(failing=()), "/") == {}


@pytest.mark.slow
def test_many_findings_are_counted_and_the_first_are_shown(server: Server):
    steward = server.browser(PageRole.STEWARD)
    (server.site.settings.policies / "p.yaml").write_text("version: 1\n")
    unknown = ", ".join(f"a{number}: {{role: unknown}}" for number in range(700))
    text = POLICY.replace("attributes: {", f"attributes: {{{unknown}, ")
    checked = server.site.checks.check("p.yaml", text)
    assert len(checked.diagnostics) == 500
    assert checked.more >= 200
    page = steward.send("/policies/p.yaml/check", text=text)
    assert f"{checked.more} more" in page.text
    assert "more, which show" not in steward.send("/policies/p.yaml/check", text=POLICY).text


@pytest.mark.slow
def test_requests_of_one_person_take_a_few_threads(server: Server, monkeypatch):
    """The rest of them wait without a thread, so that there are some for everybody else."""
    working, most, lock, done = [0], [0], threading.Lock(), threading.Event()
    check = checks.PolicyChecks.check

    def slow(self, name, text):
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        done.wait(0.3)
        with lock:
            working[0] -= 1
        return check(self, name, text)

    monkeypatch.setattr(checks.PolicyChecks, "check", slow)
    from serving import in_thread

    from ppdm_flow.page.app import application

    (server.site.settings.policies / "p.yaml").write_text("version: 1\n")
    steward = server.browser(PageRole.STEWARD)
    word = "; ".join(f"{name}={value}" for name, value in steward.client.cookies.items())
    import httpx2

    with in_thread(server.site.settings, application(server.site)) as port:
        address = f"http://127.0.0.1:{port}/policies/p.yaml"

        def ask() -> None:
            answers.append(httpx2.get(address, headers={"cookie": word}, timeout=PATIENCE).status_code)

        answers: list[int] = []
        threads = [threading.Thread(target=ask) for _ in range(3 * turns.AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert answers == [200] * len(threads)
    assert 1 < most[0] <= turns.AT_ONCE


def test_no_page_is_longer_than_its_limit(server: Server, monkeypatch):
    """Names and texts of people may make pages of any length, faults of what they sent as well."""
    browser = server.browser(PageRole.STEWARD)
    monkeypatch.setattr(templates, "_LONGEST", 20_000)
    assert browser.get("/account").status_code == 200
    answer = browser.get("/explain")
    assert (answer.status_code, "This page would be too long" in answer.text) == (413, True)
    for many, status in ((3, 400), (300, 413)):
        faults = [Diagnostic("PPF128", f"fault {number} {'x' * 100}") for number in range(many)]

        def refuse(_call, faults=faults):
            raise PolicyError(faults)

        monkeypatch.setattr(type(server.site.policies), "list", refuse)
        assert browser.get("/policies").status_code == status


def test_separators_without_fields_are_counted_before_a_form_is_parsed(server: Server, monkeypatch):
    """Two megabytes of them would be as many fields."""
    browser = server.browser()
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1:8471"}
    with monkeypatch.context() as patched:
        patched.setattr("ppdm_flow.page.http.answering._parsed", lambda *_words: pytest.fail("it was parsed"))
        assert browser.client.post("/sign-in", content=b"&" * 15_000, headers=headers).status_code == 413
    assert browser.client.post("/sign-in", content=b"&" * 20, headers=headers).status_code in (400, 403)
    assert browser.send("/sign-in", name="a&b" * 20, password="-" * 100).status_code in (400, 401)
