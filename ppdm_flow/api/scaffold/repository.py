"""The files of the repository: those that every one has, those of its template, invented data and schemas."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path, PurePosixPath

from ppdm_flow.api.documents import SCHEMAS, text_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.version import VERSION

_VISITS = 4_000
_ORDERS = 20_000
_PATIENTS = 3_000
_SEED = 7
_REGIONS = ("coast", "hills", "town", "valley")
_HOSPITALS = ("north", "south", "university")
_ILLNESSES = ("asthma", "back pain", "diabetes", "flu", "injury", "migraine")
_PRODUCTS = (
    *("apples", "bananas", "beans", "bread", "butter", "candles", "cheese", "chocolate", "cocoa", "coffee"),
    *("cream", "eggs", "flour", "garlic", "honey", "jam", "lentils", "matches", "milk", "mustard"),
    *("noodles", "nuts", "olives", "onions", "pepper", "rice", "salt", "soap", "tea", "wine"),
)
_TOGETHER = (
    *(("bread", "butter"), ("coffee", "milk"), ("bread", "jam", "tea"), ("cheese", "wine"), ("eggs", "flour")),
    *(("noodles", "cheese"), ("rice", "beans", "onions"), ("cocoa", "milk"), ("apples", "honey"), ("olives", "wine")),
)


def visits() -> str:
    """Return invented visits as CSV: older people have other illnesses, and return more often."""
    dice = random.Random(_SEED)  # noqa: S311  # an invented table, not a secret
    lines = ["patient,age,region,illness,returned"]
    for number in range(_VISITS):
        age = dice.randint(18, 89)
        weights = (3, 4, 1 + age // 20, 5, 3, 3)
        illness = dice.choices(_ILLNESSES, weights)[0]
        returned = "yes" if dice.random() < 0.1 + age / 150 else "no"
        lines.append(f"P{number:04},{age},{dice.choice(_REGIONS)},{illness},{returned}")
    return "\n".join(lines) + "\n"


def patients() -> str:
    """Return invented patients as CSV, one a line."""
    return _clinic()[0]


def visits_of_patients() -> str:
    """Return invented visits of these patients as CSV: most come now and then, a few very often."""
    return _clinic()[1]


def _clinic() -> tuple[str, str]:
    dice = random.Random(_SEED)  # noqa: S311  # invented tables, not secrets
    people, stays = ["patient,born,region"], ["patient,hospital,illness"]
    for number in range(_PATIENTS):
        born, region = dice.randint(1935, 2005), dice.choice(_REGIONS)
        people.append(f"P{number:04},{born},{region}")
        often = dice.randint(20, 40) if dice.random() < 0.01 else min(int(dice.expovariate(0.4)), 10)
        for _ in range(often):
            illness = dice.choices(_ILLNESSES, (3, 4, 1 + (2005 - born) // 20, 5, 3, 3))[0]
            stays.append(f"P{number:04},{dice.choice(_HOSPITALS)},{illness}")
    return "\n".join(people) + "\n", "\n".join(stays) + "\n"


def orders() -> str:
    """Return invented orders, one a line: some products are often bought together, any other one now and then."""
    dice = random.Random(_SEED)  # noqa: S311  # invented orders, not a secret
    lines = []
    for _ in range(_ORDERS):
        basket = set(dice.choice(_TOGETHER)) if dice.random() < 0.6 else set()
        basket |= {dice.choice(_PRODUCTS) for _ in range(dice.randint(1, 2))}
        lines.append(",".join(sorted(basket)))
    return "\n".join(lines) + "\n"


DEFAULT = "microdata-kl"
_COMMON = "common"
_DOT = "dot-"
_SCHEMAS = ("policy", "template", "test", "project")
_SETS = "randomized-baskets"
LINKED = "linked-tables"
_DATA = {
    _SETS: {"orders.txt": orders},
    LINKED: {"patients.csv": patients, "visits.csv": visits_of_patients},
}
_ONE_TABLE = {"visits.csv": visits}
_KEY = "PATIENTS_KEY: for-invented-data-alone   # a key of pseudonyms for tests; that of real data is a secret"


def variants() -> tuple[str, ...]:
    """Return what a repository can start from: the built-in templates, and ``linked-tables``, which needs none."""
    return tuple(sorted(p.name for p in _kit().iterdir() if p.is_dir() and p.name != _COMMON))


def init(folder: Path, template: str = DEFAULT) -> tuple[Path, ...]:
    """Write a repository of policies into ``folder``, which begins with one on a built-in template or linked tables.

    Raises
    ------
    UsageError
        For an unknown template (PPF692), where a file is there already (PPF673), or the folder cannot be written
        (PPF693); nothing was written then.
    """
    files = contents(template)
    if folder.exists() and not folder.is_dir():
        help_ = f"`init` makes a folder; `ppdm-flow profile {folder}` drafts a policy for a file of data"
        raise UsageError(Diagnostic("PPF673", f"`{folder}` is a file", help=help_))
    taken = [folder / name for name in files if (folder / name).exists()]
    if taken:
        text = f"`{taken[0]}` is there already: nothing was written"
        raise UsageError(Diagnostic("PPF673", text, help="give another folder"))
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())  # line ends as they are, on every machine
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(Diagnostic("PPF693", f"cannot write into `{folder}`: {type(error).__name__}")) from None
    return tuple(folder / name for name in files)


def contents(template: str = DEFAULT) -> Mapping[str, str]:
    """Return the files by their names in the folder, the policy first. Raises UsageError (PPF692)."""
    name = template.removeprefix("builtin:")
    if name not in variants():
        raise UsageError(_unknown(template))
    policy = "orders" if name == _SETS else "visits"
    data = _DATA.get(name, _ONE_TABLE)
    words = _words(name, tuple(data)) | {"@VERSION@": VERSION, "@POLICY@": policy}
    files = {f"policies/{policy}.yaml": ""}
    files |= {path: _filled(text, words) for path, text in (*_texts(_kit() / name), *_texts(_kit() / _COMMON))}
    files |= {f"data/{each}": table() for each, table in data.items()}
    return files | {f".schemas/{each}.v1.json": text_of(each) for each in _SCHEMAS if each in SCHEMAS}


def _words(name: str, data: tuple[str, ...]) -> dict[str, str]:
    """What the common files say of one variant: its data, what it builds on, the key that its tests need."""
    words = {
        "@FILES@": ", ".join(f"`data/{each}`" for each in data),
        "@KEPT@": "\n".join(f"!data/{each}" for each in data),
        "@OVER@": f", over `builtin:{name}`",
        "@EXPLAIN@": f"ppdm-flow explain builtin:{name}               "
        "# what the template promises, its params and floors",
        "@NEEDED@": "",
        "@GITHUBENV@": "",
        "@GITLABENV@": "",
    }
    if name != LINKED:
        return words
    return words | {
        "@OVER@": "",
        "@EXPLAIN@": "ppdm-flow explain tables                           # how tables that belong together are judged",
        "@NEEDED@": "\nPseudonyms need a key. That of real data is a secret, and in no file here.\n"
        "For tests on invented data one is in the CI jobs; else `export PATIENTS_KEY=for-invented-data-alone`.\n",
        "@GITHUBENV@": f"\n    env:\n      {_KEY}",
        "@GITLABENV@": f"\n  variables:\n    {_KEY}",
    }


def _unknown(template: str) -> Diagnostic:
    names = ", ".join(f"`{name}`" for name in variants())
    hint = did_you_mean(template.removeprefix("builtin:"), variants())
    return Diagnostic(
        "PPF692", f"no repository starts from a template `{template}`", hint=hint, help=f"there are {names}"
    )


def _kit() -> Path:
    return Path(str(resources.files("ppdm_flow.api.scaffold") / "kit"))


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The files below a folder. Names that begin with a dot are stored with ``dot-``, so that no tool obeys them."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        parts = (f".{p.removeprefix(_DOT)}" if p.startswith(_DOT) else p for p in path.relative_to(folder).parts)
        yield str(PurePosixPath(*parts)), path.read_text(encoding="utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text
