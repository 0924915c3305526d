"""Different people for several roles: whether there are enough, and which roles have too few between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import networkx as nx


def matching(people: Mapping[str, Collection[str]]) -> dict[str, str] | None:
    """Return a person for each role, all different; None where there are not enough.

    >>> matching({"owner": ["alice", "bob"], "officer": ["alice"]})
    {'owner': 'bob', 'officer': 'alice'}
    """
    names, _, matched = _matched(people)
    if len(matched) < len(people):
        return None
    return {role: names[matched[number]] for number, role in enumerate(people)}


def crowded_roles(people: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return roles that have fewer people between them than they are (P. Hall, 1935); none where there are enough.

    >>> crowded_roles({"owner": ["alice"], "officer": ["alice"], "press": ["bob"]})
    ('owner', 'officer')
    """
    _, graph, matched = _matched(people)
    without = next((number for number in range(len(people)) if number not in matched), None)
    if without is None:
        return ()
    graph.add_edges_from((person, number) for number, person in matched.items())
    reached = {without, *nx.descendants(graph, without)}
    return tuple(role for number, role in enumerate(people) if number in reached)


def _matched(people: Mapping[str, Collection[str]]) -> tuple[dict[int, str], nx.DiGraph, dict[int, int]]:
    """Return the names of people by their nodes, who may have each role, and the person of each role that has one.

    Nodes are numbers, those of roles first: networkx goes through sets of them, whose order must not depend on hashes.
    """
    names = dict(enumerate(sorted({name for own in people.values() for name in own}), len(people)))
    numbers = {name: number for number, name in names.items()}
    graph = nx.DiGraph()
    graph.add_nodes_from((*range(len(people)), *names))
    graph.add_edges_from((role, numbers[name]) for role, own in enumerate(people.values()) for name in own)
    both_ways = nx.bipartite.hopcroft_karp_matching(graph.to_undirected(), range(len(people)))
    return names, graph, {role: both_ways[role] for role in range(len(people)) if role in both_ways}
