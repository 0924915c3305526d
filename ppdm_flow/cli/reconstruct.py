"""``ppdm-flow reconstruct``."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ppdm_flow import api
from ppdm_flow.api.arguments import columns, conditions
from ppdm_flow.cli.terminal.options import Operator, OutputFile, ReleasePath, option, share_option
from ppdm_flow.cli.terminal.output import aligned, complain, deliver

if TYPE_CHECKING:  # the other verbs start faster without it
    from ppdm_flow.api.mine.estimates import ReconstructedCounts
    from ppdm_flow.api.mine.noise import ReconstructedNumbers

EXAMPLES = (
    "reconstruct runs/hospital/RUN",
    "reconstruct runs/hospital/RUN/released/medical --by age,sex",
    "reconstruct runs/wages/RUN/released/study --attribute salary --cells 12",
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
    level: Annotated[float, share_option("--level", "Confidence level of intervals.")] = 0.95,
    operator: Operator = None,
    cells: Annotated[
        int | None,
        typer.Option("--cells", metavar="N", help="Cells of numbers with noise; about as wide as the noise."),
    ] = None,
    form: Annotated[EstimateFormat, typer.Option("--format", help="How to write the estimates.")] = EstimateFormat.TEXT,
    output_file: OutputFile = None,
) -> None:
    """Estimate, from a release alone, how often each value of a perturbed attribute occurred before.

    Numbers to which noise was added, as the noise.json beside them says, are estimated in cells, by maximum likelihood.

    Exit status: 0 estimated, 2 the release or a column is not there, or its values do not fit the operator.
    """
    answer = api.reconstruct(
        release, columns(by or ()), conditions(where or ()), attribute, method.value, level, operator, cells
    )
    complain(answer.diagnostics, {})
    deliver(
        _text(answer) if form is EstimateFormat.TEXT else answer.document(form.value),
        output_file,
        exact=form is EstimateFormat.CSV,
    )


def _text(answer: ReconstructedCounts | ReconstructedNumbers) -> str:
    from ppdm_flow.api.mine.noise import ReconstructedNumbers  # noqa: PLC0415  # read by then

    return noise_table(answer) if isinstance(answer, ReconstructedNumbers) else table(answer)


def noise_table(answer: ReconstructedNumbers) -> str:
    """Return the estimates of a column with noise as text."""
    from ppdm_flow.mining.reconstruction.additive_noise import TOLERANCE  # noqa: PLC0415  # read by then

    name, reconstruction = answer.noise.attribute, answer.reconstruction
    rows = int(reconstruction.released.sum())
    where = "".join(f", {key} = {' or '.join(_shown(v) for v in vs)}" for key, vs in answer.where.items())
    unit = "" if answer.noise.sd is not None else ", estimated from the release"
    lines: list[tuple[str, ...]] = [(name, "released", "estimate", "std. error", "low", "high")]
    for label, row in answer.rows():
        lines.append((label, f"{row['released']:,.0f}", *(_number(n) for n in list(row.values())[1:])))
    return "\n".join(
        [
            f"{name} in {answer.file}{where}: {rows:,} released rows",
            f"noise: {answer.law.distribution}, standard deviation {answer.law.sd:.6g}{unit}",
            f"original counts by maximum likelihood (iterative Bayesian), intervals of {answer.level * 100:g} %",
            "",
            *aligned(lines),
            "",
            "An estimate says how many of the released rows had a number in the cell before noise was added. Narrower",
            "cells (--cells) tell more, and are less certain.",
            "An interval is by the profile of the likelihood, for its cell alone: rows and noise count as chance.",
            _iterations(
                reconstruction.rounds, reconstruction.gap, all_of=reconstruction.gap <= TOLERANCE, direct=False
            ),
        ]
    )


_NAMED = 10


def table(answer: ReconstructedCounts) -> str:
    """Return the whole answer as text."""
    return "\n".join([*_head(answer), "", *_groups(answer), *_notes(answer)])


def _head(answer: ReconstructedCounts) -> Iterator[str]:
    rows = int(answer.reconstruction.total.sum())
    where = "".join(f", {name} = {' or '.join(_shown(v) for v in vs)}" for name, vs in answer.where.items())
    how = "matrix inverse" if answer.method == "inverse" else "maximum likelihood (iterative Bayesian reconstruction)"
    yield f"{answer.operator.attribute} in {answer.file}{where}: {rows:,} released row{'' if rows == 1 else 's'}"
    yield f"original counts by {how}, intervals of {answer.level * 100:g} %"


def _groups(answer: ReconstructedCounts) -> Iterator[str]:
    small = answer.small
    for number, key in enumerate(answer.groups.keys):
        if key:
            pairs = ", ".join(f"{n} = {_shown(v)}" for n, v in zip(answer.groups.columns, key, strict=True))
            rows = int(answer.reconstruction.total[number])
            yield f"{pairs}: {rows:,} row{'' if rows == 1 else 's'}{' (too small)' if small[number] else ''}"
        yield from aligned([_columns(answer), *_lines(answer, number)])
        yield ""


def _columns(answer: ReconstructedCounts) -> tuple[str, ...]:
    return (answer.operator.attribute, "released", "estimate", "std. error", "low", "high")


def _lines(answer: ReconstructedCounts, number: int) -> Iterator[tuple[str, ...]]:
    groups = answer.reconstruction
    alike = set(groups.alike.tolist())
    arrays = (groups.estimate, groups.error, groups.low, groups.high)
    columns = [groups.released[number].tolist(), *(array[number].tolist() for array in arrays)]
    for place, (value, numbers) in enumerate(zip(answer.operator.domain, zip(*columns, strict=True), strict=True)):
        released, estimate, error, low, high = numbers
        same = place in alike
        yield (
            _shown(value) + (" *" if same else ""),
            f"{released:,.0f}",
            _number(estimate),
            "?" if same else _number(error),
            _number(low),
            _number(high),
        )
    if groups.together is not None:
        sums = groups.together
        figures = (sums.estimate, sums.error, sums.low, sums.high)
        yield ("all * together", f"{sums.released[number]:,.0f}", *(_number(float(a[number])) for a in figures))


def _notes(answer: ReconstructedCounts) -> Iterator[str]:
    groups = answer.reconstruction
    yield "An estimate says how many of the released rows had the value before it was perturbed. An interval is for its"
    yield "value alone and about these very rows: only the perturbation counts as chance, not who came into the table."
    if answer.operator.per_person is not None:
        yield "Rows are counted, not people. Rows of one person with an equal value were drawn together: that leaves"
        yield "estimates as they are, but true errors are larger than these, which take each row for a draw of its own."
    if answer.method == "inverse":
        yield "Estimates are brought to 0 or more; `--format csv` and `json` have the unbiased ones as well."
    if groups.rounds is not None and groups.gap is not None and groups.converged is not None:
        settled = bool(groups.converged.all())
        yield _iterations(
            int(groups.rounds.max()), float(groups.gap.max()), all_of=settled, direct=answer.solved_directly
        )
    if len(groups.alike):
        names = [_shown(answer.operator.domain[i]) for i in groups.alike[:_NAMED].tolist()]
        more = f" and {len(groups.alike) - _NAMED} more" if len(groups.alike) > _NAMED else ""
        yield f"* cannot be told apart, since the operator keeps none of them: {', '.join(names)}{more}."
        yield "  Their estimates are equal shares of what they have together; each one's interval allows for any share."
    if answer.groups.columns and any(answer.small):
        yield "Too small: fewer than 30 rows, or not one value whose interval excludes 0."


def _iterations(rounds: int, gap: float, *, all_of: bool, direct: bool) -> str:
    state = "settled" if all_of else "NOT settled"
    more = "more " if direct else ""
    many = f"1 {more}round" if rounds == 1 else f"{rounds:,} {more}rounds"
    how = "was begun at its end, solved for directly, and has" if direct else "has"
    left = f"log-likelihood at most {max(gap, 1e-12):.1g} below its maximum"
    return f"The iteration {how} {state} after {many}: {left}."


def _number(value: float) -> str:
    return f"{value:,.1f}".replace("-0.0", "0.0") if abs(value) < 0.05 else f"{value:,.1f}"


def _shown(text: str | None) -> str:
    """Return a value on one line; missing and empty ones by words."""
    if text is None:
        return "(missing)"
    return "".join(c if c.isprintable() else "�" for c in text) or "(empty)"
