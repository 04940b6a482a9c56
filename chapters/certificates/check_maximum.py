"""Check a proof that two hidden layers compute the maximum of n numbers.

Usage: python check_maximum.py FILE. Needs nothing but Python. The file holds n and terms
(coefficient, left, right); it says that the sum over terms of coefficient times the sum over all
permutations of max(sum over left of max(x_i, x_j), sum over right of max(x_i, x_j)) is max(x).
Exit status 0 if the proof is accepted, 1 if not.

Both sides are invariant under permutations, so it is enough to look at x_1 <= ... <= x_n. There
each inner maximum is the coordinate with the larger index, and max(u, v) = v + max(0, u - v) with
u - v linear. Written in the gaps x_(i+1) - x_i >= 0, u - v may have coefficients of one sign: then
max(0, u - v) is linear. Otherwise it has a kink inside; kinks along different planes are
independent, so they must cancel plane by plane, and what is left must be x_n.
"""

import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import factorial, gcd


def ranked(left, right, n):
    """The two sides with the larger place of each pair, for all places of the labels they use."""
    labels = sorted({i for pair in left + right for i in pair})
    pairs = [[(labels.index(i), labels.index(j)) for i, j in side] for side in (left, right)]
    for place in permutations(range(n), len(labels)):
        yield [[max(place[i], place[j]) for i, j in side] for side in pairs]


def gaps(winners, losers, n):
    """Coefficients of u - v in the gaps."""
    difference = [0] * n
    for w in winners:
        difference[w] += 1
    for w in losers:
        difference[w] -= 1
    return tuple(sum(difference[i:]) for i in range(1, n))


def kinks_and_rest(left, right, n):
    """Kinks by their plane and the linear rest of one block, summed over all permutations."""
    kinks, linear = Counter(), [0] * n
    weight = factorial(n - len({i for pair in left + right for i in pair}))
    for u, v in ranked(left, right, n):
        form = gaps(u, v, n)
        low, high = min(form), max(form)
        if low < 0 < high:
            content = gcd(*form)
            sign = 1 if next(a for a in form if a) > 0 else -1
            kinks[tuple(sign * a // content for a in form)] += weight * content
            rest = v if sign > 0 else u
        else:
            rest = u if high > 0 else v
        for w in rest:
            linear[w] += weight
    return kinks, linear


def accepts(document):
    n, total, linear = document["n"], Counter(), [Fraction(0)] * document["n"]
    for term in document["terms"]:
        left, right = ([tuple(pair) for pair in term[side]] for side in ("left", "right"))
        if len(left) != len(right) or not all(0 <= i < n for pair in left + right for i in pair):
            return False
        c = Fraction(term["coefficient"])
        kinks, rest = kinks_and_rest(left, right, n)
        for plane, count in kinks.items():
            total[plane] += c * count
        linear = [a + c * b for a, b in zip(linear, rest, strict=True)]
    return not any(total.values()) and linear == [0] * (n - 1) + [1]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        accepted = accepts(json.load(file))
    print("accepted: two hidden layers compute the maximum" if accepted else "rejected")
    sys.exit(0 if accepted else 1)
