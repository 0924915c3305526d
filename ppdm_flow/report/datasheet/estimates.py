"""How recipients estimate what the original had from values that were changed with known probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.texts.file_names import CONTRACT, OPERATOR
from ppdm_flow.report.datasheet.given import DatasheetInput

FINE_GRAIN, SETS = "fine_grain", "transactions"
"""Forms of entries in ``operator.json``; all others are tables of probabilities."""
PER_PERSON = "values_per_person"
"""The key of an entry that says that rows of one person with equal values were changed alike."""
_EXAMPLE = (
    "An example, with invented numbers: of two values A and B each is kept with a probability of 60%, and else one"
    " of the two is drawn evenly. Where it was A, A is then shown with 60% + 20% = 80%; where it was B, with 20%. If"
    " 440 of 1,000 rows show A, its original share is estimated as (0.44 - 0.20) / (0.80 - 0.20) = 0.40: about 400"
    " rows, and not 440."
)
_SETS_EXAMPLE = (
    "An example, with invented numbers: an item of a set is kept with a probability of 70%, and one that was not there"
    " is put in with 10%. If 340 of 1,000 sets show an item, its original share is estimated as"
    " (0.34 - 0.10) / (0.70 - 0.10) = 0.40: about 400 sets."
)
_OF_SETS = (
    f"`{OPERATOR}` says, for sets of each length, with which probabilities items were kept and put in. From them"
    " follows how often an item or a small combination of items occurred."
)
_CONTRACT = f"Beside it, `{CONTRACT}` says which supports are large enough to be found."
_INTERVALS = (
    "An estimate has an error of chance, which the program gives as an interval. It is large for few rows and for rare"
    " values, and an estimate may even lie below 0 or above 1: then it says that there is too little to tell."
)


_PEOPLE = "Rows of one person with equal values were changed alike, so intervals are wider than so many rows suggest."


@dataclass(frozen=True, slots=True)
class Estimate:
    """How to correct what is counted in one column, sentence by sentence; ``formula`` and ``command`` may be empty."""

    column: str
    sentences: tuple[str, ...]
    formula: str = ""
    command: str = ""
    example: str = ""


def estimates(given: DatasheetInput) -> Iterator[Estimate]:
    """Yield what is known of each column with an operator, then of those that were perturbed and have none."""
    entries = given.beside.get(OPERATOR, {}).get("operators", [])
    for entry in entries:
        if entry["form"] == SETS:
            yield _of_sets(entry, contract=CONTRACT in given.beside)
        else:
            yield _of_values(entry)
    known = {entry["attribute"] for entry in entries}
    perturbed = [
        column["name"]
        for column in given.node["attributes"]
        if column["name"] not in known and any(c["change"] == Change.PERTURBED for c in column.get("changes", ()))
    ]
    if perturbed:
        text = (
            f"No published operator describes {listed(perturbed)}: counts of it cannot be corrected from this folder."
        )
        yield Estimate("", (f"{text} Ask the owner of the data before you take them for those of the original.",))


def _of_values(entry: dict[str, Any]) -> Estimate:
    name, fine = entry["attribute"], entry["form"] == FINE_GRAIN
    if fine:
        how = (
            "For each value of `domain` it gives under `retention` the probability with which it was kept; else one of"
            " all m values was drawn evenly."
        )
        formula = (
            "f(v) = (o(v) - c) / p(v), with c = (Σ o(w) / p(w) - 1) / Σ 1 / p(w) over all values w, where no p is 0"
        )
    else:
        how = (
            "Row by row of `transition` it gives the probabilities with which a value of `domain` became each of them."
        )
        formula = "f = (Pᵀ)⁻¹ o, P being the table `transition`"
    where = (
        "o is the share of each value as it is shown, f the estimate of its share in the original; this holds for all"
        " rows, and for any group of rows that columns select which were not made together with this one."
    )
    twice = (_PEOPLE,) if PER_PERSON in entry else ()
    last = () if fine else ("Where the table cannot be inverted, `--method em` gives the most likely shares.",)
    sentences = (
        f"`{OPERATOR}` says how the values of this column were changed. {how}",
        where,
        *last,
        *twice,
        _INTERVALS,
    )
    return Estimate(name, sentences, formula, f"ppdm-flow reconstruct . --attribute {quote(name)}", _EXAMPLE)


def _of_sets(entry: dict[str, Any], *, contract: bool) -> Estimate:
    command = "ppdm-flow mine . --min-support 5%"
    sentences = (_OF_SETS, _CONTRACT, _INTERVALS) if contract else (_OF_SETS, _INTERVALS)
    return Estimate(entry["attribute"], sentences, command=command, example=_SETS_EXAMPLE)
