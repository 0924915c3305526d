"""Mondrian where people count: what the labels of classes say of people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.class_models.required import RequiredModels
from ppdm_flow.anonymizers.mondrian.values import ClassLabels
from ppdm_flow.mining.class_people.kernels import sizes
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.mining.local_recoding.tree import Partition
from ppdm_flow.mining.recoding.models import KAnonymous

Ints = npt.NDArray[np.int64]


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
        classes = PersonalClasses.of(ids[of_item], int(ids.max()) + 1, people.persons)
        out = np.flatnonzero(~people.keeps(classes, others))
        order = np.argsort(ids, kind="stable")
        bounds = np.searchsorted(ids[order], np.arange(int(ids.max()) + 2))
        broken += [order[bounds[c] : bounds[c + 1]] for c in out.tolist()]
    return broken


def fewest_people(people: ClassPeople, parts: Partition, labels: ClassLabels) -> int:
    """Return the people of the smallest released class."""
    ids = numbered(labels, range(len(labels.columns)))
    classes = PersonalClasses.of(ids[parts.classes], int(ids.max()) + 1, people.persons)
    return int(sizes(people.persons, people.weights, classes.order, classes.begins, classes.ends)[0].min())


def numbered(labels: ClassLabels, columns: Sequence[int]) -> Ints:
    """Return a number from 0 for each part, equal where the labels in ``columns`` are."""
    cells = np.stack([labels.columns[j].codes for j in columns], axis=1)
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
