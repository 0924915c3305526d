"""The form of a policy beside its YAML: shown, brought in step, saved."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy, refuse_reach
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.policies.policies import ChangedMeanwhileError, PolicyText
from ppdm_flow.page.views.form.changing import changes_in
from ppdm_flow.page.views.form.contents import FormContents, contents, is_too_long, role_sentences
from ppdm_flow.page.views.form.inputs import UnreadableFieldError
from ppdm_flow.page.views.policies.comparing import compared
from ppdm_flow.page.views.policies.editing import sent_text
from ppdm_flow.page.views.policies.steps import drawing_of
from ppdm_flow.policy.edit.changes import tree_of
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.text.nodes import PolicyPath, written


@dataclass(frozen=True, slots=True)
class FilledForm:
    """A text with what the form changed in it; where that could not be written, why, and the text as it was sent."""

    text: str
    faults: tuple[Diagnostic, ...] = ()
    unreadable: PolicyPath = ()

    @property
    def fits(self) -> bool:
        """Whether everything that was in the form is in the text now."""
        return not self.faults and not self.unreadable


def show_form(call: Call) -> Response:
    """Show the form of a policy as it is saved."""
    policy = known_policy(call)
    return _page(call, policy, FilledForm(policy.text), policy.digest)


def fill(call: Call) -> Response:
    """Bring form and YAML in step: the form's changes go into the text, and the form is made anew from it.

    A script of the page asks for the form alone; the text is then in a field of it.
    """
    policy = known_policy(call)
    filled = _filled(call)
    return _page(call, policy, filled, call.text("digest"), part=bool(call.text("part")))


def save(call: Call) -> Response:
    """Write the text with the form's changes; show both where the file changed meanwhile."""
    policy, filled = known_policy(call), _filled(call)
    if not filled.fits:
        return _page(call, policy, filled, call.text("digest"), status=422)
    refuse_reach(call, policy.name, filled.text, before=policy)
    try:
        call.site.policies.write(policy.name, filled.text, call.text("digest"), call.user)
    except ChangedMeanwhileError as error:
        comparison = compared(call.site, policy.name, error.now.text, filled.text)
        return call.page("policies/conflict.html", 409, policy=error.now, text=filled.text, comparison=comparison)
    return call.go(policy_address(policy.name, "form"), said="policies.saved")


def _filled(call: Call) -> FilledForm:
    """Return the text of the form with its changes in it; ``form`` says whether the fields count, or the text alone."""
    text = sent_text(call)
    if call.text("text_only"):
        return FilledForm(text)
    base = call.text("base").replace("\r\n", "\n")
    if len(base.encode(errors="replace")) > call.site.settings.policy_bytes:
        raise HTTPException(413)
    return CHECKS.run(filled_text, known_policy(call).name, text, base, FormData(call.form.multi_items()))


def filled_text(name: str, text: str, base: str, form: FormData) -> FilledForm:
    """Return a text with what a form changes that was made of the text ``base``."""
    try:
        return FilledForm(edited(text, changes_in(form, tree_of(base), tree_of(text, name))))
    except PolicyError as error:
        return FilledForm(text, tuple(error.diagnostics))
    except UnreadableFieldError as error:
        return FilledForm(text, unreadable=error.path)


def _page(
    call: Call, policy: PolicyText, filled: FilledForm, digest: str, *, part: bool = False, status: int = 200
) -> Response:
    checked = call.site.checks.check(policy.name, filled.text)
    return call.page(
        "form/part.html" if part else "form/form.html",
        status,
        policy=policy,
        filled=filled,
        unreadable=written(filled.unreadable),
        digest=digest,
        contents=CHECKS.run(contents_of, policy.name, filled.text),
        checked=checked,
        names=checked.names,
        roles=role_sentences(),
        drawing=drawing_of(checked),
    )


def contents_of(name: str, text: str) -> FormContents | str:
    """Return what the form shows of a text; where there is no form of it, the key of a sentence that says why."""
    try:
        shown = contents(text, tree_of(text, name))
    except PolicyError:
        return "form.no_yaml"
    return "form.too_long" if is_too_long(shown) else shown
