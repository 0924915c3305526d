"""CSV source: its card and parameters."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Encoding, Escape, Mark

BACKSLASH = "\\"
_NAMES = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'", "underscore": "_", "none": ""}


def _named(sign: object) -> object:
    return _NAMES.get(sign, sign) if isinstance(sign, str) else sign


_MOMENT = datetime(2001, 2, 3)  # noqa: DTZ001  # of which day, month and year differ, and no time is asked for


def _date_forms(forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return strptime formats. Raises ValueError for one without a whole date, and for two that read the same text."""
    for form in forms:
        if not _reads(form, form):
            raise ValueError("must be formats with day, month and year, such as `%d.%m.%Y`")
    for i, form in enumerate(forms):
        if any(_reads(other, form, either=True) for other in forms[:i]):
            raise ValueError("must be formats of which no two read the same dates: day and month would be guessed")
    return forms


def _reads(form: str, written_in: str, *, either: bool = False) -> bool:
    """Whether a format reads what another one writes: the same day of it, or ``either`` that or another day."""
    try:
        return datetime.strptime(_MOMENT.strftime(written_in), form) == _MOMENT or either  # noqa: DTZ007
    except ValueError:
        return False


DateForms = Annotated[
    tuple[str, ...],
    AfterValidator(_date_forms),
    BeforeValidator(lambda forms: (forms,) if isinstance(forms, str) else forms),
]


class CsvSourceParams(Params):
    """How the file is written. gzip is recognized by its first bytes, line ends are."""

    delimiter: Mark = ","
    quote: Mark = '"'
    escape: Escape = None
    header: bool = True
    strip: bool = False
    skip_rows: Annotated[int, Field(ge=0)] = 0
    encoding: Encoding = "utf-8"
    formulas: Literal["keep", "escape"] = "keep"
    decimal: Annotated[Literal[".", ","], BeforeValidator(_named)] = "."
    thousands: Annotated[Literal["", ".", ",", " ", "'", "_"], BeforeValidator(_named)] = ""

    dates: DateForms = ()

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.decimal == self.thousands:
            raise ValueError("`decimal` and `thousands` must be different signs")
        if self.delimiter in (self.quote, self.escape):
            raise ValueError("`delimiter` must be another sign than `quote` and `escape`")
        return self

    @property
    def doubles(self) -> bool:
        """Whether a quote inside quotes is doubled, and not escaped."""
        return self.escape in (None, "", self.quote)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/csv",
        Kind.SOURCE,
        endings=(".csv", ".csv.gz", ".data", ".data.gz", ".txt", ".txt.gz", ".tsv", ".tsv.gz"),
        implied={".tsv": {"delimiter": "\t"}, ".tsv.gz": {"delimiter": "\t"}},
    ),
    params=CsvSourceParams,
    algorithm="ppdm_flow.sources.csv.algorithm:CsvSource",
)
