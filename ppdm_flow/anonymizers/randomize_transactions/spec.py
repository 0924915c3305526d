"""Randomize transactions: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.set_columns import chosen, problems
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.requirements.itemset_breach.requirement import ItemsetBreach
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope, SetShape

EVERY = 0
"""In a map by length: what holds for all lengths without an entry of their own."""


# Bits or seeds, by what they take on disk: known before anything is read.


LARGE = 256 << 20
"""Bytes of bits from which seeds are worth their expansion by every reader."""
SIZE_BYTES = 4
SPARE = 4
"""Items that a seed has room for beside those of the longest transaction."""
MOST_ITEMS = 1 << 16
"""The largest alphabet that seeds expand to."""
SEEDLESS = ("uniform", "none")
"""Operators of which the output cannot be given by seeds."""


def bits_of(shape: SetShape) -> int:
    """Return the bytes of bits of the whole alphabet, uncompressed: they are noise."""
    return shape.rows * (8 * -(-shape.distinct // 64) + SIZE_BYTES)


def seeds_of(shape: SetShape) -> int:
    """Return the bytes of seeds."""
    return shape.rows * (2 * (shape.longest + SPARE) + SIZE_BYTES)


def prefers_seeds(form: str, bits: int, seeds: int) -> bool:
    """Whether seeds are written, where there are seeds."""
    return form == "seeded" or (form == "auto" and bits > LARGE and seeds < bits)


def stored(operator: str, form: str, shape: SetShape) -> tuple[str, int]:
    """Return the form that the sets of a release will have, and its bytes."""
    bits, seeds = bits_of(shape), seeds_of(shape)
    possible = operator not in SEEDLESS and shape.distinct <= MOST_ITEMS
    return ("seeds", seeds) if possible and prefers_seeds(form, bits, seeds) else ("bits", bits)


def _by_length(value: Any) -> Any:
    """Take a single value for one that holds for every length."""
    return value if isinstance(value, Mapping) or value is None else {EVERY: value}


Length = Annotated[int, Field(ge=0, le=10_000)]
Cutoffs = Annotated[dict[Length, Annotated[int, Field(ge=0, le=100_000)]], BeforeValidator(_by_length)]
Chances = Annotated[dict[Length, Annotated[float, Field(gt=0.0, lt=1.0)]], BeforeValidator(_by_length)]
Laws = dict[Length, tuple[Annotated[float, Field(ge=0.0, le=1.0)], ...]]


class RandomizeTransactionsParams(Params):
    """The operator for a set of m items; by default the best one that `privacy.itemset_breach` allows."""

    attribute: str | None = None
    operator: Literal["cut_and_paste", "select_a_size", "uniform", "none"] = "cut_and_paste"
    cutoff: Cutoffs | None = None
    insertion: Chances | None = None
    retained: Laws | None = None
    keep: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    insert: Annotated[int, Field(ge=0, le=10_000)] | None = None
    largest_cutoff: Annotated[int, Field(ge=0, le=100_000)] | None = None
    challenge: Literal["worst", "paper"] = "worst"
    longest: Annotated[int, Field(ge=1, le=10_000)] = 100
    form: Literal["auto", "packed", "seeded"] = "auto"

    @property
    def chooses(self) -> bool:
        """Whether the parameters of the operator follow from the requirement."""
        return self.operator == "cut_and_paste" and self.cutoff is None and self.insertion is None


_NEEDS = {
    "cut_and_paste": ("cutoff", "insertion"),
    "select_a_size": ("retained", "insertion"),
    "uniform": ("keep",),
    "none": (),
}
_MAY_HAVE = {"uniform": ("insert",)}


def wanted(requirements: tuple[Requirement, ...], source: str) -> ItemsetBreach | None:
    """Return the requirement on the sets of an attribute, by its name in the source."""
    return next((r for r in requirements if isinstance(r, ItemsetBreach) and r.attribute == source), None)


def effect(params: RandomizeTransactionsParams, scope: Scope) -> Effect:
    """Randomize the sets; serve the requirement on them."""
    name = chosen(params.attribute, scope.attributes)
    if name is None:
        return Effect(problems=problems(params.attribute, scope.attributes))
    facts = scope.attributes[name]
    requirement = wanted(scope.requirements, facts.source or name)
    serves = requirement is not None and params.operator != "none"
    return Effect(
        reads=(name,),
        changes={name: Change.PERTURBED},
        derivations=changed_in_place((name,), Derivation((), drawn=True)),
        serves=(requirement.id,) if requirement is not None and serves else (),
        guarantee=f"no item of a set is inferred with more than {requirement.level:g}"
        if requirement is not None and params.chooses
        else "",
        problems=tuple(_problems(params, requirement)),
    )


def _problems(params: RandomizeTransactionsParams, requirement: ItemsetBreach | None) -> list[Problem]:
    problems = []
    given = {
        name for name in ("cutoff", "insertion", "retained", "keep", "insert") if getattr(params, name) is not None
    }
    needs = _NEEDS[params.operator]
    for name in sorted(given - {*needs, *_MAY_HAVE.get(params.operator, ())}):
        text = f"`{name}` means nothing for `operator: {params.operator}`"
        problems.append(Problem("PPF782", text, (name,), hint=_takes(params.operator)))
    missing = [] if params.chooses else [name for name in needs if name not in given]
    if missing:
        text = f"`operator: {params.operator}` needs " + " and ".join(f"`{name}`" for name in missing)
        problems.append(Problem("PPF782", text, hint=_takes(params.operator)))
    if not params.chooses:
        problems += [
            Problem("PPF782", f"`{name}` is for parameters that are chosen, and these are given", (name,))
            for name in ("largest_cutoff", "challenge")
            if name in params.model_fields_set
        ]
    elif requirement is None and not problems:
        text = "nothing says how to randomize: there is no `privacy.itemset_breach` on these sets"
        problems.append(Problem("PPF780", text, hint="add the requirement, or give `cutoff` and `insertion`"))
    if params.form == "seeded" and params.operator in ("uniform", "none"):
        text = f"seeds cannot replace what `{params.operator}` makes"
        problems.append(Problem("PPF782", text, ("form",), hint="write `form: packed`"))
    return problems


def _takes(operator: str) -> str:
    needs, more = _NEEDS[operator], _MAY_HAVE.get(operator, ())
    words = " and ".join(f"`{name}`" for name in needs) if needs else "none of them"
    return f"`{operator}` takes {words}" + "".join(f", and perhaps `{name}`" for name in more)


def _stores(params: RandomizeTransactionsParams, shape: SetShape) -> tuple[str, int]:
    return stored(params.operator, params.form, shape)


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/randomize_transactions",
        Kind.ROW_WISE,
        serves=("itemset_breach",),
        randomized=True,
        sets="column",
        asks=AccessRequirements(DataAccess.ROWS, passes=3),
    ),
    params=RandomizeTransactionsParams,
    algorithm="ppdm_flow.anonymizers.randomize_transactions.algorithm:RandomizeTransactions",
    effect=effect,
    stores=_stores,
)
