"""The exact mixture: what it lets in, and that its transformations keep or change the law."""

from fractions import Fraction as F

import gmpy2
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from theorylab.total_variation import ProductMixture, tv_exact_mixture
from theorylab.total_variation.generators import point_mass_form, random_mixture, random_split

HALF = F(1, 2)


def coin(p) -> ProductMixture:
    return ProductMixture((1,), (((1 - F(p), F(p)),),))


mixtures = st.builds(
    lambda seed, k, sizes: random_mixture(np.random.default_rng(seed), k, sizes),
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.lists(st.integers(1, 4), min_size=0, max_size=4),
)


@pytest.mark.parametrize("float_value", [0.5, np.float64(0.5), np.float32(0.5)])
def test_floats_are_refused_with_the_remedy(float_value):
    with pytest.raises(TypeError, match=r"from_floats\(\.\.\., exact=True\)"):
        ProductMixture((1,), (((float_value, HALF),),))
    with pytest.raises(TypeError, match=r"weights\[0\].*from_floats\(\.\.\., exact=True\)"):
        ProductMixture((float_value, HALF), (((1,),), ((1,),)))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_non_finite_values_are_value_errors(bad):
    with pytest.raises(ValueError, match=r"rows\[0\]\[0\]\[1\]"):
        ProductMixture((1,), (((HALF, bad),),))
    with pytest.raises(ValueError, match="finite"):
        ProductMixture.from_floats([1.0], [[[0.5, bad]]])


@pytest.mark.parametrize(
    ("weights", "rows", "message"),
    [
        ((), (), "weights is empty"),
        ((1,), (((),),), r"rows\[0\]\[0\] is empty"),
        ((1,), (((F(3, 2), F(-1, 2)),),), r"rows\[0\]\[0\]\[1\] is -1/2"),
        ((1,), (((HALF, F(1, 3)),),), r"rows\[0\]\[0\] sums to 5/6"),
        ((HALF, F(1, 3)), (((1,),), ((1,),)), "weights sums to 5/6"),
        ((HALF, HALF), (((1,),),), "2 weights but 1 components"),
        ((HALF, HALF), (((1,),), ((1,), (1,))), r"rows\[1\] has alphabet sizes"),
        ((HALF, HALF), (((1,),), ((HALF, HALF),)), r"rows\[1\] has alphabet sizes"),
    ],
)
def test_bad_input_is_named(weights, rows, message):
    with pytest.raises(ValueError, match=message):
        ProductMixture(weights, rows)


def test_strings_and_booleans_are_type_errors():
    for bad in ("1/2", True, None):
        with pytest.raises(TypeError, match=r"rows\[0\]\[0\]\[0\]"):
            ProductMixture((1,), (((bad, HALF),),))


def test_exact_numbers_of_other_libraries_become_python_fractions():
    mixture = ProductMixture(
        (np.int64(1),), (((fmpq(1, 3), gmpy2.mpq(2, 3)), (np.int32(0), gmpy2.mpz(1))),)
    )
    assert mixture == ProductMixture((1,), (((F(1, 3), F(2, 3)), (0, 1)),))
    assert all(type(v.numerator) is int for row in mixture.rows[0] for v in row)


def test_degenerate_but_legal():
    trivial = ProductMixture((1,), ((),))
    assert trivial.n_coordinates == 0
    assert trivial.probability(()) == 1
    one_letter = ProductMixture((0, 1), (((1,),), ((1,),)))
    assert one_letter.probability((0,)) == 1
    assert one_letter.canonical().n_components == 1


def test_hand_computed_probability():
    mixture = ProductMixture(
        (F(1, 3), F(2, 3)),
        (((HALF, HALF), (F(1, 4), F(3, 4))), ((F(1, 5), F(4, 5)), (1, 0))),
    )
    assert mixture.probability((1, 0)) == F(1, 3) * HALF * F(1, 4) + F(2, 3) * F(4, 5)
    assert mixture.marginal((1,)).probability((1,)) == F(1, 3) * F(3, 4)
    assert mixture.marginal((1, 0)).probability((0, 1)) == mixture.probability((1, 0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.probability((0,)), "x has 1 letters"),
        (lambda m: m.probability((0, 2)), r"x\[1\] is 2"),
        (lambda m: m.marginal((0, 0)), "repetition"),
        (lambda m: m.marginal((2,)), "coordinates is 2"),
        (lambda m: m.split(1, 0, (0, 0), HALF), "i is 1"),
        (lambda m: m.split(0, 2, (0, 0), HALF), "j is 2"),
        (lambda m: m.split(0, 0, (0, 0), 1), "share is 1"),
        (lambda m: m.split(0, 0, (F(1, 9), 0), HALF), "sum to 0"),
        (lambda m: m.split(0, 0, (1, -1), HALF), "negative"),
        (lambda m: m.permute((1,)), "no permutation"),
        (lambda m: m.coarsen(0, [[0]]), "does not divide"),
        (lambda m: m.coarsen(0, [[0, 1], []]), "does not divide"),
        (lambda m: m.replace_row(0, 0, (1,)), "row has 1 entries"),
        (lambda m: m.replace_row(0, 0, (1, 1)), "sums to 2"),
    ],
)
def test_methods_name_what_is_wrong(call, message):
    mixture = ProductMixture((1,), (((HALF, HALF), (HALF, HALF)),))
    with pytest.raises(ValueError, match=message):
        call(mixture)


