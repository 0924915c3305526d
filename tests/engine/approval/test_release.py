"""The release of a held run: by whom it is approved, what refuses it, and what is out afterwards."""

from __future__ import annotations

import json
import os
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from held_runs import BOTH, PEOPLE, POLICY, HeldHome, files

from ppdm_flow import api
from ppdm_flow.api.release import HeldReleaseResult
from ppdm_flow.cli.main import main
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError, RefusedError, UsageError
from ppdm_flow.engine.machine import utc_now

TODAY = utc_now().date()


def refused(home: HeldHome, run: Path, code: str, **words: object) -> str:
    """What a release is refused with; the run is held as before."""
    before = files(run)
    with pytest.raises(RefusedError) as caught:
        home.release(run, **words)
    assert {d.code for d in caught.value.diagnostics} == {code}
    assert caught.value.exit_status == 1
    assert files(run) == before
    assert home.ledger == "" or home.look().entries == ()
    return "; ".join(f"{d.message} {d.help}" for d in caught.value.diagnostics)


def missing(done: HeldReleaseResult) -> dict[str, tuple[str, ...]]:
    assert done.exit_status == 4
    assert not done.outcome.published
    return {m.role: m.able for m in done.outcome.missing}


def test_an_approved_run_is_released(home: HeldHome) -> None:
    run = home.run().run_dir
    before = files(run)
    home.approve(run)
    done = home.release(run)
    after = files(run)
    moved = {name.replace("held/", "released/"): data for name, data in before.items() if name != "held.private.json"}
    assert moved.items() <= after.items()
    assert not (run / "held").exists()
    assert "held.private.json" not in after
    assert (done.exit_status, done.outcome.numbers) == (0, (1,))
    outcome = api.verify(run, signers=home.folder / "signers.yaml")
    assert (outcome.holds, outcome.verdict, outcome.exit_status) == (True, "released", 0)
    [entry] = home.look().entries
    assert (entry.state, entry.manifest, entry.people) == ("released", sha256(run / "manifest.json"), 20)


