"""Against pycanon, an independent implementation.

What it defines otherwise than the papers: entropy diversity is rounded down to a whole number; recursive diversity
sorts the counts ascending, so that r_1 is the rarest value's; delta-disclosure leaves out values that a class lacks.
"""

from __future__ import annotations

import gzip
import math
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.registry import load

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pycanon import anonymity as pycanon

DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "arx_adult" / "adult.csv.gz"


def tables():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(20, 200))
        draw = rng.integers(0, 4, (size, 3))
        yield pd.DataFrame({"p": draw[:, 0].astype(str), "q": draw[:, 1].astype(str), "s": draw[:, 2]}), ["p", "q"]


def adult():
    if not ADULT.is_file():
        return
    with gzip.open(ADULT, "rt", encoding="utf-8") as stream:
        frame = pd.read_csv(stream, sep=";", dtype=str)
    yield frame[["sex", "race", "marital-status", "salary-class", "occupation"]], ["sex", "race", "marital-status"]


def figure(build, frame, grouping, requirement, metric):
    columns = {n: [str(v) for v in frame[n]] for n in frame}
    roles = "".join("q" if n in grouping else "s" for n in frame)
    example = build.case(columns, columns, roles, requirements=(requirement,))
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params()).measure(*example.args).figures[f"r.{metric}"].value


@pytest.mark.slow
@pytest.mark.parametrize("source", [tables, adult])
@pytest.mark.filterwarnings("ignore")
def test_the_same_figures(source, build):
    for frame, grouping in source():
        s, by = frame.columns[-1], tuple(grouping)
        ours = lambda requirement, metric: figure(build, frame, grouping, requirement, metric)  # noqa: B023, E731
        assert ours(KAnonymity.of("r", k=2, attributes=by), "k") == pycanon.k_anonymity(frame, grouping)
        many = ours(LDiversity.of("r", s, l=2, attributes=by), "l")
        assert many == pycanon.l_diversity(frame, grouping, [s])
        entropy = ours(LDiversity.of("r", s, l=2, attributes=by, variant=Diversity.ENTROPY), "l")
        assert math.floor(entropy + 1e-9) in (
            pycanon.entropy_l_diversity(frame, grouping, [s]),
            pycanon.entropy_l_diversity(frame, grouping, [s]) + 1,  # where rounding there falls short of a whole number
        )
        alpha, _ = pycanon.alpha_k_anonymity(frame, grouping, [s])
        assert ours(AlphaK.of("r", s, alpha=0.5, attributes=by), "alpha") == pytest.approx(alpha)
        beta = pycanon.basic_beta_likeness(frame, grouping, [s])
        assert ours(BetaLikeness.of("r", s, beta=1.0, attributes=by), "beta") == pytest.approx(beta)
        distance = Distance.EQUAL if frame[s].dtype.kind in "OUT" or s == "occupation" else Distance.ORDERED
        close = pycanon.t_closeness(frame, grouping, [s])
        assert ours(TCloseness.of("r", s, t=0.2, attributes=by, distance=distance), "t") == pytest.approx(close)
        delta = ours(DeltaDisclosure.of("r", s, delta=1.0, attributes=by), "delta")
        assert delta is None or delta == pytest.approx(pycanon.delta_disclosure(frame, grouping, [s]))


@pytest.mark.filterwarnings("ignore")
def test_delta_of_a_class_that_lacks_a_value(build):
    """A person in class a has not 2, for certain."""
    frame = pd.DataFrame({"p": ["a"] * 5 + ["b"] * 10, "s": [1] * 5 + [1] * 5 + [2] * 5})
    assert figure(build, frame, ["p"], DeltaDisclosure.of("r", "s", delta=1.0, attributes=("p",)), "delta") is None
    assert math.isfinite(pycanon.delta_disclosure(frame, ["p"], ["s"]))


@pytest.mark.filterwarnings("ignore")
def test_recursive_diversity_begins_with_the_most_frequent_value(build):
    """90 of 100 have one value: 90 < c 5 needs c > 18, where pycanon finds that c = 1 will do, as 5 < 90 is true."""
    frame = pd.DataFrame({"p": ["a"] * 100, "s": [1] * 90 + [2] * 5 + [3] * 5})
    for c, expected in ((18.0, 2), (18.1, 3)):
        assert (
            figure(
                build,
                frame,
                ["p"],
                LDiversity.of("r", "s", l=2, attributes=("p",), variant=Diversity.RECURSIVE, c=c),
                "l",
            )
            == expected
        )
    assert pycanon.recursive_c_l_diversity(frame, ["p"], ["s"]) == (1, 3)
