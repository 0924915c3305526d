"""Why no declared column is in the file: one sentence, the likeliest cause, and no name of the file's own."""

from __future__ import annotations

import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.reading.binding import missing_column, nothing_fits

DECLARED = tuple(AttributeFacts(name, Role.QUASI_IDENTIFIER) for name in ("age", "sex", "zip"))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("zqage;zqsex;zqzip",), 'delimiter: ";"'),
        (("zqage\tzqsex\tzqzip",), r'delimiter: "\t"'),
        (("zqage|zqsex|zqzip",), 'delimiter: "|"'),
        (("sep=;",), 'skip_rows: 1, delimiter: ";"'),
        (("AGE", "Sex", " zip", "zqother"), "3 of them differ in upper and lower case or in blanks"),
        (("zq39", "zqmale", "zq10115"), "`source.columns`"),
        (("zqalone",), "`source.columns`"),
    ],
)
def test_one_sentence_for_the_likeliest_cause(names, words):
    found = nothing_fits(DECLARED, names, None)
    assert found.code == "PPF708"
    assert "none of the 3 columns" in found.message
    assert words in (found.help or "")
    assert "zq" not in f"{found.message}{found.help}{found.hint}"


def test_blanks_around_a_name_are_named():
    found = missing_column(DECLARED[1], ("age", " sex", " zip"))
    assert "strip: true" in (found.hint or "")


def test_a_column_without_a_name_is_told_from_a_new_one(bench, tools):
    found = tools.rows(30)
    bench.data(found)
    plan = bench.plan()
    bench.data([[*row, ""] for row in found], "name,age,town,illness,score,")
    (fault,) = bench.fails(plan).diagnostics
    assert fault.code == "PPF709"
    assert fault.message == "the data has a column without a name"
    assert "ends with a delimiter" in (fault.help or "")
