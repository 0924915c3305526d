"""``ppdm-flow reconstruct``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import columns, conditions
from ppdm_flow.cli.terminal.estimates import table
from ppdm_flow.cli.terminal.options import Operator, OutputFile, ReleasePath, option
from ppdm_flow.cli.terminal.output import complain, deliver

EXAMPLES = (
    "reconstruct runs/hospital/RUN",
    "reconstruct runs/hospital/RUN/released/medical --by age,sex",
    "reconstruct medical.parquet --where sex=female --where age='[65, 120)' --method em --format csv",
)


class EstimateFormat(StrEnum):
    """How estimates are written."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


class EstimationMethod(StrEnum):
    """How estimates are made."""

    INVERSE = "inverse"
    EM = "em"


def reconstruct(
    release: ReleasePath,
    by: Annotated[list[str] | None, option("--by", "NAME,…", "Estimate for each group of these columns.")] = None,
    where: Annotated[
        list[str] | None,
        option("--where", "NAME=VALUE", "Only rows with this value; repeatable, one name twice means either value."),
    ] = None,
    attribute: Annotated[
        str | None, option("--attribute", "NAME", "The perturbed attribute, if there are several.")
    ] = None,
    method: Annotated[
        EstimationMethod,
        typer.Option("--method", help="The operator's inverse, or maximum likelihood (iterative Bayesian)."),
    ] = EstimationMethod.INVERSE,
    level: Annotated[float, option("--level", "SHARE", "How sure intervals are.")] = 0.95,
    operator: Operator = None,
    form: Annotated[EstimateFormat, typer.Option("--format", help="How to write the estimates.")] = EstimateFormat.TEXT,
    output_file: OutputFile = None,
) -> None:
    """Estimate, from a release alone, how often each value of a perturbed attribute occurred before.

    Exit status: 0 estimated, 2 the release or a column is not there, or its values do not fit the operator.
    """
    answer = api.reconstruct(
        release, columns(by or ()), conditions(where or ()), attribute, method.value, level, operator
    )
    complain(answer.diagnostics, {})
    deliver(
        table(answer) if form is EstimateFormat.TEXT else answer.document(form.value),
        output_file,
        exact=form is EstimateFormat.CSV,
    )
