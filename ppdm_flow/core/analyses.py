"""An analysis that a recipient will run: a frequency table, means by group, or a regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.model import Flag, Model, Texts

AUDIT = "analyses"
"""The audit that runs the analyses of a policy, and how it is named in metrics."""
FORMS = ("table", "mean", "regression")
_KEYS = {
    "table": frozenset({"table", "least_count", "weighted"}),
    "mean": frozenset({"mean", "by", "least_count", "weighted"}),
    "regression": frozenset({"regression", "on", "model", "positive", "weighted"}),
}


class Analysis(Model):
    """One of ``table``, ``mean`` and ``regression``; attributes have their names in the source."""

    table: Texts | None = None
    mean: str | None = None
    by: tuple[str, ...] = ()
    regression: str | None = None
    on: Texts | None = None
    model: Literal["linear", "logistic"] = "linear"
    positive: str | None = None
    least_count: Annotated[int, Field(ge=1)] = 10
    weighted: Flag = True

    @property
    def form(self) -> str:
        """Which of the three it is; of several the first, and ``""`` where it is none."""
        return next((form for form in FORMS if getattr(self, form) is not None), "")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the source that it needs, each once: first what is explained."""
        first = [each for each in (self.mean, self.regression) if each is not None]
        return tuple(dict.fromkeys((*first, *(self.table or ()), *self.by, *(self.on or ()))))

    @property
    def number(self) -> str | None:
        """The attribute that has to hold numbers."""
        return self.mean if self.form == "mean" else self.regression if self.model == "linear" else None


@dataclass(frozen=True, slots=True)
class FormFault:
    """What is wrong with the form of an analysis, at ``path`` below it; ``of_key``: with the key, not its value."""

    path: tuple[str, ...]
    message: str
    hint: str = ""
    of_key: bool = True


def form_faults(analysis: Analysis) -> Iterator[FormFault]:
    """Yield what is wrong with an analysis beyond the types of its keys."""
    given = [form for form in FORMS if getattr(analysis, form) is not None]
    if len(given) != 1:
        what = "none of them" if not given else " and ".join(f"`{form}`" for form in given)
        hint = "write one of `table: [sex, job]`, `mean: income` and `regression: income`"
        yield FormFault((), f"an analysis has one of `table`, `mean` and `regression`, and this has {what}", hint)
        return
    form = given[0]
    for key in sorted(analysis.model_fields_set - _KEYS[form]):
        yield FormFault((key,), f"`{key}` says nothing beside `{form}`", "leave it out")
    if form != "regression":
        return
    if analysis.on is None:
        yield FormFault((), "a regression needs `on`: the attributes that explain the response", "add `on: [age]`")
    elif analysis.regression in analysis.on:
        yield FormFault(("on",), f"`{analysis.regression}` cannot explain itself", of_key=False)
    if analysis.model == "logistic" and analysis.positive is None:
        text = "a logistic regression needs `positive`: the value of the response that counts as 1"
        yield FormFault((), text, 'add `positive: "yes"`')
    if analysis.model == "linear" and analysis.positive is not None:
        yield FormFault(("positive",), "`positive` goes with `model: logistic`", "add `model: logistic`")
