"""A run that holds and has to be approved is held: no release to anybody, and nothing that a later run removes."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from held_runs import PEOPLE, POLICY, HeldHome, files

from ppdm_flow import api
from ppdm_flow.cli.main import main
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.engine.candidates.unpublished import is_held, is_unpublished


def status(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0)


def test_what_holds_is_held(home: HeldHome) -> None:
    ran = home.run()
    run = ran.run_dir
    known = json.loads((run / "manifest.json").read_text())
    assert (ran.verdict, ran.held, ran.released, ran.exit_status) == ("held", True, False, 4)
    assert known["verdict"] == json.loads((run / "report.json").read_text())["verdict"] == "held"
    assert is_held(run)
    assert not is_unpublished(run)
    assert not (run / "released").exists()
    assert (run / "held/public/ward.csv").is_file()
    assert {"released/public/ward.csv", "released/public/dictionary.json", "signers.yaml"} <= known["files"].keys()
    assert not any(name.startswith("held") for name in known["files"])
    assert home.look().entries == ()


def test_the_journal_and_all_reports_say_so(home: HeldHome) -> None:
    run = home.run().run_dir
    assert json.loads((run / "events.jsonl").read_text().splitlines()[-1])["verdict"] == "held"
    for name in ("report.html", "report.md"):
        text = (run / name).read_text()
        assert "Held" in text
        assert "once people have approved it" in text
        assert "Withheld" not in text


def test_what_the_run_keeps_is_for_its_owner_alone(home: HeldHome) -> None:
    run = home.run().run_dir
    private = run / "held.private.json"
    known = json.loads((run / "manifest.json").read_text())
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert known["held"] == {"sha256": sha256(private)}
    assert private.name not in known["files"]
    text = private.read_text()
    assert not any(value in text for value in ('p1"', "low", "high", "flu", "ulcer"))


def test_verify_says_that_it_is_held_and_ends_with_4(home: HeldHome, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.run().run_dir
    outcome = api.verify(run)
    assert (outcome.holds, outcome.verdict, outcome.exit_status) == (True, "held", 4)
    assert status("verify", str(run)) == 4
    assert "(held) is as it was" in capsys.readouterr().out
    assert api.verify(run, home.folder / "people.csv").remeasured.holds


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("name", ["held/public/ward.csv", "report.json", "signers.yaml", "held.private.json"])
def test_verify_finds_a_changed_file(home: HeldHome, name: str) -> None:
    run = home.run().run_dir
    (run / name).write_bytes((run / name).read_bytes() + b" ")
    assert api.verify(run).exit_status == 1


def test_renaming_the_folder_makes_no_release(home: HeldHome) -> None:
    run = home.run().run_dir
    (run / "held").rename(run / "released")
    outcome = api.verify(run)
    assert not outcome.holds
    assert "no `publication.json` says who approved it" in outcome.text


def test_rewriting_the_verdict_makes_none_either(home: HeldHome) -> None:
    run = home.run().run_dir
    (run / "held").rename(run / "released")
    for name in ("report.json", "manifest.json"):
        document = json.loads((run / name).read_text())
        document["verdict"] = "released"
        if name == "manifest.json":
            document["files"]["report.json"]["sha256"] = sha256(run / "report.json")
        (run / name).write_text(json.dumps(document))
    assert "asks for approvals: nobody can have approved it" in api.verify(run).text


def test_both_folders_contradict_each_other(home: HeldHome) -> None:
    run = home.run().run_dir
    (run / "released").mkdir()
    assert not api.verify(run).holds
    assert "both folders" in api.verify(run).text


@pytest.mark.slow
def test_the_next_run_leaves_it_alone(home: HeldHome) -> None:
    run = home.run().run_dir
    before = files(run)
    other = home.run().run_dir
    assert files(run) == before
    assert other != run


def test_a_withheld_run_is_withheld_as_before(home: HeldHome) -> None:
    home.data(range(3))
    ran = home.run()
    assert (ran.verdict, ran.exit_status) == ("withheld", 1)
    assert not any((ran.run_dir / name).exists() for name in ("held", "released", "held.private.json", "attestations"))


def test_the_same_policy_without_approvals_releases(home: HeldHome) -> None:
    home.policy(POLICY.replace("approvals:", "#"))
    ran = home.run()
    assert (ran.verdict, ran.exit_status) == ("released", 0)
    assert [p.name.partition("-")[0] for p in (ran.run_dir / "attestations").iterdir()] == ["author"]
    assert api.verify(ran.run_dir).holds


def test_the_command_line_ends_with_4(home: HeldHome, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(home.folder / "policy.yaml"), "--out", str(home.folder / "runs")]
    assert status(*words, "--sign", str(home.folder / "ana.key")) == 4
    out = capsys.readouterr()
    assert out.out.startswith("HELD  ward")
    assert "ppdm-flow release RUN" in out.err


def test_what_is_held_is_no_release_to_other_verbs(home: HeldHome) -> None:
    run = home.run().run_dir
    with pytest.raises(UsageError) as caught:
        api.deliver(run)
    assert caught.value.diagnostics[0].code == "PPF485"
    with pytest.raises(PpdmError, match="released nothing"):
        api.reconstruct(run)


def test_a_key_that_cannot_sign_is_found_before_the_run(home: HeldHome) -> None:
    for who, why in (("olga", "has no role `author`"), ("ana", "was revoked")):
        home.signers(PEOPLE, {"ana": "revoked: {on: 2026-01-01, reason: key lost}"})
        with pytest.raises(UsageError, match=why) as caught:
            home.run(who)
        assert caught.value.diagnostics[0].code == "PPF967"
    assert home.runs() == []


def test_an_object_store_is_refused_before_the_run(home: HeldHome) -> None:
    with pytest.raises(UsageError) as caught:
        api.run(home.folder / "policy.yaml", out=Path("s3://bucket/runs"))
    assert caught.value.diagnostics[0].code == "PPF469"


def test_a_list_of_signers_that_changes_meanwhile_ends_the_run(home: HeldHome) -> None:
    def change(_event: object) -> None:
        (home.folder / "signers.yaml").write_text("version: 1\nsigners: {}\n")

    with pytest.raises(PpdmError) as caught:
        home.run(None, listener=change)
    assert caught.value.diagnostics[0].code == "PPF973"
    assert home.runs() == []
