from __future__ import annotations

import hashlib
import hmac
import pickle

import pytest
from pydantic import ValidationError

from ppdm_flow.anonymizers.pseudonymize.algorithm import Pseudonymize
from ppdm_flow.anonymizers.pseudonymize.spec import PseudonymizeParams
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

KEY = "0123456789abcdef-secret"
TABLE = Table.of({"id": ["p1", "p2", "p1", None, "⊥"], "doctor": ["p1", "d2", "d2", "d2", "d2"]})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("PPDM_TEST_KEY", KEY)


def fit(table=TABLE, home=None, **params):
    given = {"attributes": ["id"], "key_env": "PPDM_TEST_KEY", **params}
    context = StepContext("hide", {}, (), home=home) if home else StepContext("hide", {}, ())
    return Pseudonymize(PseudonymizeParams.model_validate(given)).fit(InMemoryView.of(table), context)


def texts(table=TABLE, **params):
    return run(fit(table, **params).transform, table)[""]["id"].texts()


def test_equal_values_have_equal_pseudonyms_and_marks_stay():
    one, two, again, missing, suppressed = texts()
    assert one == again != two
    assert (missing, suppressed) == (None, "⊥")
    assert len(one) == 24
    assert set(one) <= set("0123456789abcdef")


def test_it_is_hmac_sha_256_under_a_key_for_the_attribute():
    subkey = hmac.digest(KEY.encode(), b"ppdm-flow pseudonym v1\0attribute\0id", "sha256")
    assert texts(length=64)[0] == hmac.new(subkey, b"p1", hashlib.sha256).hexdigest()


def test_another_key_gives_other_pseudonyms(monkeypatch):
    before = texts()
    monkeypatch.setenv("PPDM_TEST_KEY", KEY + "!")
    assert set(before) & set(texts()) == {None, "⊥"}


@pytest.mark.parametrize(("scope", "joined"), [("attribute", False), ("shared", True)])
def test_scope_says_whether_attributes_can_be_joined(scope, joined):
    fitted = fit(attributes=["id", "doctor"], scope=scope)
    released = run(fitted.transform, TABLE)[""]
    assert (released["id"].texts()[0] == released["doctor"].texts()[0]) is joined


def test_the_key_can_come_from_a_file(tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    assert texts(key_env=None, key_file="key", home=tmp_path) == texts()


def test_the_key_shows_nowhere(tmp_path):
    fitted = fit()
    subkey = fitted.transform.scopes[0][1]
    for text in (repr(fitted), str(fitted.transform), str(fitted.transform.describe())):
        assert KEY not in text
        assert repr(subkey) not in text
    assert run(pickle.loads(pickle.dumps(fitted.transform)), TABLE)[""]["id"].texts() == texts()


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        (None, "PPDM_TEST_KEY is not set"),
        ("", "0 bytes"),
        ("short", "5 bytes"),
        ("a" * 40, "hardly differs"),
    ],
)
def test_bad_keys_are_refused_and_not_shown(monkeypatch, setting, part):
    if setting is None:
        monkeypatch.delenv("PPDM_TEST_KEY")
    else:
        monkeypatch.setenv("PPDM_TEST_KEY", setting)
    with pytest.raises(PluginError, match=part) as raised:
        fit()
    assert raised.value.diagnostics[0].code == "PPF790"
    assert not setting or setting not in str(raised.value)


def test_an_unreadable_key_file(tmp_path):
    with pytest.raises(PluginError, match="nowhere cannot be read"):
        fit(key_env=None, key_file="nowhere", home=tmp_path)


def test_no_place_or_two_places_of_the_key():
    for places in ({"key_env": None}, {"key_file": "f"}):
        with pytest.raises(PluginError, match="PPF790"):
            fit(**places)


def test_a_key_in_the_policy_is_refused_with_an_explanation():
    with pytest.raises(ValidationError, match="never stands in a policy") as raised:
        PseudonymizeParams.model_validate({"attributes": ["id"], "key": "canary-canary-canary"})
    assert raised.value.errors()[0]["loc"] == ("key",)
    assert "canary" not in str(raised.value)
    assert "key" not in PseudonymizeParams(attributes=("id",), key_env="A").model_dump()


def test_a_signers_password_is_no_key():
    with pytest.raises(ValidationError, match="a signer's password"):
        PseudonymizeParams(attributes=("id",), key_env=PASSWORD_VARIABLE)


@pytest.mark.slow
def test_colliding_pseudonyms_are_refused():
    table = Table.of({"id": [f"person {i}" for i in range(150_000)]})  # 2^32 / 2 pairs: about 2.6 collisions
    with pytest.raises(PluginError, match="PPF791") as raised:
        fit(table, length=8)
    assert "`id`" in str(raised.value)
    assert len(set(texts(table, length=24))) == 150_000


def test_an_absent_column():
    with pytest.raises(PluginError, match="PPF606"):
        fit(attributes=["idd"])


def test_a_stated_scope_goes_by_key_scope_and_value_alone(monkeypatch):
    """Two steps on unlike tables, with unlike column names; other words and other keys are other scopes."""

    def pseudonym(column, values, scope, key="PPDM_TEST_KEY"):
        table = Table.of({column: values})
        params = PseudonymizeParams(attributes=(column,), key_env=key, scope=scope)
        step = Pseudonymize(params).fit(InMemoryView.of(table), StepContext(f"step of {column}", {}, ()))
        return dict(zip(values, run(step.transform, table)[""][column].texts(), strict=True))["p7"]

    monkeypatch.setenv("PPDM_TEST_KEY", "a key for tests only: 0123456789")
    monkeypatch.setenv("PPDM_OTHER_KEY", "another key for tests: 0123456789")
    one = pseudonym("patient", ["p7", "p1", "p2"], "patient")
    assert one == pseudonym("person", ["a", "p7"], "patient")
    others = [
        pseudonym("patient", ["p7"], "patient", "PPDM_OTHER_KEY"),
        pseudonym("patient", ["p7"], "doctor"),
        pseudonym("patient", ["p7"], "attribute"),
        pseudonym("patient", ["p7"], "shared"),
    ]
    assert len({one, *others}) == 5


@pytest.mark.parametrize("scope", ["", "a b", "0", "x" * 65])
def test_a_scope_is_a_word(scope):
    with pytest.raises(ValueError, match="scope"):
        PseudonymizeParams(attributes=("a",), key_env="K", scope=scope)
