"""A run that goes to an object store, and whose release becomes a table: both, or neither."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import PpdmError, RunError
from ppdm_flow.engine.delivery import PostgresTables

pytest.importorskip("moto")
pytest.importorskip("adbc_driver_postgresql", reason="the extra `sql` is not installed")

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv, into: {url: 'URL', table: in_a_bucket}}}
"""


def _module() -> Any:
    spec = spec_from_file_location("ppdm_tests_buckets_of_tables", Path(__file__).parents[2] / "buckets.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with _module().object_store() as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        for key in store.keys(""):  # of the tests before, which it remembers in this process
            store.client.delete_object(Bucket=sys.modules["ppdm_tests_buckets_of_tables"].BUCKET, Key=key)
        yield store


@pytest.fixture
def home(tmp_path: Path, postgres: Any, store: Any) -> Path:
    database = postgres.database()
    postgres.sql(database, "SET client_min_messages = error; DROP TABLE IF EXISTS in_a_bucket")
    (tmp_path / "policy.yaml").write_text(POLICY.replace("URL", postgres.url(database)))
    (tmp_path / "table.csv").write_text("age,town\n" + "20,n\n30,s\n" * 20)
    return tmp_path


def rows(postgres: Any) -> list[str]:
    return list(postgres.sql(postgres.database(), "SELECT count(*) FROM in_a_bucket"))


def place(store: Any) -> str:
    return f"s3://{sys.modules['ppdm_tests_buckets_of_tables'].BUCKET}/runs"


def test_both_are_there(home: Path, postgres: Any, store: Any) -> None:
    done = api.run(home / "policy.yaml", out=Path(place(store)))
    assert done.released
    assert rows(postgres) == ["40"]
    (manifest,) = [key for key in store.keys("") if key.endswith("manifest.json")]
    run = Path(f"{place(store).removesuffix('/runs')}/{manifest.removesuffix('/manifest.json')}")
    assert api.verify(run).holds
    postgres.sql(postgres.database(), "DROP TABLE in_a_bucket")
    assert len(api.deliver(run)) == 1
    assert rows(postgres) == ["40"]


def test_a_table_that_cannot_be_made_publishes_nothing(home: Path, postgres: Any, store: Any) -> None:
    postgres.sql(postgres.database(), "CREATE TABLE in_a_bucket (i int)")
    with pytest.raises(PpdmError, match="PPF483"):
        api.run(home / "policy.yaml", out=Path(place(store)))
    assert [key for key in store.keys("") if key.endswith("manifest.json")] == []
    assert rows(postgres) == ["0"]


def test_a_table_that_is_not_confirmed_is_made_from_the_run(
    home: Path, postgres: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = PostgresTables.commit

    def broken(self: Any) -> None:
        self._connection.close()
        commit(self)

    monkeypatch.setattr(PostgresTables, "commit", broken)
    with pytest.raises(RunError, match="PPF484"):
        api.run(home / "policy.yaml", out=Path(place(store)))
    monkeypatch.setattr(PostgresTables, "commit", commit)
    (manifest,) = [key for key in store.keys("") if key.endswith("manifest.json")]
    run = Path(f"{place(store).removesuffix('/runs')}/{manifest.removesuffix('/manifest.json')}")
    assert len(api.deliver(run)) == 1
    assert rows(postgres) == ["40"]
