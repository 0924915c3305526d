"""Mondrian where people count: rows in the order of their persons, and what the labels of classes say of people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.required import RequiredModels
from ppdm_flow.anonymizers.mondrian.reading import Read, single
from ppdm_flow.anonymizers.mondrian.values import ClassLabels
from ppdm_flow.anonymizers.naming import subject_of
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.mining.class_people.kernels import sizes
from ppdm_flow.mining.class_people.seen import Classes, ClassPeople
from ppdm_flow.mining.local_recoding.tree import Partition
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.view import DataView

Ints = npt.NDArray[np.int64]


def by_person(data: DataView, columns: list[str], ctx: StepContext) -> Read | None:
    """Return the rows in the order of their persons; None where rows count, or everybody has but one.

    Raises PluginError where a row is nobody's.
    """
    subject = subject_of(ctx.attributes)
    if ctx.people is None or subject is None or not data.row_count:
        return None
    table = data.table(list(dict.fromkeys([*columns, subject])))
    persons = people_of(table, subject)
    if int(np.bincount(persons).max()) == 1:
        return None
    order = np.lexsort((table.rows, persons))
    counts = single(table.take(order), columns, np.ones(len(order), dtype=np.int64))
    return Read(counts, table.rows[order], persons[order])


def broken_classes(
    people: ClassPeople, parts: Partition, labels: ClassLabels, names: Sequence[str], models: RequiredModels
) -> list[Ints]:
    """Return the parts of each class that breaks a requirement: parts with equal labels are one class.

    A requirement over some of the attributes has fewer classes, of the labels of these.
    """
    of_item = parts.classes
    broken = []
    for grouping, every in models.by_requirement:
        others = [m for m in every if not isinstance(m, KAnonymous)]  # whoever has k people has them with others too
        if not others:
            continue
        ids = numbered(labels, [i for i, name in enumerate(names) if name in grouping])
        classes = Classes.of(ids[of_item], int(ids.max()) + 1, people.persons)
        out = np.flatnonzero(~people.keeps(classes, others))
        order = np.argsort(ids, kind="stable")
        bounds = np.searchsorted(ids[order], np.arange(int(ids.max()) + 2))
        broken += [order[bounds[c] : bounds[c + 1]] for c in out.tolist()]
    return broken


def fewest_people(people: ClassPeople, parts: Partition, labels: ClassLabels) -> int:
    """Return the people of the smallest released class."""
    ids = numbered(labels, range(len(labels.columns)))
    classes = Classes.of(ids[parts.classes], int(ids.max()) + 1, people.persons)
    return int(sizes(people.persons, people.weights, classes.order, classes.begins, classes.ends)[0].min())


def numbered(labels: ClassLabels, columns: Sequence[int]) -> Ints:
    """Return a number from 0 for each part, equal where the labels in ``columns`` are."""
    cells = np.stack([labels.columns[j].codes for j in columns], axis=1)
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
