"""Sensitive values chosen from the data: against pandas on random tables, and as the paper prints its attributes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.templates.choosing import choose
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, SensitiveChoice
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

ID = "privacy.templates.t"
ADULT = {
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "native-country": 13,
    "class": 14,
}
CRX = {f"A{place + 1}": place for place in (0, 3, 4, 5, 6, 8, 9, 11, 12, 15)}


def view_of(frame: pd.DataFrame, weight: str | None = None) -> InMemoryView:
    columns = {}
    for name in frame:
        codes, names = pd.factorize(frame[name], sort=True)
        columns[str(name)] = Column(codes.astype(np.int32), pa.array(list(names), pa.string()))
    roles = {weight: Role.WEIGHT} if weight else {}
    return InMemoryView.of(Table(columns, np.arange(len(frame))), roles)


def template(top: int, channel: tuple[str, ...], rarest: float = 0.5, target: str = "y") -> InferenceTemplate:
    choice = SensitiveChoice(top=top, target=target, rarest=rarest)
    return InferenceTemplate.of(ID, "t", channel=channel, sensitive=choice, confidence=0.5)


def chosen(frame: pd.DataFrame, top: int, rarest: float = 0.5, target: str = "y", **more):
    """Choose with a channel of all attributes, and one more that nobody can choose."""
    names = [str(n) for n in frame if n not in (target, more.get("weight"))]
    facts = [AttributeFacts(name, Role.INSENSITIVE) for name in (*names, target)]
    channel = (*names, "elsewhere")
    return choose(template(top, channel, rarest, target), facts, view_of(frame, **more))


def bits(series: pd.Series) -> float:
    shares = series.value_counts(normalize=True)
    return float(-(shares * np.log2(shares)).sum())


def by_pandas(frame: pd.DataFrame, top: int, rarest: float, target: str = "y") -> dict[str, list[str]] | None:
    """The rule of the page, row by row."""
    rows = frame[frame[target].notna()]
    left = [str(n) for n in frame if n != target and (rows[n].value_counts() >= 2).sum() >= 2]
    found: dict[str, list[str]] = {}
    for _ in range(top):
        if not left:
            return None
        gain, ratio = {}, {}
        for name in left:
            known = rows[rows[name].notna()]
            within = sum(len(part) / len(known) * bits(part[target]) for _, part in known.groupby(name))
            gain[name] = len(known) / len(rows) * (bits(known[target]) - within)
            ratio[name] = gain[name] / bits(rows[name].fillna("\0"))
        few = [n for n in left if rows[n].nunique() < 0.3 * len(rows)] or left
        least = np.mean([gain[n] for n in few]) - 1e-3
        best = max((n for n in left if gain[n] >= least), key=lambda n: round(ratio[n], 12))
        counts = frame[best].value_counts()
        values = sorted(counts.index, key=lambda v: (counts[v], v))
        found[best] = values[: max(1, math.floor(rarest * len(values) + 1e-9))]
        left.remove(best)
    return found


cells = st.sampled_from(["a", "b", "c", "d", None])
frames = st.integers(6, 30).flatmap(
    lambda n: st.fixed_dictionaries(
        {name: st.lists(cells, min_size=n, max_size=n) for name in ("p", "q", "r")}
        | {"y": st.lists(st.sampled_from(["0", "1", "1", None]), min_size=n, max_size=n)}
    )
)


@examples(60)
@given(frames, st.integers(1, 3), st.sampled_from([0.2, 0.5, 1.0]))
def test_the_rule_by_pandas(columns, top, rarest):
    frame = pd.DataFrame(columns, dtype=object)[["p", "q", "r", "y"]]
    expected = by_pandas(frame, top, rarest) if len(set(frame["y"].dropna())) > 1 else None
    if expected is None:
        with pytest.raises(DataError) as caught:
            chosen(frame, top, rarest)
        assert [d.code for d in caught.value.diagnostics] == ["PPF493"]
        return
    fields = chosen(frame, top, rarest)
    assert fields["sensitive"] == expected
    assert list(fields["sensitive"]) == list(expected)
    assert fields["channel"] == [n for n in ("p", "q", "r", "elsewhere") if n not in expected]
    assert fields["chosen_by"] == {"top": str(top), "target": "y", "rarest": repr(rarest)}


def complete(file, places: dict[str, int]) -> pd.DataFrame:
    read = pd.read_csv(file, header=None, dtype=str, skipinitialspace=True, na_values="?").dropna()
    return read[list(places.values())].set_axis(list(places), axis=1).reset_index(drop=True)


def test_the_papers_attributes_of_adult(data):
    """Section 5.2: "Top4 attributes are M, Re, E, S in that order"; half of 7, 6, 16 and 2 values."""
    frame = complete(data / "adult_uci/adult.data.gz", ADULT)
    assert len(frame) == 30_162
    values = chosen(frame, 4, target="class")["sensitive"]
    found = [(name, len(each)) for name, each in values.items()]
    assert found == [("marital-status", 3), ("relationship", 3), ("education", 8), ("sex", 1)]
    assert values["sex"] == ["Female"]
    one = chosen(frame, 1, target="class")["sensitive"]
    assert list(one) == ["marital-status"]


def test_the_papers_attributes_of_crx(data):
    """Its Table 3 has 40, 27, 15, 8 and 6 inferences for these, from its training part (465 records)."""
    frame = complete(data / "crx/crx.data", CRX)[:465]
    fields = chosen(frame, 4, target="A16")
    assert [(n, len(v)) for n, v in fields["sensitive"].items()] == [("A9", 1), ("A10", 1), ("A7", 4), ("A6", 7)]
    assert fields["channel"] == ["A1", "A4", "A5", "A12", "A13", "elsewhere"]


def test_ties_go_by_columns_and_texts():
    frame = pd.DataFrame({"q": list("aabbccdd"), "p": list("aabbccdd"), "y": list("00001111")})
    assert chosen(frame, 1)["sensitive"] == {"q": ["a", "b"]}
    assert chosen(frame[["p", "q", "y"]], 1)["sensitive"] == {"p": ["a", "b"]}


def test_a_weight_counts_as_so_many_rows():
    frame = pd.DataFrame({"p": list("aabb"), "q": list("abab"), "y": list("0101"), "w": list("9119")})
    repeated = frame.loc[frame.index.repeat(frame["w"].astype(int))].drop(columns="w").reset_index(drop=True)
    assert chosen(frame, 1, weight="w")["sensitive"] == chosen(repeated, 1)["sensitive"]
    assert chosen(frame.assign(w=["9", "9", "9", "0"]), 1, weight="w")["sensitive"] == {"q": ["b"]}


def test_only_texts_with_a_fitting_role_are_chosen():
    """Else `p`, which tells the class, would be chosen in all cases."""
    frame = pd.DataFrame({"p": list("aabb"), "q": list("aabb"), "y": list("0011")})
    for role in Role:
        facts = [AttributeFacts("p", role), AttributeFacts("q", Role.SENSITIVE), AttributeFacts("y", Role.TARGET)]
        may = role in (Role.SENSITIVE, Role.INSENSITIVE, Role.QUASI_IDENTIFIER)
        fields = choose(template(1, ("elsewhere",)), facts, view_of(frame))
        assert list(fields["sensitive"]) == (["p"] if may else ["q"])
    numbers = [AttributeFacts("p", Role.SENSITIVE, AttributeType.INTEGER), AttributeFacts("q", Role.SENSITIVE)]
    assert list(choose(template(1, ("elsewhere",)), numbers, view_of(frame))["sensitive"]) == ["q"]


@pytest.mark.parametrize(
    ("top", "channel", "target", "why"),
    [
        (3, ("z",), "y", "only 2 can be"),
        (2, ("p", "q"), "y", "none is left"),
        (1, ("z",), "x", "no column `x`"),
        (1, ("z",), "one", "less than two values"),
    ],
)
def test_what_cannot_be_chosen_is_refused(top, channel, target, why):
    frame = pd.DataFrame({"p": list("aabb"), "q": list("abab"), "y": list("0011"), "one": list("0000")})
    facts = [AttributeFacts(name, Role.INSENSITIVE) for name in ("p", "q", "y")]
    with pytest.raises(DataError) as caught:
        choose(template(top, channel, target=target), facts, view_of(frame))
    (fault,) = caught.value.diagnostics
    assert (fault.code, why in fault.message) == ("PPF493", True)


def test_a_template_that_names_its_values_chooses_nothing():
    plain = InferenceTemplate.of(ID, "t", channel=("p",), sensitive={"q": ("a",)}, confidence=0.5)
    with pytest.raises(ValueError, match="names its values"):
        choose(plain, [], view_of(pd.DataFrame({"p": ["a"]})))
