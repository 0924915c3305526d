"""HTML templates: everything is escaped, and a name that is not given is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ppdm_flow.core.texts import shortened, visible
from ppdm_flow.page.looks.addresses import approval_address, policy_address, run_address, shown_address
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.texts.catalogue import catalogue

_LONGEST = 16_000_000
"""Characters of a page. The form of a policy has some 6 MB, and a text of 1 MB five where all of it is escaped."""


class LongPageError(ValueError):
    """A page would have more characters than a browser is sent."""


@cache
def environment() -> Environment:
    """Return the environment that all pages are made in. Templates of a feature are in ``html/<feature>/``."""
    made = Environment(
        loader=PackageLoader("ppdm_flow.page", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        approval_address=approval_address,
        editor_phrases=editor_phrases,
        policy_address=policy_address,
        run_address=run_address,
        sayings=SAYINGS,
        sections=sections,
        shown_address=shown_address,
        t=catalogue(),
    )
    made.filters["quoted"] = quoted
    made.filters["prose"] = prose
    made.filters["shortened"] = shortened
    return made


def rendered(template: str, **values: object) -> str:
    """Return a page, or a part of one that a script of the page puts in its place.

    Raises LongPageError: what people wrote and uploaded may make pages of any length, which no other request waits for.
    """
    pieces, left = [], _LONGEST
    for piece in environment().get_template(template).generate(values):
        left -= len(piece)
        if left < 0:
            raise LongPageError
        pieces.append(piece)
    return with_all_visible("".join(pieces))


_KEYS: Mapping[str, str] = {
    "Find": "editor.find",
    "Replace": "editor.replace_with",
    "next": "editor.next",
    "previous": "editor.previous",
    "all": "editor.all",
    "match case": "editor.match_case",
    "regexp": "editor.pattern",
    "by word": "editor.by_word",
    "replace": "editor.replace",
    "replace all": "editor.replace_all",
    "close": "editor.close",
    "current match": "editor.current_match",
    "on line": "editor.on_line",
    "replaced match on line $": "editor.replaced_one",
    "replaced $ matches": "editor.replaced_many",
    "Go to line": "editor.go_to_line",
    "go": "editor.go",
    "Control character": "editor.control_character",
    "Completions": "editor.completions",
    "Diagnostics": "editor.findings",
    "No diagnostics": "editor.no_findings",
    "Fold line": "editor.fold",
    "Unfold line": "editor.unfold",
    "Folded lines": "editor.folded_lines",
    "Unfolded lines": "editor.unfolded_lines",
    "folded code": "editor.folded",
    "unfold": "editor.unfold_here",
    "to": "editor.to",
    "Selection deleted": "editor.deleted",
}


def editor_phrases() -> dict[str, str]:
    """Return CodeMirror's own words with those of the catalogue in their place."""
    t = catalogue()
    return {phrase: t(key) for phrase, key in _KEYS.items()}


SAYINGS: frozenset[str] = frozenset(
    {
        "accounts.opened",
        "accounts.password_changed",
        "accounts.roles_changed",
        "accounts.sessions_ended",
        "accounts.signed_out",
        "accounts.unlinked",
        "accounts.was_locked",
        "accounts.was_unlocked",
        "approvals.is_out",
        "form.made",
        "hierarchies.file_written",
        "jobs.is_cancelled",
        "keys.deleted",
        "policies.committed",
        "policies.created",
        "policies.renamed",
        "policies.restored",
        "policies.saved",
        "policies.was_removed",
        "shown.done",
        "shown.taken_back",
        "uploads.added",
        "uploads.removed",
        "uploads.row_added",
    }
)


# The sections of the page in its navigation: each is shown to who may open it.


@dataclass(frozen=True, slots=True)
class Section:
    """A link of the navigation; ``text`` is its key in the catalogue, and ``<text>_help`` that of its sentence.

    ``roles`` may open it. It stands in the first place for people who have one of the roles ``first``, and among the
    others for the rest.
    """

    address: str
    text: str
    roles: frozenset[PageRole]
    first: frozenset[PageRole] = frozenset()


