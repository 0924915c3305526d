"""The fields of a chart in ``report.json``."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ppdm_flow.core.documents import about, one_of


class SeriesDocument(TypedDict):
    """One set of bars, one line or one row."""

    name: Annotated[str, about("Its name in the legend.")]
    y: Annotated[list[float], about("One value a label.")]
    low: NotRequired[Annotated[list[float], about("Lower ends of intervals.")]]
    high: NotRequired[Annotated[list[float], about("Upper ends of intervals.")]]


class ChartDocument(TypedDict):
    """A picture's data."""

    id: Annotated[str, about("A name, used once in a document.")]
    title: Annotated[str, about("Heading of the picture.")]
    kind: Annotated[
        str,
        one_of(("bars", "lines", "matrix", "forest")),
        about("How it is drawn; in a matrix a series is a row, in a forest estimates have their intervals."),
    ]
    group: Annotated[str, about("The section that it belongs to; may be empty.")]
    release: Annotated[
        str, about("The release that it shows; empty where it is about all, or where there is only one.")
    ]
    x: Annotated[list[str], about("Labels along the axis.")]
    series: Annotated[list[SeriesDocument], about("One set of bars, one line or one row each.")]
    x_label: Annotated[str, about("Title of the axis of labels; may be empty.")]
    y_label: Annotated[str, about("Title of the axis of values; may be empty.")]
    note: Annotated[str, about("How to read it; may be empty.")]
