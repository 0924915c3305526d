"""Questions to a steward: at most five, answers change the draft, and without one the safer guess has a comment."""

from __future__ import annotations

import random

import pytest
import yaml

from ppdm_flow import api
from ppdm_flow.core.errors import UsageError


@pytest.fixture
def visits(tmp_path):
    dice = random.Random(2)
    rows = [
        f"{i // 3},{20 + dice.randrange(40)},{dice.choice('mf')},{dice.choice(['flu', 'gout', 'cold'])},{i % 7}"
        for i in range(300)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,age,sex,disease,ward", *rows, ""]))
    return api.profile(tmp_path / "visits.csv")


def asked(result, said):
    """Ask every question, and return the policy with the topics that were asked."""
    answers = {}
    while (question := result.next_question(answers)) is not None:
        answers[question.topic] = said.get(question.topic, "")
        assert question.text.strip()
        assert question.guess
    text = result.answered(answers).rendered("yaml", beside=result.data.parent)
    (result.data.parent / "policy.yaml").write_text(text)
    outcome = api.check([result.data.parent / "policy.yaml"])
    assert outcome.passes(), outcome.diagnostics
    return list(answers), yaml.safe_load(text), " ".join(text.replace("#", "").split())


def test_without_answers_the_safer_guesses_stand_and_say_so(visits):
    topics, policy, text = asked(visits, {})
    assert topics == ["audience", "studied", "person", "known_rows", "sensitive"]
    assert policy["privacy"]["k_anonymity"] == {"k": 10}
    assert policy["releases"]["study"]["audience"] == "public"
    assert policy["people"] == {"known_rows": "all"}
    assert policy["attributes"]["disease"]["role"] == "sensitive"
    assert "Nobody said who receives it" in text
    assert "Nobody said how many" in text
    report = api.run(visits.data.parent / "policy.yaml", out=visits.data.parent / "runs").report
    assert report.verdict == "released"


def test_answers_change_the_draft(visits):
    said = {"audience": "Partner", "studied": "age, disease", "person": "patient_id", "known_rows": "2"}
    _, policy, text = asked(visits, {**said, "sensitive": "disease"})
    assert {name: each["role"] for name, each in policy["attributes"].items()} == {
        "patient_id": "subject",
        "age": "quasi_identifier",
        "disease": "sensitive",
    }
    assert policy["undeclared"] == "drop"
    assert "Nobody will study sex, ward: columns that are not declared do not leave" in text
    assert policy["privacy"]["k_anonymity"] == {"k": 5}
    assert policy["releases"]["study"]["audience"] == "partner"
    assert policy["people"] == {"known_rows": 2}
    assert "Nobody said" not in text
    run = api.run(visits.data.parent / "policy.yaml", out=visits.data.parent / "runs")
    assert not [d for d in run.diagnostics if "identifier" in d.message]  # no warning for what the draft itself chose


def test_what_the_study_needs_most_is_kept_rather_than_the_rest(visits):
    said = {"person": "no", "sensitive": "disease"}
    _, policy, text = asked(visits, {**said, "studied": "age !, ward, disease!"})
    assert policy["steps"]["recode"]["with"]["importance"] == {"age": 5}  # a sensitive column is not recoded
    assert "The study needs age most: others get coarser first." in text
    kept = {}
    for answer in ("age, ward, disease", "age!, ward, disease"):
        asked(visits, {**said, "studied": answer})
        metrics = api.run(visits.data.parent / "policy.yaml", out=visits.data.parent / "runs").document["metrics"]
        kept[answer] = metrics["information_kept.age.kept"]["value"]
    assert kept["age!, ward, disease"] >= kept["age, ward, disease"]


def test_what_is_not_studied_may_say_whose_row_it_is(visits):
    _, policy, _ = asked(visits, {"studied": "age, disease", "person": "ward", "sensitive": "disease"})
    assert policy["attributes"]["ward"] == {"role": "subject"}


def test_a_row_a_person_and_nothing_sensitive(visits):
    topics, policy, _ = asked(visits, {"person": "no", "sensitive": "no"})
    assert "known_rows" not in topics
    assert "people" not in policy
    assert policy["attributes"]["patient_id"] == {"role": "identifier"}
    assert policy["attributes"]["disease"]["role"] == "quasi_identifier"
    assert list(policy["privacy"]) == ["k_anonymity"]


def test_nobody_says_whether_people_have_several_rows(tmp_path):
    (tmp_path / "x.csv").write_text("age,sex\n" + "30,m\n40,f\n" * 20)
    _, policy, text = asked(api.profile(tmp_path / "x.csv"), {})
    assert "people" not in policy
    assert "Nobody said whether a person has several rows" in text


def test_of_sets_one_question_is_asked(tmp_path):
    (tmp_path / "x.dat").write_text("1 2\n2 3 4\n1\n" * 20)
    topics, policy, _ = asked(api.profile(tmp_path / "x.dat"), {"audience": "internal"})
    assert topics == ["audience"]
    assert policy["privacy"] == {"km_anonymity": {"k": 5, "m": 2}}


@pytest.mark.parametrize(
    ("topic", "text", "words"),
    [
        ("audience", "everybody", "is one of internal, partner, public"),
        ("studied", "agee", "did you mean `age`"),
        ("studied", "age,,sex", "with commas between"),
        ("person", "age, sex", "takes one column"),
        ("known_rows", "many", "is one of 1, 2, 3, all"),
        ("sensitive", "patient_id", "does not leave"),
    ],
)
def test_what_is_no_answer(visits, topic, text, words):
    with pytest.raises(UsageError) as caught:
        visits.answered({topic: text})
    (fault,) = caught.value.diagnostics
    assert words in f"{fault.message} {fault.hint}"


def test_rows_without_a_person_belong_to_nobody(tmp_path):
    (tmp_path / "x.csv").write_text("who,age\n" + "a,30\n,40\nb,41\n" * 9)
    with pytest.raises(UsageError):
        api.profile(tmp_path / "x.csv").answered({"person": "who"})


def test_what_is_studied_leaves_or_the_answer_is_refused(tmp_path):
    rows = [f"{i},p{i}@mail.example,X-{i * 7919 % 1000:04}-{i},{'mf'[i % 2]}" for i in range(300)]
    (tmp_path / "lab.csv").write_text("\n".join(["patient_id,contact,batch,sex", *rows, ""]))
    result = api.profile(tmp_path / "lab.csv")
    assert {c["name"]: c["role"] for c in result.document["columns"]}["batch"] == "identifier"
    _, policy, text = asked(result, {"studied": "batch, sex", "sensitive": "no"})
    assert policy["attributes"]["batch"]["role"] == "quasi_identifier"
    assert "a steward said that it will be studied" in text
    with pytest.raises(UsageError) as caught:
        result.answered({"studied": "contact, sex"})
    assert "`contact` names people by itself (its values look like e-mail addresses)" in str(caught.value)
