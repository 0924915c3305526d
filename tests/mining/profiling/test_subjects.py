"""Which column is drafted as the subject: an id of people that repeats."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.table import profile

ROWS = 300


def column(codes):
    values, place = np.unique(np.asarray(codes), return_inverse=True)
    return place.reshape(-1).astype(np.int32), pa.array([f"v{v}" for v in values.tolist()], pa.string())


def roles(columns):
    found = profile({"age": column(np.arange(ROWS) % 60), **columns})
    return {c.name: g.role for c, g in zip(found.columns, found.guesses, strict=True)}


def several(rows=5):
    return column(np.arange(ROWS) // rows)


@pytest.mark.parametrize(
    "name", ["patient_id", "PatientNo", "kundennummer", "customer", "ssn", "email", "member number"]
)
def test_an_id_of_people_that_repeats_is_the_subject(name):
    assert roles({name: several()})[name] is Role.SUBJECT


@pytest.mark.parametrize("name", ["patient_id", "email"])
def test_with_a_row_a_person_it_is_an_identifier(name):
    assert roles({name: several(1)})[name] is Role.IDENTIFIER
    nearly = np.arange(ROWS)
    nearly[:20] = 0
    assert roles({name: column(nearly)})[name] is Role.IDENTIFIER


def test_a_share_of_repetitions_is_enough_for_a_name_that_says_people():
    """70 of 100 numbers differ, as those of patients with one stay each and some with more."""
    codes = np.arange(ROWS)
    codes[: ROWS * 2 // 5] //= 4
    assert len(np.unique(codes)) / ROWS == pytest.approx(0.7)
    assert roles({"patient_nbr": column(codes)})["patient_nbr"] is Role.SUBJECT
    assert roles({"order_nbr": column(codes)})["order_nbr"] is Role.IDENTIFIER


def test_what_else_repeats_is_none():
    assert Role.SUBJECT not in roles({"town": several(), "surname": several(), "comments": several()}).values()
    assert roles({"patient_id": column(np.arange(ROWS) % 4)})["patient_id"] is not Role.SUBJECT
    codes, values = several()
    codes = codes.copy()
    codes[7] = -1
    assert roles({"patient_id": (codes, values)})["patient_id"] is Role.IDENTIFIER


def test_one_of_several_is_the_subject():
    found = roles({"order_no": several(10), "encounter_id": several(2), "patient_id": several(5), "email": several(5)})
    assert [n for n, role in found.items() if role is Role.SUBJECT] == ["patient_id"]
    found = roles({"trip id": several(2), "stay id": several(4)})
    assert [n for n, role in found.items() if role is Role.SUBJECT] == ["stay id"]


def test_a_weighted_table_has_none():
    weights = np.arange(ROWS) % 40 + 1
    values, place = np.unique(weights, return_inverse=True)
    weight = (place.astype(np.int32), pa.array([str(v) for v in values.tolist()], pa.string()))
    found = roles({"patient_id": several(), "sampling weight": weight})
    assert found["sampling weight"] is Role.SAMPLING_WEIGHT
    assert found["patient_id"] is Role.IDENTIFIER


def test_the_reason_says_how_many_rows_each():
    found = profile({"patient_id": several(5), "age": column(np.arange(ROWS) % 60)})
    assert "5 rows each on average" in found.guesses[0].reason
    assert all(0 not in c for c in found.uniques.minimal)