def test_the_publication_says_who_and_when(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.release(run)
    said = json.loads((run / "publication.json").read_text())
    assert [(s["signer"], s["role"], s["release"]) for s in said["signatures"]] == [
        ("ana", "author", "public"),
        ("olga", "data-owner", "public"),
        ("pia", "privacy-officer", "public"),
    ]
    assert said["manifest"] == sha256(run / "manifest.json")
    assert said["signers"] == sha256(home.folder / "signers.yaml")
    assert said["ledger"]["releases"] == [1]


def test_the_recipient_gets_the_signatures_and_nothing_private(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.release(run)
    copies = sorted((run / "released/public/attestations").iterdir())
    assert [p.name.rpartition("-")[0] for p in copies] == ["author", "data-owner", "privacy-officer"]
    for copy in copies:
        assert copy.read_bytes() == (run / "attestations" / f"{copy.stem}-public.json").read_bytes()


def test_missing_signatures_are_named_with_who_could_give_them(home: HeldHome) -> None:
    run = home.run().run_dir
    assert missing(home.release(run)) == {"data-owner": ("olga", "omar"), "privacy-officer": ("olga", "pia")}
    home.sign(run, "olga", "data-owner")
    assert missing(home.release(run)) == {"privacy-officer": ("olga", "pia")}


@pytest.mark.slow
def test_a_run_without_its_authors_signature_is_not_released(home: HeldHome) -> None:
    run = home.run(None).run_dir
    home.approve(run)
    assert missing(home.release(run)) == {"author": ("ana", "omar")}
    home.sign(run, "ana", "author")
    assert home.release(run).outcome.published


@pytest.mark.slow
def test_nobody_approves_their_own_run(home: HeldHome) -> None:
    run = home.run("omar").run_dir
    home.approve(run, by=(("omar", "data-owner"), ("pia", "privacy-officer")))
    assert "nobody approves their own run" in refused(home, run, "PPF975")
    home.sign(run, "olga", "data-owner")
    assert home.release(run).outcome.published


def test_a_second_author_approves_nothing_either(home: HeldHome) -> None:
    run = home.run("ana").run_dir
    home.sign(run, "omar", "author")
    home.approve(run, by=(("omar", "data-owner"), ("pia", "privacy-officer")))
    assert "nobody approves their own run" in refused(home, run, "PPF975")


def test_one_person_is_not_two(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run, by=(("olga", "data-owner"), ("olga", "privacy-officer")))
    assert "different people" in refused(home, run, "PPF976")
    home.sign(run, "pia", "privacy-officer")  # olga counts in one role, pia in the other
    assert home.release(run).outcome.published


def test_one_person_has_two_roles_where_the_policy_says_so(home: HeldHome) -> None:
    home.policy(POLICY.replace("signers: signers.yaml", "signers: signers.yaml, distinct: false"))
    run = home.run().run_dir
    home.approve(run, by=(("olga", "data-owner"), ("olga", "privacy-officer")))
    assert home.release(run).outcome.published


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", ["held/public/ward.csv", "held/public/dictionary.json", "plan.json", "events.jsonl"])
def test_a_changed_file_is_refused(home: HeldHome, name: str) -> None:
    run = home.run().run_dir
    home.approve(run)
    (run / name).write_bytes((run / name).read_bytes() + b"\n")
    assert Path(name).name in refused(home, run, "PPF971")


def test_a_file_more_or_less_is_refused(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    (run / "held/public/more.csv").write_text("x\n")
    assert "more.csv" in refused(home, run, "PPF971")
    (run / "held/public/more.csv").unlink()
    (run / "held/public/dictionary.json").unlink()
    assert "dictionary.json" in refused(home, run, "PPF971")


def test_a_changed_manifest_fits_no_signature(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    document = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(document))
    assert "the manifest was changed" in refused(home, run, "PPF974")


def test_what_was_kept_for_the_release_is_neither_changed_nor_lost(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    private = run / "held.private.json"
    text = private.read_text()
    private.write_text(text.replace(str(home.folder), "/elsewhere"))
    with pytest.raises(PpdmError) as caught:
        home.release(run)
    assert caught.value.diagnostics[0].code == "PPF972"
    private.unlink()
    with pytest.raises(PpdmError) as caught:
        home.release(run)
    assert caught.value.diagnostics[0].code == "PPF972"
    private.write_text(text)
    assert home.release(run).outcome.published


def test_a_key_revoked_since_the_run_counts_no_more(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.signers(PEOPLE, {"pia": "revoked: {on: 2026-01-01, reason: key lost}"})
    assert "was revoked" in refused(home, run, "PPF974")
    home.sign(run, "olga", "privacy-officer")
    home.sign(run, "omar", "data-owner")
    assert home.release(run).outcome.published


def test_who_lost_a_role_since_the_run_approves_nothing(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.signers({**PEOPLE, "pia": ("reader",)})
    assert "no role `privacy-officer`" in refused(home, run, "PPF974")


def test_who_got_a_role_since_the_run_had_none_when_it_was_made(home: HeldHome) -> None:
    home.signers({**PEOPLE, "omar": ("author",)})
    run = home.run().run_dir
    home.signers()
    home.sign(run, "omar", "data-owner")
    home.sign(run, "pia", "privacy-officer")
    assert "no role `data-owner`" in refused(home, run, "PPF974")


def test_a_key_that_went_to_another_person_counts_for_nobody(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.keys["olga"], home.keys["omar"] = home.keys["omar"], home.keys["olga"]
    home.signers()
    assert "was that of `olga`" in refused(home, run, "PPF974")


def test_a_list_elsewhere_is_named(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    moved = (home.folder / "signers.yaml").rename(home.folder / "people.yaml")
    with pytest.raises(UsageError) as caught:
        home.release(run)
    assert caught.value.diagnostics[0].code == "PPF973"
    assert home.release(run, signers=moved).outcome.published


def test_a_check_writes_nothing(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    before, ledger = files(run), Path(home.ledger).read_bytes()
    done = home.release(run, check=True)
    assert (done.exit_status, done.outcome.published) == (0, False)
    assert files(run) == before
    assert Path(home.ledger).read_bytes() == ledger
    assert home.release(run).outcome.published


def test_no_data_is_read(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    for name in ("people.csv", "policy.yaml"):
        (home.folder / name).unlink()
    assert home.release(run).outcome.published


def test_it_works_without_a_ledger(plain: HeldHome) -> None:
    run = plain.run().run_dir
    plain.approve(run)
    assert plain.release(run).outcome.numbers == ()
    assert "ledger" not in json.loads((run / "publication.json").read_text())
    assert api.verify(run).holds


def test_a_run_is_released_once(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.release(run)
    before = files(run)
    with pytest.raises(UsageError, match="released already"):
        home.release(run)
    assert files(run) == before
    assert len(home.look().entries) == 1


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("ledger", [True, False])
def test_of_two_releases_at_once_one_publishes(tmp_path: Path, ledger: bool) -> None:
    home = HeldHome.make(tmp_path, ledger=ledger)
    run = home.run().run_dir
    home.approve(run)
    ends: list[str] = []
    ready = threading.Barrier(4)

    def release() -> None:
        ready.wait()
        try:
            ends.append("out" if home.release(run).outcome.published else "missing")
        except UsageError as error:
            ends.append(error.diagnostics[0].code)

    threads = [threading.Thread(target=release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["PPF970", "PPF970", "PPF970", "out"]
    assert api.verify(run).holds
    assert not ledger or [e.state for e in home.look().entries] == ["released"]


WAIVED = POLICY.replace(
    "privacy: {k_anonymity: {k: 5}}",
    "privacy: {k_anonymity: {k: 5}}\naudits: {sizes: {use: class_sizes}}\n"
    "gates: {few: {metric: sizes.classes, max: 1}}\n"
    "waivers: {soon: {of: gates.few, reason: trial, owner: ana, until: UNTIL}}",
)


def test_a_waiver_that_expired_since_is_refused(plain: HeldHome) -> None:
    last = TODAY + timedelta(days=1)  # the day after that on which the tests began, lest they run past midnight
    plain.policy(WAIVED.replace("UNTIL", last.isoformat()))
    run = plain.run().run_dir
    plain.approve(run)
    assert "expired" in refused(plain, run, "PPF979", clock=lambda: last + timedelta(days=1))
    assert plain.release(run, clock=lambda: TODAY).outcome.published


def test_a_waiver_is_signed_where_it_has_to_be(plain: HeldHome) -> None:
    until = date(TODAY.year + 1, 1, 1).isoformat()
    plain.policy(WAIVED.replace("until: UNTIL", f"until: {until}, signed_by: legal"))
    plain.keys["lea"] = plain.keys["omar"]
    plain.signers({"ana": ("author",), "olga": ("data-owner",), "pia": ("privacy-officer",), "lea": ("legal",)})
    run = plain.run().run_dir
    plain.approve(run)
    assert missing(plain.release(run)) == {"legal": ("lea",)}
    plain.sign(run, "lea", "legal")
    assert plain.release(run).outcome.published
    [waiver] = json.loads((run / "publication.json").read_text())["waivers"]
    assert (waiver["name"], waiver["role"]) == ("soon", "legal")
    assert api.verify(run).holds


def test_a_waiver_that_nothing_needed_waits_for_nobody(plain: HeldHome) -> None:
    until = date(TODAY.year + 1, 1, 1).isoformat()
    plain.policy(WAIVED.replace("max: 1", "max: 9").replace("until: UNTIL", f"until: {until}, signed_by: legal"))
    plain.keys["lea"] = plain.keys["omar"]
    plain.signers({"ana": ("author",), "olga": ("data-owner",), "pia": ("privacy-officer",), "lea": ("legal",)})
    run = plain.run().run_dir
    plain.approve(run)
    assert plain.release(run).outcome.published
    assert "waivers" not in json.loads((run / "publication.json").read_text())
    assert api.verify(run).holds


TWO = POLICY.replace("releases:", "recipients: together\nreleases:\n  inner: {path: inner.csv, audience: internal}")


def test_every_release_is_signed_by_one_person_in_a_role(plain: HeldHome) -> None:
    plain.policy(TWO)
    run = plain.run().run_dir
    plain.approve(run)
    path = next((run / "attestations").glob("data-owner-*-inner.json"))
    path.unlink()
    [lack] = plain.release(run).outcome.missing
    assert (lack.role, lack.releases) == ("data-owner", ("inner",))
    plain.sign(run, "olga", "data-owner")
    assert plain.release(run).outcome.published
    for name in ("inner", "public"):
        copies = [(run / f"released/{name}/attestations").iterdir()]
        assert copies
        for copy in copies[0]:
            other = "public" if name == "inner" else "inner"
            assert f'"{other}"' not in copy.read_text()


def test_a_broken_envelope_does_not_count_and_does_no_harm(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    (run / "attestations/odd.json").write_text("{}")
    assert home.release(run).outcome.published
    assert not api.verify(run).holds  # the odd file is reported


def test_a_link_in_place_of_the_folder_is_no_held_run(home: HeldHome, tmp_path: Path) -> None:
    run = home.run().run_dir
    home.approve(run)
    (run / "held").rename(tmp_path / "elsewhere")
    (run / "held").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError) as caught:
        home.release(run)
    assert caught.value.diagnostics[0].code == "PPF970"


def test_what_cannot_be_written_leaves_it_held(home: HeldHome) -> None:
    if os.geteuid() == 0:
        blocked = "as root nothing is forbidden: a folder stands in the way"
    run = home.run().run_dir
    home.approve(run)
    (run / ".publication.json.new").mkdir()
    with pytest.raises(PpdmError):
        home.release(run)
    (run / ".publication.json.new").rmdir()
    assert (run / "held").is_dir()
    assert not (run / "publication.json").exists()
    assert home.look().entries == ()
    assert home.release(run).outcome.published
    assert blocked if os.geteuid() == 0 else True


def test_the_command_line(home: HeldHome, capsys: pytest.CaptureFixture[str]) -> None:
    def status(*words: str) -> int:
        with pytest.raises(SystemExit) as left:
            main(words)
        return int(left.value.code or 0)

    run = home.run().run_dir
    assert status("release", str(run)) == 4
    assert "could be given by olga and omar" in capsys.readouterr().out
    for who, role in BOTH:
        assert status("sign", str(run), "--key", str(home.folder / f"{who}.key"), "--role", role) == 0
    assert status("release", str(run), "--check") == 0
    assert "may be released" in capsys.readouterr().out
    assert status("release", str(run)) == 0
    assert "is released, no. 1 in the ledger" in capsys.readouterr().out
    assert status("release", str(run)) == 2
    assert status("release", str(home.folder)) == 2


@pytest.mark.slow
def test_moving_the_folder_and_writing_a_publication_approves_nothing(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    home.release(run)
    said = (run / "publication.json").read_text()
    forged = home.run().run_dir
    home.sign(forged, "olga", "data-owner")
    (forged / "held").rename(forged / "released")
    (forged / "publication.json").write_text(said)
    assert "is that of another run" in api.verify(forged).text
    document = json.loads(said)
    document |= {"manifest": sha256(forged / "manifest.json"), "released": utc_now().isoformat(timespec="seconds")}
    (forged / "publication.json").write_text(json.dumps(document))
    text = api.verify(forged).text
    assert "without the approvals that its policy asks for" in text
    assert "`privacy-officer`" in text
    assert "names 1 signatures that are not there" in text
    assert api.verify(run).holds


@pytest.mark.slow
def test_an_interrupted_release_leaves_nothing_private_behind_the_next_run(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    private = (run / "held.private.json").read_bytes()
    home.release(run)
    (run / "held.private.json").write_bytes(private)  # a kill just before it was removed
    assert api.verify(run).holds
    home.run()
    assert not (run / "held.private.json").exists()


@pytest.mark.slow
def test_signatures_of_another_run_do_not_count(home: HeldHome) -> None:
    first, second = home.run().run_dir, home.run().run_dir
    home.approve(first)
    for path in (first / "attestations").iterdir():
        (second / "attestations" / path.name).write_bytes(path.read_bytes())
    assert "it is about another run" in refused(home, second, "PPF974")


def test_a_signature_in_another_role_does_not_count(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    officer = next((run / "attestations").glob("privacy-officer-*"))
    data = officer.read_text()
    officer.unlink()
    (run / "attestations" / officer.name.replace("privacy-officer", "data-owner")).write_text(data)
    assert "does not have the name of the envelope" in refused(home, run, "PPF974")


def test_a_pending_entry_of_a_release_that_goes_on_is_not_forgotten(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    seen: list[str] = []

    def repair() -> None:
        for _ in range(40):
            seen.extend(e.state for e in home.look(repair=True).entries)

    other = threading.Thread(target=repair)
    other.start()
    home.release(run)
    other.join()
    assert [e.state for e in home.look(repair=True).entries] == ["released"]
    assert api.verify(run).holds
    assert set(seen) <= {"pending", "released"}


@pytest.mark.parametrize(
    "name",
    [
        "report.html",
        "policy.resolved.yaml",
        "candidate/public/notes.yaml",
        "released/notes.yaml",
        "plan.mmd",
        "attestations/notes.yaml",
        "publication.json",
    ],
)
def test_no_list_of_signers_takes_the_place_of_what_a_run_writes(home: HeldHome, name: str) -> None:
    """An approver would read what its author wrote as the report, and nothing would tell which policy made the run."""
    place = home.folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    (home.folder / "signers.yaml").rename(place)
    home.policy(POLICY.replace("signers: signers.yaml", f"signers: {name}"))
    with pytest.raises(PpdmError) as caught:
        home.run()
    assert [d.code for d in caught.value.diagnostics] == ["PPF973"]
    assert not [run for run in home.runs() if not run.name.startswith(".")]


@pytest.mark.parametrize("name", ["who.yaml", "lists/signers.yaml"])
def test_a_list_of_signers_of_any_other_name_lies_beside_the_run(home: HeldHome, name: str) -> None:
    place = home.folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    (home.folder / "signers.yaml").rename(place)
    home.policy(POLICY.replace("signers: signers.yaml", f"signers: {name}"))
    run = home.run().run_dir
    assert (run / name).read_bytes() == place.read_bytes()
