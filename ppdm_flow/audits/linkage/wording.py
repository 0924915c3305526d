"""What links mean, in sentences and a picture."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ppdm_flow.audits.linkage.links import LinkageAttack
from ppdm_flow.audits.linkage.spec import LinkageParams
from ppdm_flow.audits.records.columns import truthful
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, FigureSeries, Finding
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext

MOST = 5
"""People who are named, where values may be shown."""


_CROWDS = {
    "rows": "one row that fits is found; many that fit are a crowd to hide in",
    "people": "one person who fits is found; many who fit are a crowd to hide in. At most so many fit, by the row of"
    " each that fits fewest",
}


def findings(attack: LinkageAttack, params: LinkageParams, ctx: AuditContext) -> tuple[Finding, ...]:
    """Return what a reader should know. Links that are no better than guessing are no finding."""
    subject = f"{ctx.release}.linkage"
    if params.external is not None:
        subject += f".{params.external}"
    return tuple(Finding("PPF890", Severity.WARNING, text, s) for text, s in _texts(attack, params, ctx, subject))


def _texts(attack: LinkageAttack, params: LinkageParams, ctx: AuditContext, subject: str) -> Iterator[tuple[str, str]]:
    who = "the file" if params.external is not None else "the original"
    columns, size = attack.known.columns, attack.size
    linked = int(attack.weights[attack.matches.linked].sum())
    if linked and _true(columns, attack, ctx):
        right = ""
        if attack.judged is not None:
            right = f"; of these links {attack.judged.correct:,} are right"
        names = _names(attack, ctx)
        what = "exactly one released row" if attack.unit == "rows" else "released rows of one person only"
        theirs = "that row is theirs" if attack.unit == "rows" else "these are theirs"
        text = (
            f"whoever knows {listed(columns)} finds {what} for {linked:,} of"
            f" {_people(size)} of {who}{right}: {theirs}, if they are in the release{names}"
        )
        yield text, subject
    for i, secret in enumerate(attack.known.secrets):
        learned = int((attack.weights * attack.matches.certain(i)).sum())
        if learned and truthful((*columns, secret), ctx):
            fit = "all released rows that fit them have" if attack.unit == "rows" else "everybody who fits them has"
            text = (
                f"`{secret}` is certain for {learned:,} of {_people(size)} of {who}: {fit} one"
                f" value{_values(attack, i, ctx)}"
            )
            yield text, f"{subject}.{secret}"
    if attack.near is not None and attack.near.alarming(attack.released) and not linked:
        text = (
            f"the released row nearest to a person is theirs for {attack.near.correct:,} of"
            f" {_people(attack.near.released)} asked about, far more often than by guessing"
        )
        yield text, f"{subject}.nearest"


def _true(columns: tuple[str, ...], attack: LinkageAttack, ctx: AuditContext) -> bool:
    """Whether links are more than chance: by the truth where it is known, else where labels say what is true."""
    if attack.judged is not None:
        return attack.judged.alarming(attack.released)
    return truthful(columns, ctx)


def _names(attack: LinkageAttack, ctx: AuditContext) -> str:
    """Name some of the people who were found, where values may be shown."""
    names = attack.people.identities
    if names is None or not ctx.show_values:
        return ""
    shown = names.take(np.flatnonzero(attack.matches.linked & (attack.weights > 0))[:MOST]).texts()
    return f" ({', '.join(t or 'somebody' for t in shown)})"


def _values(attack: LinkageAttack, secret: int, ctx: AuditContext) -> str:
    """Say what is learned of whom, where values may be shown."""
    names = attack.people.identities
    if names is None or not ctx.show_values:
        return ""
    places = np.flatnonzero(attack.matches.certain(secret) & (attack.weights > 0))[:MOST]
    values = attack.known.values[secret].to_pylist()
    pairs = zip(names.take(places).texts(), attack.matches.low[secret][places].tolist(), strict=True)
    each = [f"{name or 'somebody'}: {values[value]}" for name, value in pairs]
    return f" ({'; '.join(each)})"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def chart(attack: LinkageAttack) -> Chart:
    """Return bars: the share of the people by how many released rows fit them."""
    edges = (0, 1, 2, 5, 10, 50, 100)
    names = ("none", "1", "2 to 4", "5 to 9", "10 to 49", "50 to 99", "100 or more")
    place = np.searchsorted(edges, attack.matches.rows, side="right") - 1
    shares = np.bincount(place, attack.weights, len(edges)) / attack.size
    return Chart(
        id="fits",
        title=f"Released {attack.unit} that fit a known person",
        kind="bars",
        x=names,
        series=(FigureSeries("people", tuple(shares.tolist())),),
        x_label=f"released {attack.unit}",
        y_label="share of the people",
        note=_CROWDS[attack.unit],
    )
