"""Check a proof that two mixtures of product distributions are equal.

Usage: python check_equivalence.py FILE. Needs nothing but Python. The file holds P, Q and, for
every coordinate at which it changes, a matrix in reduced row echelon form. Exit status 0 if the
proof is accepted, 1 if not.
"""

import json
import sys
from fractions import Fraction


def fractions(nested):
    return [fractions(item) for item in nested] if isinstance(nested, list) else Fraction(nested)


def is_reduced(rows, pivots):
    identity = all(row[p] == (q == p) for row, q in zip(rows, pivots, strict=True) for p in pivots)
    return identity and sorted(set(pivots)) == pivots and len(pivots) == len(rows)


def is_combination(z, rows, pivots):
    sums = list(z)
    for row, pivot in zip(rows, pivots, strict=True):
        if z[pivot]:
            sums = [s - z[pivot] * y if y else s for s, y in zip(sums, row, strict=True)]
    return not any(sums)


def accepts(document):
    P, Q = ({key: fractions(value) for key, value in document[name].items()} for name in "PQ")
    components, c = P["rows"] + Q["rows"], P["weights"] + [-v for v in Q["weights"]]
    stored = document["certificate"]["layers"]
    layers = {layer["start"]: (fractions(layer["rows"]), layer["pivots"]) for layer in stored}
    rows, pivots = layers[0]
    if any(not is_reduced(*layer) for layer in layers.values()) or rows != [[1] * len(c)]:
        return False
    for j in range(len(components[0])):
        before, (rows, pivots) = rows, layers.get(j + 1, (rows, pivots))
        for letter in zip(*(component[j] for component in components), strict=True):
            for y in before:
                if not is_combination(
                    [d * v for d, v in zip(letter, y, strict=True)], rows, pivots
                ):
                    return False
    return all(sum(w * v for w, v in zip(c, row, strict=True)) == 0 for row in rows)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        accepted = accepts(json.load(file))
    print("accepted: P and Q are the same distribution" if accepted else "rejected")
    sys.exit(0 if accepted else 1)
