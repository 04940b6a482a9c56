"""Classes of numbered things that are joined in pairs (union-find)."""

from __future__ import annotations

from collections.abc import Iterable

Pair = tuple[int, int]


def roots(size: int, pairs: Iterable[Pair]) -> list[int]:
    """Return, for 0, ..., size - 1, a representative of the class that the pairs join it to."""
    parent = list(range(size))
    for p, q in pairs:
        while parent[p] != p:
            parent[p] = p = parent[parent[p]]
        while parent[q] != q:
            parent[q] = q = parent[parent[q]]
        parent[p] = q
    for k in range(size):
        root = k
        while parent[root] != root:
            root = parent[root]
        parent[k] = root
    return parent


def classes(size: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """Return the classes of 0, ..., size - 1, in the order of their first members."""
    found: dict[int, list[int]] = {}
    for k, root in enumerate(roots(size, pairs)):
        found.setdefault(root, []).append(k)
    return list(found.values())


def count_classes(size: int, pairs: Iterable[Pair]) -> int:
    """Return the number of classes."""
    parent, count = list(range(size)), size
    for p, q in pairs:
        while parent[p] != p:
            parent[p] = p = parent[parent[p]]
        while parent[q] != q:
            parent[q] = q = parent[parent[q]]
        if p != q:
            parent[p] = q
            count -= 1
    return count
