"""Sums of functions in separate variables, on product complexes."""

from __future__ import annotations

from .complexes import ProductComplex
from .functions import CPWL


def direct_sum(product: ProductComplex, left: CPWL, right: CPWL) -> CPWL:
    r"""Return :math:`(x,y)\mapsto f(x)+e(y)` on the product complex.

    Raises
    ------
    ValueError
        If the functions do not live on the factors of the product.
    """
    if left.complex is not product.left or right.complex is not product.right:
        raise ValueError("the functions must live on the two factors of the product complex")
    pieces = [(a + c, b + d) for a, b in left.pieces_on_cells for c, d in right.pieces_on_cells]
    return CPWL(product, pieces)
