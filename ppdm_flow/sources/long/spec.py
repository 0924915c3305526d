"""Long form: the card and parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.sources.text_options import Empty, Encoding, Escape, Mark, Repeated


class LongParams(Params):
    """The names of the two columns that count, and how the CSV file is written; other columns are not read."""

    id: str
    item: str
    columns: Annotated[tuple[str, ...], Field(min_length=2)] | None = None
    delimiter: Mark = ","
    quote: Mark = '"'
    escape: Escape = None
    strip: bool = False
    skip_rows: Annotated[int, Field(ge=0)] = 0
    encoding: Encoding = "utf-8"
    repeated: Repeated = "error"
    empty: Empty = "keep"

    @model_validator(mode="after")
    def _two_columns(self) -> LongParams:
        if self.id == self.item:
            raise ValueError("`id` and `item` must be two columns")
        for name in (self.id, self.item):
            if self.columns is not None and name not in self.columns:
                raise ValueError("`id` and `item` must be among `columns`")
        return self


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "sources/long", Kind.SOURCE, sets="only", implied={".tsv": {"delimiter": "\t"}, ".tsv.gz": {"delimiter": "\t"}}
    ),
    params=LongParams,
    algorithm="ppdm_flow.sources.long.algorithm:LongSource",
)
