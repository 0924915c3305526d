"""What a corruption attack comes to, in sentences and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.sdk.audit import AuditContext

ERROR = 1e-6
"""How often a faithful release is called dependent by chance."""


def findings(column: str, figures: Mapping[str, Figure], known: int | None, ctx: AuditContext) -> Iterator[Finding]:
    """Yield what a reader should know of one column."""
    subject = f"{ctx.release}.{column}"
    tested = figures.get("independence_p")
    if tested is not None and tested.value is not None and tested.value < ERROR:
        text = (
            f"released values of `{column}` depend on the values of other rows: chance alone does this less than once"
            " in a million times. Whoever knows the others learns more than the operator allows"
        )
        yield Finding("PPF851", Severity.ERROR, text, subject)
    before, after = (figures[n].value for n in ("certain", "certain_after_corruption"))
    if before is not None and after is not None and after > before:
        text = (
            f"`{column}`: knowing the true value of {_others(known)} in a person's class makes the value certain for"
            f" {after:.2%} of the records; without it, for {before:.2%}"
        )
        yield Finding("PPF850", Severity.WARNING, text, subject)


def chart(by_column: Mapping[str, Mapping[str, Figure]], known: int | None) -> Chart:
    """Return the highest posteriors of every column, without and with corruption."""

    def series(label: str, name: str) -> FigureSeries:
        return FigureSeries(label, tuple(float(mine[name].value or 0.0) for mine in by_column.values()))

    return Chart(
        id="posteriors",
        title="What knowing others reveals",
        kind="bars",
        x=tuple(by_column),
        series=(
            series("knowing nobody else", "worst_posterior"),
            series(f"knowing {_others(known)}", "worst_after_corruption"),
        ),
        x_label="attribute",
        y_label="highest probability of a person's value",
        note="perturbed record by record: the same for any others; in classes: by the values that are left",
    )


def _others(known: int | None) -> str:
    if known is None:
        return "all others"
    return "one other person" if known == 1 else f"{known} other people"