_STEWARDS = frozenset({PageRole.STEWARD})
_APPROVERS = frozenset({PageRole.APPROVER})
_STEWARDS_AND_APPROVERS = frozenset({PageRole.STEWARD, PageRole.APPROVER})
_ADMINISTRATORS = frozenset({PageRole.ADMINISTRATOR})
_GUESTS = frozenset({PageRole.GUEST})
_READERS = frozenset({PageRole.GUEST, PageRole.STEWARD, PageRole.APPROVER})

SECTIONS: tuple[Section, ...] = (
    Section("/uploads", "uploads.section", _STEWARDS, _STEWARDS),
    Section("/policies", "policies.title", _STEWARDS_AND_APPROVERS, _STEWARDS_AND_APPROVERS),
    Section("/runs", "runs.title", _STEWARDS_AND_APPROVERS, _STEWARDS_AND_APPROVERS),
    Section("/approvals", "approvals.title", _STEWARDS_AND_APPROVERS, _APPROVERS),
    Section("/shown", "shown.title", _STEWARDS, _STEWARDS),
    Section("/released", "guests.section", _READERS, _GUESTS),
    Section("/accounts", "accounts.section", _ADMINISTRATORS, _ADMINISTRATORS),
    Section("/waivers", "waivers.title", _STEWARDS_AND_APPROVERS),
    Section("/jobs", "jobs.title", _STEWARDS_AND_APPROVERS),
    Section("/key", "keys.title", _STEWARDS_AND_APPROVERS),
    Section("/journal", "journal.section", _ADMINISTRATORS),
    Section("/explain", "explain.title", frozenset(PageRole)),
)
"""In the order of the navigation."""


def sections(user: User, *, first: bool) -> list[Section]:
    """Return the sections that somebody may open: those in the first place, or the others."""
    return [
        each for each in SECTIONS if user.has(*each.roles) and (bool(each.first) and user.has(*each.first)) == first
    ]


_QUOTED = re.compile("`([^`]+)`")


def quoted(text: str) -> Markup:
    """Return a sentence with its quoted words as code; everything is escaped.

    >>> quoted("unknown key `a<b`")
    Markup('unknown key <code>a&lt;b</code>')
    """
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped before


_TICKED = re.compile(r"`([^`\n]+)`")


def prose(text: str) -> Markup:
    """Escape a sentence, and set what stands between backticks as code.

    >>> prose("drop `a<b`")
    Markup('drop <code>a&lt;b</code>')
    """
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped just before


# Characters that browsers obey instead of show, in the text of a page: a line of a policy could look like another.


_KEPT = re.compile(r"(<textarea\b.*?</textarea>|<[^>]*>)", re.DOTALL)
"""Tags, whose attributes forms send back as they are, and so is the text of an area to write in."""
_SLICE = 1 << 14
"""Characters that are replaced in one call: no other thread works meanwhile, and a page has up to 16 million."""


def with_all_visible(html: str) -> str:
    r"""Return a page with U+FFFD for each such character of its text: what turns the writing, and control characters.

    >>> with_all_visible('<p title="a\u202eb">a\u202eb</p>')
    '<p title="a\u202eb">a\ufffdb</p>'
    """
    pieces: list[str] = []
    for block in _blocks(html):
        if _is_visible(block):
            pieces.append(block)
            continue
        for place, piece in enumerate(_KEPT.split(block)):
            pieces += [piece] if place % 2 else map(visible, _slices(piece))
    return "".join(pieces)


def _blocks(html: str) -> Iterator[str]:
    """Yield a page in parts of about a slice, none of which ends inside of a tag or of an area to write in.

    Values are escaped in both, so that each ``<`` begins a tag.
    """
    start = 0
    while start < len(html):
        end = html.find("<", start + _SLICE)
        while end >= 0 and html.startswith("</textarea", end):
            end = html.find("<", end + 1)
        end = len(html) if end < 0 else end
        yield html[start:end]
        start = end


def _is_visible(text: str) -> bool:
    return all(visible(piece) == piece for piece in _slices(text))


def _slices(text: str) -> Iterator[str]:
    return (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
