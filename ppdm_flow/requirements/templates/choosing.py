"""Chooses sensitive values from the data: the attributes that best predict a class, and the rarest values of each.

Wang, Fung and Yu (ICDM 2005, section 5) take the attribute at the root of the decision tree that C4.5 grows, leave it
out, grow the next tree, and so on. C4.5 puts that attribute at the root which has the highest gain ratio among those
with at least the mean gain (Quinlan, C4.5: Programs for Machine Learning, 1993, section 2.2). The paper has the other
attributes for its channel; here the chosen ones leave the channel of the template.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import entropy

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import counted
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, SensitiveChoice, may_be_chosen
from ppdm_flow.sdk.view import DataView, count_each

Integers = npt.NDArray[np.int64]

_SLACK = 1e-3
"""What C4.5 lets a gain lie below the mean (`Epsilon` in its source)."""
_FEWEST = 2
"""Rows of a branch that counts, and branches of an attribute that C4.5 tests (`MINOBJS`)."""
_MANY = 0.3
"""An attribute with values for more than this share of the rows has no part in the mean gain, unless all do."""


def choose(template: InferenceTemplate, attributes: Sequence[AttributeFacts], view: DataView) -> Mapping[str, Any]:
    """Return what the entry of a template says once its values are chosen: ``sensitive``, ``channel``, ``chosen_by``.

    Ties are broken by the order of columns, and among values by their text. Raises DataError where there are too few
    attributes to choose from, or none is left in the channel.
    """
    choice = template.choice
    if choice is None:
        raise ValueError("the template names its values")
    if choice.target not in view.schema:
        raise _fault(template, f"the data has no column `{choice.target}` to rank attributes by")
    classes = view.counts([choice.target])
    if int(((classes.of(choice.target) >= 0) & (classes.counts > 0)).sum()) < _FEWEST:
        raise _fault(template, f"`{choice.target}` has less than two values, so that nothing predicts it")
    candidates = [a.name for a in attributes if may_be_chosen(a.role, a.type) and a.name != choice.target]
    count_each(view, candidates)
    ranked = rank_attributes({name: _by_class(view, name, choice.target) for name in candidates}, choice.top)
    if len(ranked) < choice.top:
        text = f"`top` asks for {counted(choice.top, 'attribute')}, and only {len(ranked)} can be chosen"
        raise _fault(template, text)
    channel = [name for name in template.channel if name not in ranked]
    if not channel:
        raise _fault(template, "every attribute of its channel was chosen as sensitive, so that none is left")
    return {
        "sensitive": {name: rarest_values(view, name, choice.rarest) for name in ranked},
        "channel": channel,
        "chosen_by": _written(choice),
    }


def rank_attributes(counts: Mapping[str, Integers], top: int) -> list[str]:
    """Return up to ``top`` attributes, each the root of C4.5's tree without those before it.

    ``counts`` are rows by value and class, shape (values + 1, classes): the last line has the rows without a value.
    """
    tests = {name: test for name, each in counts.items() if (test := RootTest.of(each)) is not None}
    ranked: list[str] = []
    while tests and len(ranked) < top:
        few = [test.gain for test in tests.values() if not test.many_valued]
        least = float(np.mean(few or [test.gain for test in tests.values()])) - _SLACK
        best = max((n for n, test in tests.items() if test.gain >= least), key=lambda n: round(tests[n].ratio, 12))
        ranked.append(best)
        del tests[best]
    return ranked


@dataclass(frozen=True, slots=True)
class RootTest:
    """The test of one attribute at the root of a tree: its ``gain`` in bits a row, and its gain ratio."""

    gain: float
    ratio: float
    many_valued: bool

    @classmethod
    def of(cls, counts: Integers) -> RootTest | None:
        """Return the test; None where no two values have two rows each, so that C4.5 makes none."""
        total, known = int(counts.sum()), counts[:-1]
        sizes = known.sum(axis=1)
        if (sizes >= _FEWEST).sum() < _FEWEST:
            return None
        rows, some = int(known.sum()), sizes > 0
        within = float((sizes[some] / rows * entropy(known[some], base=2, axis=1)).sum())
        gain = rows / total * (float(entropy(known.sum(axis=0), base=2)) - within)
        ratio = gain / float(entropy(counts.sum(axis=1), base=2))
        return cls(gain, ratio, many_valued=(sizes > 0).sum() >= _MANY * total)


def rarest_values(view: DataView, attribute: str, share: float) -> list[str]:
    """Return the least frequent values, rarest first: this share of all that occur, rounded down, and at least one."""
    counts = view.counts([attribute])
    known = (counts.of(attribute) >= 0) & (counts.counts > 0)
    texts = counts.names(attribute).to_pylist()
    values = sorted(
        zip(counts.counts[known].tolist(), (texts[code] for code in counts.of(attribute)[known].tolist()), strict=True)
    )
    number = max(1, math.floor(share * len(values) + 1e-9))
    return [value for _, value in values[:number]]


def _by_class(view: DataView, attribute: str, target: str) -> Integers:
    """Count rows by value and class; those without a class are left out, those without a value come last."""
    counts = view.counts([attribute, target])
    some = (counts.of(target) >= 0) & (counts.counts > 0)
    values, classes = counts.of(attribute)[some], counts.of(target)[some]
    width, size = len(counts.names(target)), len(counts.names(attribute))
    places = np.where(values < 0, size, values).astype(np.int64) * width + classes
    table = np.bincount(places, weights=counts.counts[some], minlength=(size + 1) * width)
    return table.astype(np.int64).reshape(size + 1, width)


def _written(choice: SensitiveChoice) -> dict[str, str]:
    return {"top": str(choice.top), "target": choice.target, "rarest": repr(choice.rarest)}


def _fault(template: InferenceTemplate, why: str) -> DataError:
    text = f"the sensitive values of template `{template.name}` cannot be chosen: {why}"
    help_ = "attributes with texts and the role `sensitive`, `insensitive` or `quasi_identifier` can be chosen"
    return DataError(Diagnostic("PPF493", text, template.span, help=help_))
