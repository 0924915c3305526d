"""Held runs of policies with randomized values and with linked tables, judged again with the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from held_runs import HeldHome

from ppdm_flow import api
from ppdm_flow.core.errors import RefusedError

PERTURBED = """
version: 1
name: survey
source: {path: people.csv}
LEDGER
approvals: {roles: [data-owner, privacy-officer], signers: signers.yaml}
attributes:
  patient: {role: identifier}
  zip: {role: insensitive}
  age: {role: insensitive}
  disease: {role: sensitive, domain: [flu, cold, hiv, ulcer]}
privacy:
  sensitivities: {disease: {default: {r1: 0.3, r2: 0.7}}}
steps:
  perturb: {use: fine_grain_perturbation, with: {attributes: [disease]}}
releases:
  public: {from: perturb, path: survey.csv}
"""
LINKED = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes:
      patient: {role: subject}
      born: {role: quasi_identifier}
  visits:
    source: {path: visits.csv}
    refers: {who: patients}
    attributes:
      hospital: {role: quasi_identifier}
people: {known_rows: 1}
ledger: {path: releases.ledger, key: releases.key}
approvals: {roles: [data-owner, privacy-officer], signers: signers.yaml}
privacy: {k_anonymity: {k: 2}, cumulative_k: {k: 2}}
releases:
  patients: {from: patients, path: patients.csv}
  visits: {from: visits, path: visits.csv}
"""
CHOSEN = """
version: 1
name: survey
source: {path: people.csv}
LEDGER
approvals: {roles: [data-owner, privacy-officer], signers: signers.yaml}
attributes:
  patient: {role: identifier}
  zip: {role: target}
  age: {role: quasi_identifier}
  disease: {role: insensitive}
privacy:
  templates:
    rare: {channel: [age], sensitive: {top: 1, target: zip, rarest: 0.5}, confidence: 0.5}
releases:
  public: {path: survey.csv}
"""
WARD = (("a", 1960, "n"), ("b", 1960, "n"), ("c", 1970, "s"), ("d", 1970, "s"))


def ward(folder: Path, people: tuple[tuple[str, int, str], ...]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "patients.csv").write_text("patient,born\n" + "".join(f"{n},{b}\n" for n, b, _ in people))
    (folder / "visits.csv").write_text("who,hospital\n" + "".join(f"{n},{h}\n" for n, _, h in people))


def again(home: HeldHome, run: Path) -> None:
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)


def test_two_draws_of_one_value_tell_more_than_either(tmp_path: Path) -> None:
    home = HeldHome.make(tmp_path, policy=PERTURBED)
    home.data([i % 20 for i in range(20)])
    first, second = home.run().run_dir, home.run().run_dir
    for run in (first, second):
        home.approve(run)
    assert home.release(first).outcome.published
    again(home, second)
    with pytest.raises(RefusedError) as caught:
        home.release(second, later=60)
    codes = {d.code: d.message for d in caught.value.diagnostics}
    assert "`ledger.repeat`" in codes["PPF977"]


@pytest.mark.slow
def test_linked_tables_are_judged_again(tmp_path: Path) -> None:
    home = HeldHome.make(tmp_path, policy=LINKED)
    ward(tmp_path, WARD)
    same = home.run().run_dir
    home.policy(LINKED.replace("approvals:", "#").replace("name: clinic", "name: open"), "open.yaml")
    ward(tmp_path / "other", WARD)
    assert api.run(tmp_path / "open.yaml", data=tmp_path / "other", out=tmp_path / "runs").released
    ward(tmp_path, ())
    again(home, same)
    assert home.release(same, later=60).outcome.numbers == (3, 4)


@pytest.mark.slow
def test_linked_tables_that_collide_are_refused(tmp_path: Path) -> None:
    home = HeldHome.make(tmp_path, policy=LINKED)
    ward(tmp_path, WARD)
    run = home.run().run_dir
    crossed = (("a", 1960, "n"), ("c", 1960, "n"), ("b", 1970, "s"), ("d", 1970, "s"))
    ward(tmp_path / "other", crossed)
    home.policy(LINKED.replace("approvals:", "#").replace("name: clinic", "name: open"), "open.yaml")
    assert api.run(tmp_path / "open.yaml", data=tmp_path / "other", out=tmp_path / "runs").released
    again(home, run)
    with pytest.raises(RefusedError) as caught:
        home.release(run, later=60)
    messages = {d.code: d.message for d in caught.value.diagnostics}
    assert set(messages) == {"PPF977", "PPF978"}
    assert "privacy.cumulative_k" in messages["PPF977"]


@pytest.mark.slow
def test_values_chosen_from_the_data_are_not_chosen_again(tmp_path: Path) -> None:
    home = HeldHome.make(tmp_path, policy=CHOSEN)
    held = home.run()
    assert held.held
    resolved = (held.run_dir / "policy.resolved.yaml").read_text()
    assert "disease: [cold, flu]" in resolved
    (tmp_path / "people.csv").unlink()  # a release reads no data
    home.approve(held.run_dir)
    assert home.release(held.run_dir, later=60).outcome.numbers
    assert (held.run_dir / "policy.resolved.yaml").read_text() == resolved