@given(mixtures)
def test_probabilities_add_up_to_one(mixture):
    points = np.ndindex(*mixture.alphabet_sizes)
    assert sum(mixture.probability(x) for x in points) == 1


@given(mixtures, st.integers(0, 2**32))
def test_same_law_under_split_expand_permute_canonical_storage(mixture, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(mixture.n_components).tolist()
    versions = [
        random_split(rng, mixture),
        point_mass_form(mixture),
        mixture.permute(order),
        mixture.canonical(),
        ProductMixture.from_json(mixture.to_json()),
    ]
    for version in versions:
        assert tv_exact_mixture(mixture, version) == 0
    assert ProductMixture.from_json(mixture.to_json()) == mixture


@given(mixtures, st.data())
def test_coarsening_adds_probabilities(mixture, data):
    if not mixture.n_coordinates:
        return
    j = data.draw(st.integers(0, mixture.n_coordinates - 1))
    size = mixture.alphabet_sizes[j]
    coarse = mixture.coarsen(j, [list(range(size))])
    rest = [i for i in range(mixture.n_coordinates) if i != j]
    assert coarse.alphabet_sizes[j] == 1
    assert tv_exact_mixture(coarse.marginal(rest), mixture.marginal(rest)) == 0


def test_split_is_the_stated_identity():
    mixture = coin(F(1, 2)).split(0, 0, (F(1, 10), F(-1, 10)), F(1, 3))
    assert mixture.weights == (F(1, 3), F(2, 3))
    assert mixture.rows[0][0] == (F(6, 10), F(4, 10))
    assert mixture.rows[1][0] == (F(45, 100), F(55, 100))


def test_naive_bayes_from_counts():
    model = ProductMixture.from_counts([[[3, 1], [0, 4]], [[1, 1], [2, 0]]], alpha=1)
    assert model.weights == (F(2, 3), F(1, 3))
    assert model.rows[0] == ((F(4, 6), F(2, 6)), (F(1, 6), F(5, 6)))
    assert ProductMixture.from_counts([[[3, 1]]], alpha=F(1, 2)).rows[0][0] == (F(7, 10), F(3, 10))
    assert ProductMixture.from_counts(np.array([[[3, 1]]]), 0).rows[0][0] == (F(3, 4), F(1, 4))


@pytest.mark.parametrize(
    ("counts", "alpha", "error", "message"),
    [
        ([[[3, 1], [1, 1]]], 1, ValueError, r"counts\[0\] has totals"),
        ([[[3, -1]]], 1, ValueError, "counts must be >= 0"),
        ([[[3, 1]]], -1, ValueError, "alpha is -1"),
        ([[[3, 1]]], 0.5, TypeError, "alpha"),
        ([[[3.0, 1.0]]], 1, TypeError, "counts"),
        ([[[0, 0]]], 1, ValueError, "all zero"),
        ([[[0, 0]], [[1, 1]]], 0, ValueError, "alpha is 0"),
    ],
)
def test_counts_are_checked(counts, alpha, error, message):
    with pytest.raises(error, match=message):
        ProductMixture.from_counts(counts, alpha)


def test_floats_are_read_as_dyadic_rationals_with_the_last_entry_adjusted():
    mixture = ProductMixture.from_floats([0.1, 0.9], [[[0.3, 0.7]], [[0.5, 0.5]]], exact=True)
    assert mixture.weights == (F(0.1), 1 - F(0.1))
    assert mixture.rows[0][0] == (F(0.3), 1 - F(0.3))
    decimal = ProductMixture.from_decimal_strings(
        ["0.1", "0.9"], [[["0.3", "0.7"]], [["1/2", "0.5"]]]
    )
    assert decimal.rows[0][0] == (F(3, 10), F(7, 10))
    assert 0 < tv_exact_mixture(mixture, decimal) < F(1, 10**15)


@pytest.mark.parametrize(
    ("weights", "rows", "exact", "message"),
    [
        ([1.0], [[[0.5, 0.4]]], True, r"rows\[0\]\[0\] sums to 0.9"),
        ([1.0], [[[-0.5, 1.5]]], True, r"rows\[0\]\[0\]\[0\] is -0.5"),
        ([1.0], [[[]]], True, "empty"),
        ([1.0], [[[0.1] * 10 + [0.0]]], True, "put an entry of larger probability last"),
        ([1.0], [[[0.5, 0.5]]], False, "from_decimal_strings"),
    ],
)
def test_from_floats_is_strict(weights, rows, exact, message):
    with pytest.raises(ValueError, match=message):
        ProductMixture.from_floats(weights, rows, exact=exact)


def test_decimal_strings_are_checked():
    with pytest.raises(ValueError, match=r"rows\[0\]\[0\]\[1\] is 'half'"):
        ProductMixture.from_decimal_strings(["1"], [[["0.5", "half"]]])
    with pytest.raises(TypeError, match="reads strings"):
        ProductMixture.from_decimal_strings(["1"], [[[0.5, "0.5"]]])


def test_subcubes():
    mixture = ProductMixture.from_subcubes((HALF, HALF), ["0*", "11"])
    assert [mixture.probability(x) for x in np.ndindex(2, 2)] == [F(1, 4), F(1, 4), 0, HALF]
    with pytest.raises(ValueError, match=r"cubes\[1\] is '2\*'"):
        ProductMixture.from_subcubes((HALF, HALF), ["0*", "2*"])
