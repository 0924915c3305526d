"""What plugins say, searched for values of the source before any of it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.quoting import LONGEST, spans
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.told import texts
from ppdm_flow.engine.calls.plugin_texts import PluginText
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.source import SourceStream
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.sdk.wording import constants, is_explained

_NUMBERS = frozenset({AttributeType.INTEGER, AttributeType.FLOAT})
Values = Mapping[str, pa.ChunkedArray]


def refuse_quotations(plan: Plan, stream: SourceStream, said: Iterable[PluginText]) -> None:
    """Raise RunError, naming who said it and the column, where a text quotes a value that may not be named.

    A value is looked for as words of their own, spelled as it is. It may stand where the policy or the plugin's own
    code has the same words, and in the report where the policy says ``report: {values: show}``.
    """
    every = [each for each in said if each.published or not plan.show_values]
    candidates = {span for text in {each.text for each in every} for span in spans(text)}
    names = [a.name for a in stream.attributes if _is_searched(a)]
    if not candidates or not names:
        return
    pieces = policy_words(plan, stream.attributes)
    if not stream.in_memory:  # reading it once more costs more than looking at every word
        candidates = {span for each in every for span in spans(each.text) if not _explained(span, each, pieces)}
    for value, column in _occurring(stream, names, candidates):
        for each in every:
            if value in each.text and value in _quoted(each.text, value) and not _explained(value, each, pieces):
                raise run_fault(
                    "PPF930",
                    f"{each.who}: {each.where} holds a value of the column `{column}` that the policy does not name",
                    advice="nothing was released; ask the plugin's author to count values instead of naming them",
                )


def policy_words(plan: Plan, attributes: Iterable[AttributeFacts]) -> tuple[str, ...]:
    """Return every text that the policy itself wrote, names of columns too, in lower case."""
    declared = (value for values in plan.declared.values() for value in values)
    names = (name for a in attributes for name in (a.name, a.source))
    return tuple(dict.fromkeys(text.casefold() for text in (*texts(document(plan)), *declared, *names) if text))


def _is_searched(facts: AttributeFacts) -> bool:
    return facts.type not in _NUMBERS and facts.role is not Role.WEIGHT


def _occurring(stream: SourceStream, names: Sequence[str], candidates: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the values of these columns, with the first one's name, that are among the candidates or begin like one."""
    if not candidates:
        return
    seen: set[str] = set()
    wanted = pa.array(sorted(candidates), pa.string())
    for part in stream.vocabulary(names):
        for name, spelled in _among(part, wanted):
            if spelled not in seen:
                seen.add(spelled)
                yield spelled, name


def _among(part: Values, wanted: pa.StringArray) -> Iterator[tuple[str, str]]:
    for name, values in part.items():
        plain = pc.utf8_trim_whitespace(values)
        short = plain.filter(pc.is_in(plain, value_set=wanted))
        yield from ((name, str(value)) for value in pc.unique(short).to_pylist())
        long = plain.filter(pc.greater(pc.utf8_length(plain), LONGEST))
        if len(long):
            long = long.filter(pc.is_in(pc.utf8_slice_codeunits(long, 0, LONGEST), value_set=wanted))
            yield from ((name, str(value)) for value in pc.unique(long).to_pylist())


def _quoted(text: str, value: str) -> Iterator[str]:
    """Yield what of a text may be the value: runs of words, or the value itself where it is longer than these."""
    if len(value) > LONGEST:
        yield value
    else:
        yield from spans(text)


def _explained(value: str, said: PluginText, pieces: Sequence[str]) -> bool:
    return is_explained(value, said.text, pieces) or is_explained(
        value, said.text, constants(said.bound.spec.load().__module__)
    )
