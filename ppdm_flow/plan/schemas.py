"""The JSON Schema (draft-07) of a plan's document."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.json_schema import list_of, of, record, text, waiver
from ppdm_flow.core.lineage import How
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirements import MAX_WIDTH
from ppdm_flow.core.roles import AttributeType, Directions, Nulls, Role
from ppdm_flow.plan.class_documents import ABSENT, OPTIONAL, class_schemas
from ppdm_flow.plan.document import VERSION
from ppdm_flow.plan.together import APART

IDENTITY = "https://ppdm-flow.example/schemas/plan.v1.json"

_HOW = (
    "`unchanged`: its values as in the source. `value_map`: each cell depends on the one value alone (a coarser one, a"
    " code, suppressed). `keyed`: made with a secret key. `drawn`: drawn by a published operator. `generated`: rows"
    " that a model drew. `other`: anything else, such as an id of classes or a mean of neighbours."
)

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema of the plan document, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "Plan of a ppdm-flow policy",
        "description": "What a run of the policy does: reading, steps, audits, releases, and what must hold.",
        **record(_top(), optional=("digest", "preview", "ledger", "recipients", "joined_by", "waivers")),
        "definitions": {
            "attribute": record(_attribute()),
            "column": record(_attribute() | _column()),
            "source": record(_source()),
            "step": record(_plugin() | _step()),
            "audit": record(_plugin() | _audit()),
            "release": record(_release()),
            "requirement": _requirement(),
            "gate": record(_gate(), optional=("max_width",)),
            "link": record(_link()),
            "waiver": record(waiver(), optional=("at",)),
        },
    }


def _top() -> _Schema:
    return {
        "version": {"const": VERSION, "description": "Version of this document's form."},
        "policy": text("Name of the release policy."),
        "policy_digest": _digest("SHA-256 of the resolved policy."),
        "source": of("source"),
        "steps": list_of("step", "The steps in an order in which they can run."),
        "audits": list_of("audit", "What is measured: requirements first."),
        "releases": list_of("release", "The files that leave, if everything holds."),
        "requirements": list_of("requirement", "What must hold of every release."),
        "gates": list_of("gate", "Bounds on other figures."),
        "nulls": _choice(Nulls, "How groups treat missing values."),
        "randomness": {"enum": ["sealed", "reproducible"], "description": "Where the randomness comes from."},
        "report_values": {"enum": ["show", "hide"], "description": "Whether the report may show data values."},
        "ledger": record(
            {
                "path": text("The release ledger in a file, relative to the policy."),
                "server": text("The release ledger in a database: host and database."),
                "subject": _or_null("string", "The attribute that names people."),
                "ignore": {
                    "type": "array",
                    "items": {"enum": ["blanks", "case", "form"]},
                    "description": "Differences in the spelling of ids that make nobody another person.",
                },
                "repeat": {"enum": ["refuse", "warn"], "description": "What becomes of a second draw."},
            },
            optional=("path", "server"),
        ),
        "recipients": {"const": APART, "description": "Nobody sees two of the releases, says the policy."},
        "joined_by": list_of("link", "Releases that share a column made with a key, so that they are judged as one."),
        "waivers": list_of("waiver", "What need not hold for a while."),
        "digest": _digest("SHA-256 of this document without `digest` and `preview`."),
        "preview": {"type": "object", "description": "What the data lets one expect; only with --data."},
    }


def _link() -> _Schema:
    pair = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    return {
        "releases": pair | {"description": "The two releases."},
        "columns": {"type": "array", "items": pair, "description": "The column of the one, and that of the other."},
    }


def _attribute() -> _Schema:
    change = {"step": text("The step."), "change": _choice(Change, "What it does to the values.")}
    return {
        "name": text("Its name here."),
        "role": _choice(Role, "What it is to the release."),
        "type": _choice(AttributeType, "How the text of a value is understood."),
        "source": text("Its name in the source."),
        "changes": {
            "type": "array",
            "description": "What steps have done to it, oldest first.",
            "items": record(change),
        },
    }


def _column() -> _Schema:
    return {
        "computed_from": _texts("Attributes of the source that its cells are a function of."),
        "how": _choice(How, _HOW),
        "chosen_by": _texts("Attributes of the source that a step looked at, and that no cell depends on otherwise."),
        "steps": _texts("The steps that it went through, and the columns that it is computed from."),
    }


def _source() -> _Schema:
    return {
        "path": _or_null("string", "The file, relative to the policy; null where --data must name it."),
        "format": _or_null("string", "The reader; null where the file's name tells it."),
        "options": _object("The reader's parameters."),
        "columns": {
            "description": "Names of the columns of a file without a header.",
            "anyOf": [_texts(""), {"type": "null"}],
        },
        "missing": _texts("Texts that stand for a missing value."),
        "incomplete_rows": {"enum": ["keep", "drop"], "description": "What happens to rows with missing values."},
        "undeclared": {"enum": ["error", "drop"], "description": "What happens to columns that are not declared."},
        "attributes": list_of("attribute", "The declared attributes."),
    }


def _plugin() -> _Schema:
    return {
        "name": text("Its name in the policy, or the one that the plan gave it."),
        "use": text("The plugin."),
        "kind": _choice(Kind, "How the plugin works."),
        "version": text("The plugin's version."),
        "distribution": text("The package that brings it, with its version."),
        "parameters": _object("Its parameters, defaults included."),
        "implicit": {"type": "boolean", "description": "Whether the plan put it there, not the policy."},
    }


def _step() -> _Schema:
    return {
        "input": text("`source`, a step, or `step.output`."),
        "outputs": _texts('Names of its outputs; "" is its own.'),
        "reads": _texts("Attributes that it looks at to decide."),
        "changes": {
            "type": "object",
            "description": "What it does to the values of attributes.",
            "additionalProperties": _choice(Change, ""),
        },
        "drops": _texts("Attributes that it takes out."),
        "renames": {
            "type": "object",
            "description": "New names by old ones.",
            "additionalProperties": {"type": "string"},
        },
        "rows": {"enum": ["same", "fewer", "reordered", "generated"], "description": "What it does to the rows."},
        "serves": _texts("Ids of the requirements that it works towards."),
        "guarantee": text("What it claims; the audits measure it."),
        "randomized": {"type": "boolean", "description": "Whether it draws at random."},
        "expands_weights": {"type": "boolean", "description": "Whether weighted rows are written out singly before."},
        "attributes": list_of("attribute", "The attributes that leave it."),
    }


def _audit() -> _Schema:
    return {
        "release": text("The release that it measures."),
        "requirements": _texts("Ids of the requirements that it judges; none for utility and attacks."),
    }


def _release() -> _Schema:
    return {
        "name": text("Its name."),
        "input": text("The step that it comes from."),
        "path": text("The file, relative to `released/NAME/`."),
        "format": text("The writer."),
        "options": _object("The writer's parameters."),
        "audience": {"enum": ["internal", "partner", "public"], "description": "Who gets it."},
        "description": text("What it is, in the policy's words."),
        "attributes": list_of("column", "Its columns."),
    }


def _requirement() -> _Schema:
    head = {"id": text("Place in the policy."), "kind": {"type": "string"}}
    number = {"type": "number"}
    value = {
        "value": text("The value."),
        "r1": number,
        "r2": number,
        "given": text("What else is known of the people whom r1 is about."),
        "group": text("The group that the bound comes from."),
    }
    pair = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
    two = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    kinds: dict[str, _Schema] = {
        "k_anonymity": {"k": {"type": "integer", "minimum": 2}, "attributes": _texts("What forms the classes.")},
        "templates": {
            "channel": _texts("The attributes that one may infer from."),
            "sensitive": {"type": "array", "description": "(attribute, value), not to be inferred.", "items": pair},
            "confidence": number | {"description": "The highest confidence of an inference."},
            "negated": {"type": "boolean", "description": "Whether the inference is to not having the value."},
            "min_support": {"type": "integer", "minimum": 2, "description": "The least rows in a group."},
            "values_absent": ABSENT,
        },
        "sensitivities": {
            "attribute": text("The sensitive attribute."),
            "directions": _choice(Directions, "Which breaches are forbidden."),
            "values": {
                "type": "array",
                "description": "(r1, r2) by value.",
                "items": record(value, optional=("given", "group")),
            },
            "tolerance": _or_null("number", "theta of other values: r1 = frequency, r2 = theta r1."),
            "default": {"description": "(r1, r2) of other values.", "anyOf": [two, {"type": "null"}]},
            "values_absent": ABSENT,
        },
    }
    kinds |= _generated()
    kinds["itemset_breach"] = _itemset_breach()
    kinds |= class_schemas()
    extra = {
        "templates": ("negated", "min_support", "values_absent"),
        "sensitivities": ("values_absent",),
        "itemset_breach": ("max_supports", "max_supports_by_length"),
        **OPTIONAL,
    }
    return {
        "oneOf": [record(head | {"kind": {"const": k}} | rest, extra.get(k, ())) for k, rest in kinds.items()],
    }


def _generated() -> dict[str, _Schema]:
    """The requirements on generated data."""
    share = {"type": "number", "minimum": 0, "maximum": 1}
    support = {
        "type": "object",
        "description": "Below it a row is rare: `count` rows, or a `ratio` of each table's.",
        "properties": {"count": {"type": "integer", "minimum": 1}, "ratio": share},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {
        "anonymity_score": {"max": share | {"description": "The highest Normalised Anonymity Score."}},
        "blend": {
            "min_support": support,
            "max": share | {"description": "The largest share of rare rows that are rare in the original."},
        },
    }


def _itemset_breach() -> _Schema:
    """The requirement on randomized transactions."""
    share = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    shares = {"type": "array", "items": share, "minItems": 1}
    return {
        "attribute": text("The attribute with the sets."),
        "level": {"type": "number", "description": "The highest probability with which an item may be inferred."},
        "sizes": {"type": "array", "description": "How many items itemsets have.", "items": {"type": "integer"}},
        "pool": {"type": "integer", "minimum": 1, "description": "Lengths with fewer sets are judged together."},
        "max_supports": shares | {"description": "The largest supports of itemsets of 1, 2, … items."},
        "max_supports_by_length": {
            "type": "object",
            "description": "Others for sets of some lengths.",
            "additionalProperties": shares,
        },
    }


def _gate() -> _Schema:
    return {
        "id": text("Place in the policy."),
        "metric": text("The figure."),
        "min": _or_null("number", "The least that holds."),
        "max": _or_null("number", "The most that holds."),
        "releases": _texts("The releases that it is about; none where the figure is a step's."),
        "max_width": {"type": "number", "description": f"How wide its interval may be; {MAX_WIDTH:g} if not said."},
    }


def _texts(description: str) -> _Schema:
    told = {"description": description} if description else {}
    return {"type": "array", **told, "items": {"type": "string"}}


def _digest(description: str) -> _Schema:
    return {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": description}


def _object(description: str) -> _Schema:
    return {"type": "object", "description": description}


def _or_null(kind: str, description: str) -> _Schema:
    return {"type": [kind, "null"], "description": description}


def _choice(words: Any, description: str) -> _Schema:
    return {"enum": [word.value for word in words], **({"description": description} if description else {})}
