"""Tables of databases that held releases become: nothing of them is there before the release, and all of them after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from held_runs import POLICY, HeldHome

from ppdm_flow import api
from ppdm_flow.core.errors import PpdmError

INTO = "public: {path: ward.csv, audience: public, into: {url: 'URL', table: ward}}"


@pytest.fixture
def database(postgres: Any) -> tuple[Any, str]:
    name = postgres.database()
    postgres.sql(name, "SET client_min_messages = error; DROP TABLE IF EXISTS ward")
    return postgres, name


@pytest.fixture
def tabled(tmp_path: Path, database: tuple[Any, str]) -> HeldHome:
    server, name = database
    text = POLICY.replace("public: {path: ward.csv, audience: public}", INTO.replace("URL", server.url(name)))
    return HeldHome.make(tmp_path, policy=text)


def tables(database: tuple[Any, str]) -> list[str]:
    server, name = database
    return list(server.sql(name, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"))


def test_a_table_takes_its_place_with_the_release(tabled: HeldHome, database: tuple[Any, str]) -> None:
    run = tabled.run().run_dir
    assert tables(database) == []
    tabled.approve(run)
    assert tabled.release(run, check=True).approved
    assert tables(database) == []
    done = tabled.release(run)
    assert tables(database) == ["ward"]
    assert len(done.outcome.tables) == 1
    assert json.loads((run / "publication.json").read_text())["tables"] == list(done.outcome.tables)
    assert len(database[0].sql(database[1], "SELECT * FROM ward")) == 20
    assert api.deliver(run) == done.outcome.tables


def test_a_table_that_is_not_ours_leaves_it_held(tabled: HeldHome, database: tuple[Any, str]) -> None:
    run = tabled.run().run_dir
    tabled.approve(run)
    database[0].sql(database[1], "CREATE TABLE ward (own INTEGER)")
    with pytest.raises(PpdmError) as caught:
        tabled.release(run)
    assert caught.value.diagnostics[0].code == "PPF483"
    assert (run / "held").is_dir()
    assert not (run / "publication.json").exists()
    assert tabled.look().entries == ()
    assert tables(database) == ["ward"]
    database[0].sql(database[1], "DROP TABLE ward")
    assert tabled.release(run).outcome.published
