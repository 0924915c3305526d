"""Rules on linked tables: how they refer to each other, and whose rows they have."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.counting import subject_attribute
from ppdm_flow.policy.language.models import SourceEntry, TableEntry
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.linked import plain_name, qualified, subject_table, table_places, table_policy
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules import attributes, databases
from ppdm_flow.policy.rules.scene import Scene

_FEWEST = 2
_NAMED = (Role.IDENTIFIER, Role.SUBJECT)


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``tables`` (PPF547 to PPF549), and the source of each."""
    if not scene.policy.tables or scene.lacks("tables"):
        return
    beside = list(_beside(scene))
    yield from beside
    if beside or scene.lacks("attributes"):
        return
    yield from _together(scene)
    yield from _not_yet(scene)
    for name, each in scene.policy.tables.items():
        if each.source.randomized_by is not None:
            text = "sets that clients randomized cannot be one of several tables"
            place = ("tables", name, "source", "randomized_by")
            yield scene.fault("PPF445", text, place, at_key=True, hint="release them by a policy of their own")
    for table in scene.policy.tables:
        own = Scene(table_policy(scene.policy, table), table_places(scene.places, table))
        yield from attributes.judge_source(own)
        yield from databases.judge_source(own)


def _beside(scene: Scene) -> Iterator[Diagnostic]:
    """Yield keys of one table beside several."""
    policy = scene.policy
    said = {
        "attributes": any(t.attributes for t in policy.tables.values()),
        "source": policy.source != SourceEntry(),
        "undeclared": policy.undeclared != "error",
    }
    for key, is_said in said.items():
        if is_said:
            text = f"`{key}` is about one table, and `tables` says it of each of several"
            hint = f"move it below the tables: `tables.TABLE.{key}`"
            yield scene.fault("PPF548", text, (key,), at_key=True, hint=hint)


def _together(scene: Scene) -> Iterator[Diagnostic]:
    policy = scene.policy
    people = subject_table(policy)
    if people is None:
        text = "tables belong together by person, and no attribute of theirs says whose row it is"
        hint = "give the key of the table with a row for each person `role: subject`"
        yield scene.fault("PPF547", text, ("tables",), at_key=True, hint=hint)
        return
    if len(policy.tables) < _FEWEST:
        text = f"`{short(people)}` is the only table"
        hint = "write its `source` and `attributes` at the top, without `tables`"
        yield scene.fault("PPF547", text, ("tables",), at_key=True, hint=hint)
    if policy.people is not None and policy.people.unit == "rows":
        text = "rows are counted, and tables are joined by person"
        hint = "say `people: {known_rows: 1}` (or 2, 3, all) to count people"
        yield scene.fault("PPF547", text, ("people", "unit"), hint=hint)
    for name, table in policy.tables.items():
        yield from _key(scene, name, table, people)
        yield from _refers(scene, name, table, people)


def _key(scene: Scene, name: str, table: TableEntry, people: str) -> Iterator[Diagnostic]:
    subject = plain_name(people, subject_attribute(scene.policy) or "")
    if name == people and table.key != subject:
        text = f"table `{short(name)}` has a row for each person, so that its key is the subject"
        path: PolicyPath = ("tables", name, "key") if table.key else ("tables", name)
        yield scene.fault("PPF547", text, path, at_key=not table.key, hint=f"say `key: {short(subject or '')}`")
    elif table.key is not None and qualified(name, table.key) not in scene.policy.attributes:
        yield _undeclared(scene, name, table.key, ("tables", name, "key"), at_key=False)


def _refers(scene: Scene, name: str, table: TableEntry, people: str) -> Iterator[Diagnostic]:
    path: PolicyPath = ("tables", name, "refers")
    if name == people:
        if table.refers:
            text = f"table `{short(name)}` names each person once, and refers to none"
            yield scene.fault("PPF547", text, path, at_key=True, hint="let the other tables refer to it")
        return
    if len(table.refers) != 1:
        text = f"table `{short(name)}` has to say by which one attribute its rows are whose"
        hint = f"add `refers: {{ATTRIBUTE: {short(people)}}}`"
        yield scene.fault("PPF547", text, path if table.refers else path[:2], at_key=True, hint=hint)
    for column, other in table.refers.items():
        if other not in scene.policy.tables:
            near = closest(other, scene.policy.tables)
            text = f"`{short(column)}` refers to `{short(other)}`, and there is no such table"
            meant = f"did you mean `{short(near)}`?" if near else None
            yield scene.fault("PPF547", text, (*path, column), hint=meant)
        elif other != people:
            text = f"`{short(column)}` refers to `{short(other)}`, and not to the table of the people"
            hint = f"refer to `{short(people)}`; what another table says of a row belongs into the row"
            yield scene.fault("PPF547", text, (*path, column), hint=hint)
        declared = scene.policy.attributes.get(qualified(name, column))
        if declared is not None and declared.role not in _NAMED:
            text = f"`{short(column)}` says whose row it is, and is declared as {declared.role}"
            role = ("attributes", qualified(name, column), "role")
            yield scene.fault("PPF547", text, role, hint="give it `role: subject`, or do not declare it")


def _undeclared(scene: Scene, table: str, column: str, path: tuple[str, ...], *, at_key: bool) -> Diagnostic:
    text = f"table `{short(table)}` declares no attribute `{short(column)}`"
    return scene.fault("PPF547", text, path, at_key=at_key, hint="declare it under the table's `attributes`")


def _not_yet(scene: Scene) -> Iterator[Diagnostic]:
    """Yield what is about one table only."""
    policy = scene.policy
    if policy.analyses:
        text = "`analyses` is about a policy of one table"
        yield scene.fault("PPF549", text, ("analyses",), at_key=True, hint="leave it out")
    for name, release in policy.releases.items():
        if release.collapse is not None:
            text = "records are counted in the release of a policy of one table"
            yield scene.fault("PPF549", text, ("releases", name, "collapse"), at_key=True, hint="leave it out")
    for name, audit in policy.audits.items():
        if audit.release is None:
            text = f"audit `{short(name)}` does not say of which table's release it is"
            hint = f"add `release: …`, one of {', '.join(f'`{short(r)}`' for r in policy.releases)}"
            yield scene.fault("PPF549", text, ("audits", name), at_key=True, hint=hint)
