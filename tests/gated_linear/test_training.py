"""Reductions against direct descent; training, replay, census and curves."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.gated_linear import (
    Aligned,
    GatedNet,
    Pathway,
    ReLUNet,
    census_null,
    curve_deviation,
    dwell,
    family,
    first_passage,
    gate_census,
    gate_clusters,
    general_reduction,
    identical_task,
    layer_censuses,
    main_task,
    mode_reductions,
    reduced_curve,
    reduced_descent,
    reduced_general,
    reln,
    train,
    xor_task,
)
from theorylab.gated_linear.gates import relu_forward, relu_grad

TIMES = np.linspace(0, 4, 41)


@pytest.mark.parametrize(
    ("contexts", "k", "alpha"), [(3, 1, "1"), (3, 2, "1"), (4, 2, "11/10"), (3, (1, 2), "1")]
)
def test_the_scalar_reduction_is_the_general_one(contexts, k, alpha):
    task = identical_task(contexts, 4, alpha)
    scalar = mode_reductions(task, k, 1e-8, 3e-9)
    general = general_reduction(task, family(task, k, 1e-8, 3e-9))
    assert np.allclose(scalar.flow(TIMES), general.flow(TIMES), atol=1e-4)
    assert np.allclose(scalar.descent(1e-3, 1500, 100), general.descent(1e-3, 1500, 100), atol=1e-9)


def test_small_steps_follow_the_flow():
    task = identical_task(3, 4)
    flow = reduced_curve(task, 2, 1e-4, times=np.arange(0, 1.01, 0.1))
    errors = [
        np.abs(
            reduced_descent(task, 2, 1e-4, "even-split", lr, round(1 / lr), round(0.1 / lr)) - flow
        ).max()
        for lr in (2e-3, 1e-3)
    ]
    assert errors[1] < 0.6 * errors[0]


def test_training_from_the_aligned_start_is_the_reduction():
    task = main_task()
    pathways = family(task, 2, 1e-6)
    from theorylab.gated_linear.reductions import aligned_factors

    factors = [aligned_factors(p, task.X, task.Y) for p in pathways]
    net = GatedNet(
        tuple(
            Pathway(p.input_mask, p.sample_mask, len(W1), 1.0)
            for p, (W1, _) in zip(pathways, factors, strict=True)
        )
    )
    W1 = np.vstack([a for a, _ in factors])[None]
    W2 = np.hstack([b for _, b in factors])[None]
    runs = train(net, task, 1e-3, 400, seeds=[0], every=50, start=[W1, W2])
    expected = general_reduction(task, pathways).descent(1e-3, 400, 50)
    assert np.allclose(runs.losses[0], expected, rtol=1e-9)


@pytest.mark.parametrize("widths", [(7,), (5, 6)])
def test_training_is_plain_descent(widths):
    task, lr = identical_task(2, 4), 1e-2
    runs = train(ReLUNet(widths, 0.3), task, lr, 5, seeds=[3, 4], every=1)
    for model in range(2):
        Ws = [W[model] for W in runs.start]
        for _ in range(5):
            Ws = [W - lr * g for W, g in zip(Ws, relu_grad(Ws, task.X, task.Y), strict=True)]
        assert all(np.allclose(a, b[model]) for a, b in zip(Ws, runs.weights, strict=True))
        gap = task.Y - relu_forward(Ws, task.X)
        assert runs.losses[model, -1] == pytest.approx(0.5 * (gap**2).sum())


def test_models_do_not_see_each_other():
    task = identical_task(2, 2)
    alone = train(ReLUNet((4,), 0.1), task, 1e-2, 20, seeds=[9])
    together = train(ReLUNet((4,), 0.1), task, 1e-2, 20, seeds=[1, 9])
    assert np.allclose(alone.losses[0], together.losses[1], rtol=1e-12)


def test_replayed_gates_give_the_same_weights_bit_for_bit():
    task = identical_task(3, 4)
    net = ReLUNet((12,), 0.05)
    runs = train(net, task, 5e-3, 200, seeds=[0, 1], every=1, record=("losses", "gates"))
    copy = train(
        net, task, 5e-3, 200, seeds=[0, 1], mode="replay", replay=runs.gates, start=runs.start
    )
    assert all((a == b).all() for a, b in zip(runs.weights, copy.weights, strict=True))


def test_unseen_inputs_keep_weight_zero_and_pathways_their_samples():
    task = identical_task(3, 4)
    net = reln(task, 2, 5, 0.01)
    runs = train(net, task, 1e-2, 100, seeds=[0])
    assert (runs.weights[0][0][~net.mask] == 0).all()
    assert net.gates.shape == (20, 12)
    assert net.gates[5:].sum() == 15 * 8
    assert net.common.sum() == 5


def test_the_staged_rule_trains_the_common_pathway_alone():
    task = identical_task(3, 4)
    net = reln(task, 2, 5, 0.01)
    everything = Pathway(np.ones(7, bool), np.ones(12, bool), 5, 0.01)
    staged = train(net, task, 5e-3, 200, seeds=[0], rule="staged")
    W1, W2 = staged.start
    alone = train(
        GatedNet((everything,)), task, 5e-3, 200, seeds=[0], start=[W1[:, :5], W2[:, :, :5]]
    )
    assert np.allclose(staged.weights[0][:, :5], alone.weights[0])


def test_snapshots_are_the_weights_at_the_recorded_steps():
    runs = train(
        ReLUNet((3,), 0.1), xor_task(), 1e-2, 20, seeds=[0, 1], record=("losses", "snapshots")
    )
    assert runs.snapshots[0].shape == (3, 2, 3, 2)
    assert (runs.snapshots[1][-1] == runs.weights[1]).all()


def test_a_pathway_starts_at_half_its_width_times_variance():
    pathway = Pathway(np.ones(6, bool), np.ones(8, bool), 50, 1e-4)
    assert pytest.approx(25e-8) == pathway.A0
    task = identical_task(2, 4)
    assert reduced_general(task, [pathway], [0.0])[0] == pytest.approx(task.initial_loss, rel=1e-4)


def modular_weights(task):
    W1 = np.zeros((task.C, task.P + task.C))
    W1[:, : task.P] = 1
    W1[:, task.P :] = -2 + 2 * np.eye(task.C)
    return W1, np.ones((3, task.C))


def test_census_of_hand_made_units():
    task = identical_task(3, 4)
    W1, W2 = modular_weights(task)
    found = gate_census(W1, W2, task)
    assert np.allclose(found.shares, [0, 1, 0, 0])
    assert found.mean == pytest.approx(1)
    everything = np.vstack([W1, np.ones((1, 7))])
    heavy = np.hstack([W2, 1e6 * np.ones((3, 1))])
    assert gate_census(everything, heavy, task).shares[3] > 0.99
    assert gate_census(W1, W2, task, rule="activation").served.tolist() == [1, 1, 1]


def test_half_of_the_objects_is_not_a_majority():
    task = identical_task(1, 4)
    W1 = np.array([[1.0, 1, -1, -1, 0]])
    assert gate_census(W1, np.ones((1, 1)), task).shares.tolist() == [1, 0]


def test_shuffling_keeps_the_mass_and_loses_the_contexts():
    task = identical_task(3, 8)
    W1, W2 = modular_weights(task)
    null = census_null(W1, W2, task, np.random.default_rng(0), 100)
    assert np.allclose(null.sum(axis=1), 1)
    assert null[:, 1].mean() < 0.5


def test_clusters_find_planted_pathways():
    task = identical_task(3, 4)
    W1, W2 = modular_weights(task)
    found = gate_clusters(np.repeat(W1, 5, axis=0), np.repeat(W2, 5, axis=1), task, 3)
    assert np.allclose(sorted(found.centres.tolist()), np.eye(3)[::-1])
    assert np.allclose(found.shares, 1 / 3)


def test_layers_are_counted_one_by_one():
    task = identical_task(3, 4)
    W1, _ = modular_weights(task)
    first, second = layer_censuses([W1, np.ones((2, 3)), np.ones((1, 2))], task)
    assert (first.shares[1], second.shares[3]) == (pytest.approx(1), pytest.approx(1))


def test_curves():
    a, b = np.array([4.0, 3, 2, 1, 0]), np.array([4.0, 2, 1, 0.5, 0])
    found = curve_deviation(a, b)
    assert (found.max, found.mean) == (0.25, pytest.approx(0.125))
    assert found.first_passage_ratio[0] == 2
    assert first_passage(a, [2.5, 9], 10).tolist() == [15, 0]
    assert np.isnan(first_passage([4.0, 3], [1])[0])
    assert dwell([10, 5, 5, 5, 0.05], 5) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ReLUNet((), 0.1), "widths"),
        (lambda: ReLUNet((3,), 0), "std"),
        (lambda: GatedNet(()), "at least one pathway"),
        (lambda: Pathway(np.ones(2, bool), np.zeros(4, bool), 1, 0.1), "must be on"),
        (lambda: reln(identical_task(3), 3), r"1\.\.2"),
        (
            lambda: train(
                GatedNet((Pathway(np.ones(2, bool), np.ones(3, bool), 1, 0.1),)),
                xor_task(),
                0.1,
                1,
                seeds=[0],
            ),
            "sample_mask",
        ),
        (
            lambda: train(ReLUNet((3,), 1.0), identical_task(2), 1.0, 50, seeds=[0], every=1),
            "lower",
        ),
        (lambda: train(ReLUNet((3,), 1.0), xor_task(), 0, 1, seeds=[0]), "lr"),
        (lambda: train(ReLUNet((3,), 1.0), xor_task(), 0.1, 1, seeds=[0], mode="replay"), "replay"),
        (lambda: train(ReLUNet((3,), 1.0), xor_task(), 0.1, 1, seeds=[0], mode="gated"), "mode"),
        (lambda: reduced_curve(identical_task(3), 3, 1e-9), r"1\.\.2"),
        (lambda: reduced_curve(identical_task(3), 2, 0.0), "A0_common"),
        (lambda: reduced_curve(identical_task(3), 2, 1e-9, "odd-split"), "even-split"),
        (lambda: reduced_curve(identical_task(3), 2, 1e-9, times=[1, 0]), "increasing"),
        (lambda: reduced_descent(identical_task(3), 2, 1.0, 1.0, 1.0, 50), "diverged"),
        (lambda: mode_reductions(main_task(), 2, 1e-9), "general_reduction"),
        (
            lambda: general_reduction(xor_task(), [Aligned(np.ones(2, bool), np.ones(3, bool), 1)]),
            "sample_mask",
        ),
        (lambda: gate_census(np.zeros((2, 11)), np.zeros((1, 2)), identical_task(3)), "no mass"),
        (lambda: gate_census(np.zeros((2, 9)), np.zeros((1, 2)), identical_task(3)), "11 columns"),
        (lambda: curve_deviation([1, 2], [1, 2, 3]), "same steps"),
        (lambda: curve_deviation([1, np.nan], [1, 2]), "NaN"),
        (lambda: dwell([1.0, 2], 1, width=0), "width"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors_name_the_value(call, message):
    with pytest.raises((ValueError, ArithmeticError), match=message):
        call()


def test_fewer_outputs_say_the_same():
    task = main_task()
    small = task.in_own_outputs()
    assert small.Y.shape == (24, 24)
    assert np.allclose(small.Y.T @ small.Y, task.Y.T @ task.Y)
    pathways = family(task, 2, 1e-8)
    full = general_reduction(task, pathways).descent(1e-3, 1000, 100)
    assert np.allclose(general_reduction(small, pathways).descent(1e-3, 1000, 100), full, rtol=1e-9)
