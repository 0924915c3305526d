"""The formula that a sheet prints, held against the operator's inverse; and the words of documents that it reads."""

from __future__ import annotations

import numpy as np

from ppdm_flow.report.datasheet import sheet
from ppdm_flow.sdk import matrix_operator, set_operator
from ppdm_flow.sdk.anonymizer import Operator


def test_the_printed_formula_is_the_inverse_of_the_operator():
    rng = np.random.default_rng(7)
    for m in (2, 3, 9):
        p = rng.uniform(0.2, 0.9, m)
        f = rng.dirichlet(np.ones(m))
        operator = Operator("ill", tuple(f"v{i}" for i in range(m)), p)
        o = operator.matrix() @ f
        c = ((o / p).sum() - 1) / (1 / p).sum()
        assert np.allclose((o - c) / p, f)
        assert np.allclose(np.linalg.solve(operator.matrix(), o), f)


def test_the_examples_are_right():
    kept = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert np.allclose(kept @ [0.4, 0.6], [0.44, 0.56])
    assert np.isclose(0.4 * 0.7 + 0.6 * 0.1, 0.34)


def test_the_words_of_operators_are_those_of_the_file():
    assert sheet.SETS == set_operator.SETS
    assert sheet.PER_PERSON == matrix_operator.PER_PERSON
    operator = Operator("ill", ("a", "b"), np.array([0.5, 0.5]), per_person=2)
    assert operator.document()["form"] == sheet.FINE_GRAIN
    assert sheet.PER_PERSON in operator.document()
