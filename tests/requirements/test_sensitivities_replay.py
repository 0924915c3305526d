"""Drawing again with the policy's seed, against the transform itself."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import PerturbTransform
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.requirements.sensitivities.replay import replay
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import PublicSeed, SeededStep
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

KEY = RunKey.from_seed("paper")
ROWS = 3000


def seeded(*steps: tuple[str, str, str], seed: str = "paper") -> PublicSeed:
    return PublicSeed(seed, tuple(SeededStep(*s) for s in steps))


PERTURB = ("perturb", "fine_grain_perturbation", "same")
SHUFFLE = ("shuffle-study", "shuffle_rows", "reordered")


def perturbed(table: Table, *operators: Operator) -> Table:
    transform = PerturbTransform("perturb", operators)
    return transform.apply(table, Draws(KEY.step("perturb"), transform.draws_per_row))


def column(size: int, seed: int, missing: bool = False) -> list[str | None]:
    codes = np.random.default_rng(seed).integers(0, size + missing, ROWS)
    return [None if c == size else f"v{c:05}" for c in codes]


def operator(name: str, retention: np.ndarray, missing: bool = False) -> Operator:
    size = len(retention) - missing
    domain = (*(f"v{c:05}" for c in range(size)), *([None] if missing else []))
    return Operator(name, domain, np.asarray(retention, dtype=float), "perturb")


def case(build, before: Table, after: Table, ops, steps, **more):
    changes = {o.attribute: (("perturb", Change.PERTURBED),) for o in ops}
    return build.case(
        before,
        after,
        dict.fromkeys(before.names, build.roles["s"]),
        operators={o.attribute: o for o in ops},
        changes=changes,
        seeded=steps,
        **more,
    )


def expected(op: Operator, before: Column, after: Column) -> float:
    """Try every value in every row, with the transform itself."""
    rows = np.arange(len(before))
    fits = []
    for value in op.domain:
        table = Table({op.attribute: Column.of([value] * len(rows), [v for v in op.domain if v is not None])}, rows)
        fits.append([a == b for a, b in zip(perturbed(table, op)[op.attribute].texts(), after.texts(), strict=True)])
    return float((np.array(fits).sum(axis=0) == 1).mean())


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    ("retention", "missing"),
    [
        (np.array([0.0, 1 / 3, 1 / 3, 1 / 3]), False),
        (np.full(5, 0.25), True),
        (np.array([0.9, 0.1, 0.5]), False),
        (np.array([1.0, 0.2, 0.0]), False),
        (np.array([1 - 1e-12, 0.5, 0.5]), False),  # near the identity: two words a row
        (np.zeros(3), False),
    ],
)
def test_what_is_recovered_against_every_value_tried(build, retention, missing, paired):
    op = operator("s", retention, missing)
    before = Table.of({"s": column(len(retention) - missing, 1, missing)})
    after = perturbed(before, op)
    example = case(build, before, after, [op], seeded(PERTURB), paired=paired)
    found = replay(op, "s", *example.args)
    assert found is not None
    assert (found.rows, found.of) == (ROWS, ROWS)
    assert found.share == pytest.approx(expected(op, before["s"], after["s"]))


def test_the_shuffle_is_undone(build):
    op = operator("s", np.array([0.2, 0.5, 0.5]))
    before = Table.of({"s": column(3, 2)})
    after = perturbed(before, op)
    keys = Draws(KEY.step("shuffle-study"), 1).words(after.rows)[:, 0]
    order = np.lexsort((after.rows, keys))
    shuffled = Table({"s": after["s"].take(order)}, np.arange(ROWS))
    plain = replay(op, "s", *case(build, before, after, [op], seeded(PERTURB), paired=False).args)
    steps = seeded(PERTURB, SHUFFLE)
    found = replay(op, "s", *case(build, before, shuffled, [op], steps, paired=False).args)
    assert found == plain or (found.recovered, found.rows) == (plain.recovered, plain.rows)
    assert found.share > 0.4


def test_several_attributes_of_one_step(build):
    ops = [
        operator("s", np.array([0.2, 0.5, 0.5])),
        operator("t", np.array([1 - 1e-12, 0.7])),
        operator("u", [0.5] * 4),
    ]
    before = Table.of({"s": column(3, 2), "t": column(2, 3), "u": column(4, 4)})
    example = case(build, before, perturbed(before, *ops), ops, seeded(PERTURB))
    for op in ops:
        assert replay(op, op.attribute, *example.args).share > 0.4


@pytest.mark.parametrize(
    "steps",
    [
        None,
        seeded(PERTURB, seed="another"),
        seeded(("other-name", "fine_grain_perturbation", "same")),
    ],
)
def test_without_the_right_seed_nothing_is_recovered(build, steps):
    op = operator("s", np.array([0.2, 0.5, 0.5]))
    op = (
        op
        if steps is None or steps.steps[0].name == "perturb"
        else Operator("s", op.domain, op.retention, "other-name")
    )
    before = Table.of({"s": column(3, 2)})
    example = case(build, before, perturbed(before, operator("s", op.retention)), [op], steps)
    assert replay(op, "s", *example.args) is None


@pytest.mark.parametrize("rows", ["fewer", "generated"])
def test_rows_that_cannot_be_numbered(build, rows):
    op = operator("s", np.array([0.2, 0.5, 0.5]))
    before = Table.of({"s": column(3, 2)})
    steps = seeded(("sample", "sample", rows), PERTURB)
    example = case(build, before, perturbed(before, op), [op], steps, paired=False)
    assert replay(op, "s", *example.args) is None


def test_a_large_domain_is_sampled(build):
    op = operator("s", np.random.default_rng(1).random(5000))
    before = Table.of({"s": column(5000, 2)})
    found = replay(op, "s", *case(build, before, perturbed(before, op), [op], seeded(PERTURB)).args)
    assert found.rows < found.of == ROWS
    assert found.share > 0.3
