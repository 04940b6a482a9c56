r"""Exact ReLU networks and the constructions that turn a maximum of affine maps into one.

A network is wired from signals, affine combinations of the neurons of one layer. Everything rests
on one gadget,

.. math:: \max(a, b) = (a-b)^+ + b^+ - (-b)^+ .
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from itertools import batched
from typing import Protocol

from theorylab.exact import Scalar, Vector, primitive, rational, rational_vector

from .simplices import essential_maps, signed_simplices

Affine = tuple[Vector, Fraction]
AffineLike = tuple[Sequence[Scalar], Scalar]
Layer = tuple[tuple[Vector, ...], Vector]
