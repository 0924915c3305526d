"""The KRIMP generator: its card, parameters and effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import changed_subject, is_pattern, matching, missing_ones, reaches, subject_of
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import CellKind, Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.supports import SupportBound, Supported
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope

_LEFT_OUT = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.SAMPLING_WEIGHT)
_NUMBERS = (AttributeType.INTEGER, AttributeType.FLOAT)
_RECODED = (Change.GENERALIZED, Change.PSEUDONYMIZED, Change.OTHER)

FEW = SupportBound(count=5)
"""The support of itemsets to learn where the policy says nothing: patterns of fewer rows are of few people, and
learning them brings generated rows no nearer to the original."""

Facts = Mapping[str, AttributeFacts]


def _listed(value: Any) -> Any:
    """Read one value as a list of one."""
    if isinstance(value, Mapping):
        return {name: [each] if isinstance(each, str) else each for name, each in value.items()}
    return value


def _number(value: Any) -> Any:
    """Read ``same`` as if nothing was said."""
    return None if value == "same" else value


Names = Annotated[tuple[str, ...], Field(min_length=1)]
Group = Annotated[tuple[str, ...] | dict[str, tuple[str, ...]], BeforeValidator(_listed)]


class GeneratorParams(Params):
    """Parameters of the generator: what it learns, and the number of rows that it makes."""

    attributes: Names | None = None
    min_support: Supported | None = None
    candidates: Literal["all", "closed"] | None = None
    algorithm: Literal["krimp", "slim"] = "krimp"
    pruning: bool = True
    laplace: Annotated[float, Field(ge=0.0, le=10**15)] = 0.001
    rows: Annotated[Annotated[int, Field(ge=1, le=10**12)] | None, BeforeValidator(_number)] = None
    draw: Literal["uniform", "empirical"] = "uniform"
    remove: tuple[Group, ...] = ()
    holdout: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    blend: Literal["allow", "strict"] = "allow"
    calibrate: bool | None = None
    code_table: FilePath | None = None

    @property
    def calibrates(self) -> bool:
        """Whether weights are fitted to the shares of single values: where rows are rejected, if nothing is said."""
        return self.blend == "strict" if self.calibrate is None else self.calibrate

    def chosen(self, known: Facts) -> tuple[str, ...]:
        """Return the attributes to generate, in the order in which they arrive."""
        if self.attributes is None:
            return tuple(name for name, facts in known.items() if facts.role not in _LEFT_OUT)
        named = {name for pattern in self.attributes for name in matching(pattern, known)}
        return (*(n for n in known if n in named), *(n for n in sorted(named) if n not in tuple(known)))

    @property
    def closed(self) -> bool:
        """Whether candidates are closed itemsets: code tables as good come of fewer candidates."""
        return self.candidates != "all"

    def support(self, requirements: tuple[Requirement, ...]) -> SupportBound:
        """Return the support of itemsets to learn."""
        return self.min_support or _blend(requirements) or FEW

    def rare(self, requirements: tuple[Requirement, ...]) -> SupportBound:
        """Return the support below which an original row must not be generated, where blending is strict."""
        return _blend(requirements) or self.support(requirements)

    def groups(self, known: Facts) -> tuple[tuple[tuple[str, tuple[str, ...] | None], ...], ...]:
        """Return for each entry of ``remove`` its attributes, each with its values (None: all of them)."""
        return tuple(
            tuple((name, _values(group, pattern)) for pattern in group for name in matching(pattern, known))
            for group in self.remove
        )


def numeric(facts: AttributeFacts | None) -> bool:
    """Whether the values are numbers, in intervals that the policy declares."""
    if facts is None or facts.type not in _NUMBERS or facts.domain is not None or facts.was(*_RECODED):
        return False
    return facts.hierarchy is not None and facts.hierarchy.intervals is not None


def effect(params: GeneratorParams, scope: Scope) -> Effect:
    """Make new rows over the chosen attributes; the others, identifiers among them, go no further."""
    known = scope.attributes
    chosen = params.chosen(known)
    served = tuple(r.id for r in scope.requirements if isinstance(r, AnonymityScore | Blend))
    return Effect(
        reads=(*chosen, *_held_out_by(params, scope)),
        changes=dict.fromkeys(chosen, Change.GENERATED),
        derivations={
            n: Derivation((n,), tuple(c for c in chosen if c != n), value_map=True, carries=(), kind=CellKind.GENERATED)
            for n in chosen
        },
        drops=tuple(name for name in known if name not in chosen),
        rows="generated",
        serves=served,
        guarantee=_guarantee(params, scope),
        problems=(
            *_of_attributes(params, scope, chosen),
            *_of_remove(params, known, chosen),
            *_of_search(params),
            *_of_code_table(params),
            *_of_people(params, scope),
        ),
        holds_out=params.holdout is not None,
    )


NO_SUBJECT = "a `holdout` takes all rows of a person, and no attribute with `role: subject` reaches this step"


def _held_out_by(params: GeneratorParams, scope: Scope) -> tuple[str, ...]:
    """Return the attribute by which rows are held out; none where that is done row by row."""
    subject = subject_of(scope.attributes)
    return () if params.holdout is None or scope.people is None or subject is None else (subject,)


def _of_people(params: GeneratorParams, scope: Scope) -> tuple[Problem, ...]:
    if params.holdout is None or scope.people is None:
        return ()
    if subject_of(scope.attributes) is None:
        return (Problem("PPF780", NO_SUBJECT, ("holdout",), hint="drop it after this step, which does not release it"),)
    return changed_subject(scope.attributes)


def _blend(requirements: tuple[Requirement, ...]) -> SupportBound | None:
    return next((r.min_support for r in requirements if isinstance(r, Blend)), None)


def _values(group: tuple[str, ...] | dict[str, tuple[str, ...]], pattern: str) -> tuple[str, ...] | None:
    return group[pattern] if isinstance(group, dict) else None


def _guarantee(params: GeneratorParams, scope: Scope) -> str:
    if params.blend == "allow":
        return "none that is proven: what the rows give away is measured on them"
    return f"no row of the original that fewer than {params.rare(scope.requirements)} of its rows share"


def _of_attributes(params: GeneratorParams, scope: Scope, chosen: tuple[str, ...]) -> list[Problem]:
    known = scope.attributes
    problems = list(missing_ones(params.attributes or (), known, ("attributes",)))
    if not chosen and not problems:
        problems.append(Problem("PPF780", "nothing to generate: no attribute reaches this step but identifiers"))
    for name in chosen:
        if known[name].role is Role.ITEMS:
            text = f"`{name}` holds sets of items, and this step makes tables of one value a cell"
            problems.append(Problem("PPF573", text, hint="name the attributes to generate, without it"))
    if "draw" in params.model_fields_set and not any(numeric(known[name]) for name in chosen):
        text = "no attribute here is a number with `hierarchy: {intervals: …}`: there is nothing to draw within"
        problems.append(Problem("PPF780", text, ("draw",)))
    if params.blend == "strict" and params.rare(scope.requirements).count == 1:
        text = "every row of the original occurs in at least one row: `blend: strict` rejects nothing"
        problems.append(Problem("PPF780", text, ("blend",), "say `min_support`, or `privacy: {blend: …}`"))
    return problems


def _of_remove(params: GeneratorParams, known: Facts, chosen: tuple[str, ...]) -> list[Problem]:
    problems: list[Problem] = []
    for place, group in enumerate(params.remove):
        path = ("remove", str(place))
        problems += missing_ones(group, known, path) if isinstance(group, tuple) else _of_map(group, known, path)
        named = [name for pattern in group for name in matching(pattern, known)]
        outside = [name for name in named if name not in chosen and not is_pattern(name)]
        if outside:
            text = f"`{outside[0]}` is not generated: it has no correlations to remove"
            problems.append(Problem("PPF782", text, path))
        if len(set(named)) < 2 and all(matching(p, known) for p in group) and not any(is_pattern(n) for n in named):
            text = "correlations are between two attributes or more, and this entry names fewer"
            problems.append(Problem("PPF782", text, path))
    return problems


def _of_map(group: dict[str, tuple[str, ...]], known: Facts, path: tuple[str, ...]) -> list[Problem]:
    problems: list[Problem] = []
    for name in group:
        if not reaches(name, known) and not matching(name, known):
            problems += (
                Problem(p.code, p.message, (*path, name), p.hint, named=True)
                for p in missing_ones((name,), known, path)
            )
    return problems


_LEARNING = (
    *("min_support", "candidates", "algorithm", "pruning"),
    *("remove", "holdout", "blend", "calibrate"),
)
"""Parameters that say what is learned, or compare with what was learned from."""


def _of_code_table(params: GeneratorParams) -> list[Problem]:
    if params.code_table is None:
        return []
    return [
        Problem("PPF782", f"with a `code_table` nothing is learned: leave `{name}` out", (name,))
        for name in _LEARNING
        if name in params.model_fields_set
    ]


def _of_search(params: GeneratorParams) -> list[Problem]:
    if params.algorithm == "krimp":
        return []
    problems: list[Problem] = []
    if params.candidates is not None:
        problems.append(Problem("PPF782", "SLIM finds its candidates itself: leave `candidates` out", ("candidates",)))
    if params.remove:
        text = "`remove` filters candidates, and SLIM has none before it begins: take `algorithm: krimp`"
        problems.append(Problem("PPF782", text, ("remove",)))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/krimp_generator",
        Kind.GENERATOR,
        serves=("blend", "anonymity_score"),
        randomized=True,
        asks=AccessRequirements(
            DataAccess.COUNTS,
            {"numbers": DataAccess.ROWS, "people": DataAccess.ROWS, "sets": DataAccess.ROWS},
            passes=1,
        ),
    ),
    params=GeneratorParams,
    algorithm="ppdm_flow.anonymizers.krimp_generator.algorithm:KrimpGenerator",
    effect=effect,
)
