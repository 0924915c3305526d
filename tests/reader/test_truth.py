"""The true rows are always a guess; if they are none, this code or what was said of the files is wrong."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from ppdm_flow.reader.candidates import KIND, KNOWN, CandidateSearch
from ppdm_flow.reader.faults import TruthExcludedError
from ppdm_flow.reader.query.query_reader import QueryReader
from tests.reader.by_group import by_first_route, by_second_route
from tests.reader.drawn import Table, asked, column


def table(*files: tuple[list[int], list[str]], known_rows: int = 1) -> Table:
    """Return files of rows of two people that show ``a``, of which each row has another value."""
    made = [{"of": of, "columns": [column("a", cells)]} for of, cells in files]
    return asked(["a", "p"], [["u", "P"], ["v", "P"], ["w", "Q"]], made, subject="p", known_rows=known_rows)


@pytest.mark.parametrize("known_rows", [1, 2])
def test_rows_that_do_not_fit_themselves(monkeypatch: pytest.MonkeyPatch, known_rows: int) -> None:
    """Each row fits others, and not itself."""
    every = table(([0, 1, 2], ["u", "v", "w"]), known_rows=known_rows)
    assert by_first_route(every)[0]["k"] == by_second_route(every)[0]["k"] == 1

    def fitting(*_: Any) -> pd.DataFrame:
        return pd.DataFrame({KNOWN: [0, 1, 2], KIND: [1, 2, 0]})

    monkeypatch.setattr(CandidateSearch, "_fits_present", fitting)
    with pytest.raises(TruthExcludedError):
        by_first_route(every)

    def fits(reader: QueryReader, _: Any) -> str:
        return reader.base.keep("SELECT id, kind FROM known JOIN kind0 ON kind <> o0", "fit0")

    monkeypatch.setattr(QueryReader, "fits", fits)
    with pytest.raises(TruthExcludedError):
        by_second_route(every)


def test_files_of_rows_that_cannot_belong_together() -> None:
    """Two files lack rows for a reason that nobody told: no row of the one can be a row of the other."""
    with pytest.raises(TruthExcludedError):
        by_first_route(table(([0], ["u"]), ([1, 2], ["v", "w"])))
