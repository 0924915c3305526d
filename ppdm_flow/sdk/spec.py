"""The light half of a plugin: what `check` and `plan` load, without numpy and without the algorithm.

An entry point in the group ``ppdm_flow.anonymizers`` (or ``.audits``, ``.sources``, ``.sinks``) names a module-level
:class:`PluginSpec`; its ``algorithm`` is a dotted path that is imported only when the plugin runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Unpack

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Derivation
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.plugin_info import Facts, Figures, Kind, PluginInfo
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.core.shares import plain_shares


@dataclass(frozen=True, slots=True)
class FileMark:
    """Marks a parameter that is the path of a file."""


FilePath = Annotated[str, FileMark()]
"""A path of a file that the plugin reads, relative to the policy. In a built-in's parameters, a template may state it
relative to its own folder."""


@dataclass(frozen=True, slots=True)
class SecretMark:
    """Marks a file whose content must not be reported, not even as a digest."""


KeyPath = Annotated[str, FileMark(), SecretMark()]
"""A path as :data:`FilePath`, of a file that holds a key."""

PASSWORD_VARIABLE = "PPDM_KEY_PASSWORD"  # noqa: S105  # the variable's name
"""Holds the password of an encrypted signing key where there is no terminal to ask at."""


def _no_password(variable: str) -> str:
    if variable == PASSWORD_VARIABLE:
        raise ValueError("this variable holds a signer's password: a policy does not read it")
    return variable


KeyVariable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), AfterValidator(_no_password)]
"""The name of a variable of the environment that holds a key."""


class Params(BaseModel):
    """Base of every plugin's parameters. Values arrive as text (or lists and maps of text) and are typed here.

    A parameter that is a number of at most 1 takes a percentage as well.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True, populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _read_percentages(cls, value: Any) -> Any:
        return plain_shares(cls, value)


class NoParams(Params):
    """It has none: the requirement says it all."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault that a plugin finds in its parameters or its place in the plan; shown at ``path`` below ``with``.

    ``named``: it is the key at ``path`` that is wrong, and not the value that stands there.
    """

    code: str
    message: str
    path: tuple[str, ...] = ()
    hint: str | None = None
    warning: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What a step may know at compile time: the attributes that reach it, the requirements, null semantics.

    ``source_roles`` are given to audits alone: the roles of the policy's attributes, by name or pattern. ``people``:
    whom the policy counts; None where it counts rows.
    """

    step: str
    attributes: Mapping[str, AttributeFacts]
    requirements: tuple[Requirement, ...]
    nulls: Nulls = Nulls.OWN_CATEGORY
    source_roles: Mapping[str, Role] = field(default_factory=dict)
    people: PeopleCount | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step does to the schema and to the rows.

    ``reads`` are the attributes that fitting needs (progressive disclosure: channels, sensitive, target).
    ``rows`` is ``same``, ``fewer``, ``reordered`` or ``generated``. ``serves`` are ids of requirements.
    ``outputs`` are the named outputs, each with its attributes (``""`` is the step's own); empty: one output.
    ``holds_out``: fitting leaves out some rows of the source, by their numbers, so these must be what the step reads.
    ``derivations`` say what the cells of changed and added columns are computed from, and what only chose them; one
    that is not among them counts as computed from everything that the step reads, row by row.
    ``numbers`` are the changed attributes whose values stay numbers of their type; the others become labels.
    ``tells_frequencies`` are changed attributes whose operator is made from how often each value occurs, and tells it.
    ``by_others``: which rows a randomized step leaves out depends on other rows or on cells, not on draws alone, so
    that a row that is missing tells something: it does not count as left out at random.
    ``rows_by``: the attributes that decide which rows are left out, where these are fewer than ``reads``.
    ``evenly``: of these, attributes of which a draw decides which values stay, with the same chance for each value.
    ``draws``: whether a plugin that is ``randomized`` draws with these parameters.
    ``told`` says in sentences what was done to a changed attribute, to recipients, where the card's own say too little:
    of it alone, from the policy, with no value.
    ``recodes`` are, by attribute, the new values of old ones that the policy itself writes down, one by one.
    ``asks``, of an audit: attributes of the source that it compares with, by parameter; only so are identifiers read.
    """

    reads: tuple[str, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)
    drops: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    adds: tuple[AttributeFacts, ...] = ()
    rows: str = "same"
    serves: tuple[str, ...] = ()
    guarantee: str = ""
    problems: tuple[Problem, ...] = ()
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    holds_out: bool = False
    asks: Mapping[str, str] = field(default_factory=dict)
    tells_frequencies: tuple[str, ...] = ()
    derivations: Mapping[str, Derivation] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    by_others: bool = False
    rows_by: tuple[str, ...] | None = None
    evenly: tuple[str, ...] = ()
    draws: bool = True
    told: Mapping[str, str] = field(default_factory=dict)
    recodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def needed(self) -> frozenset[str]:
        """The attributes whose cells must reach the step; what a generator drops, it has never seen."""
        dropped = () if self.rows == "generated" else self.drops
        return frozenset((*self.reads, *self.changes, *dropped, *self.renames))

    def derivation(self, column: str) -> Derivation:
        """Return what a changed or added column comes from, as the step says or, where it says nothing, at worst."""
        said = self.derivations.get(column)
        return Derivation(tuple(dict.fromkeys((*self.reads, *self.changes)))) if said is None else said


def no_effect(_params: Any, _scope: Scope) -> Effect:
    """Return the effect of a plugin that changes nothing (audits, sources, sinks)."""
    return Effect()


@dataclass(frozen=True, slots=True)
class SetShape:
    """``rows`` sets over an alphabet of ``distinct`` items, at most ``longest`` in one."""

    rows: int
    distinct: int
    longest: int


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """A plugin: its card, its parameters, what it does to a plan, and where its algorithm is.

    ``algorithm`` is ``"package.module:Class"``; the class takes the validated ``Params``. ``stores`` is for steps that
    put sets into another form: from parameters and the shape of the sets, what the form is called and its bytes.
    ``several_inputs`` is for steps that may read more than one table: ``Scope.attributes`` are then those of all of
    them, and of a name that several have, those of the first. No engine carries such steps out yet.
    ``counts_people`` is for audits: where the policy counts people, so do the figures, or they say that they do not. Of
    other audits reports say that shares and numbers of rows count rows.
    """

    info: PluginInfo
    params: type[Params]
    algorithm: str
    effect: Callable[[Any, Scope], Effect] = no_effect
    stores: Callable[[Any, SetShape], tuple[str, int]] | None = None
    counts_people: bool = False
    several_inputs: bool = False

    def load(self) -> Any:
        """Import the algorithm's class."""
        return imported(self.algorithm)


def requirement_audit(
    kind: str,
    algorithm: str,
    params: type[Params] = NoParams,
    *,
    effect: Callable[[Any, Scope], Effect] = no_effect,
    counts_people: bool = False,
    figures: Callable[[Figures], Figures] = dict,
    **facts: Unpack[Facts],
) -> PluginSpec:
    """Return the audit that measures a built-in kind of requirement, with its card on the page ``audits/KIND``."""
    facts["serves"] = (kind,)
    info = PluginInfo.of_page(f"audits/{kind}", Kind.AUDIT, figures=figures, **facts)
    return PluginSpec(info, params, algorithm, effect, counts_people=counts_people)


def imported(path: str) -> Any:
    """Import what a card names by ``package.module:name``."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
