"""Claims on Ising models: from total variation distances to Z, and how hard that makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial

import networkx as nx

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.total_variation.ising import RationalIsing, ising_tv_exact, ising_tv_float
from theorylab.total_variation.ising_instances import (
    random_graph,
    random_model,
    small_graphs,
    strip_model,
)
from theorylab.total_variation.ising_oracles import (
    ADVERSARIES,
    EliminationOracle,
    EnumerationOracle,
    PerturbedOracle,
)
from theorylab.total_variation.ising_reduction import (
    cut_spectrum_from_tv,
    exact_step,
    gap_instance,
    max_cut_from_tv,
    partition_function_from_tv,
    strong_step,
    tilt_factor,
    tv_chain,
)
from theorylab.total_variation.theory_ising import (
    additive_envelope,
    cut_counts,
    gap_bound,
    independence_number,
    relative_envelope,
    tilted_distance,
)

TILTS = (Fraction(1, 50), Fraction(1, 2), Fraction(3), Fraction(1000))
LOSS = Fraction(1, 100)
TARGET = Fraction(1, 10)
ADDITIVE = Fraction(1, 50)
FACTORS = (1, 2, 4, 10)

Tilt = Callable[[RationalIsing, int, Fraction], RationalIsing]


# --- tilt-identity ----------------------------------------------------------------------------


def _models(run: Run, count: int, largest: int, least: int = 1) -> list[RationalIsing]:
    rng = run.rng("models")
    return [random_model(rng, int(rng.integers(least, largest + 1))) for _ in range(count)]


def _tilted(models: Iterable[RationalIsing], tilt: Tilt) -> Finding:
    """Enumerated distances after a tilt beside the formula in the untilted marginal."""
    measured, predicted = [], []
    for model in models:
        for v in range(model.n):
            p = model.marginal(v)
            for r in TILTS:
                measured.append(ising_tv_exact(model, tilt(model, v, r)))
                predicted.append(tilted_distance(p, r))
    return Equal(measured, predicted)


def _strong_tilts(
    models: Iterable[RationalIsing], factor: Callable[[RationalIsing, int], Fraction]
) -> Finding:
    """Distances of the two strong tilts as fractions of what they approximate."""
    shares = []
    for model in models:
        for v in range(model.n):
            p, r = model.marginal(v), factor(model, v)
            shares += [
                ising_tv_exact(model, model.tilt(v, r)) / (1 - p),
                ising_tv_exact(model, model.tilt(v, 1 / r)) / p,
            ]
    return AllHold(
        {"at least (1-δ)p": AtLeast(shares, 1 - LOSS), "at most p": AtMost(shares, Fraction(1))}
    )


def _tilt_in_doubles(run: Run) -> Finding:
    n = run.pick(ci=16, paper=20, gpu=23)
    model = random_model(run.rng("large model"), n)
    spins = range(0, n, n // 4)
    measured = [ising_tv_float(model, model.tilt(v, 3)) for v in spins]
    predicted = [float(tilted_distance(model.marginal(v), Fraction(3))) for v in spins]
    return Close(measured, predicted, atol=1e-13, sizes={"spins": n})


@claim(
    "total_variation.tilt-identity",
    statement=r"""Let $P$ be an Ising model with positive rational weights on $\{0,1\}^n$,
$p = P(x_v=1)$, and $Q$ the model with the field weight $a_v$ multiplied by $r>0$. Then
$$d_{\mathrm{TV}}(P,Q) = |Q(x_v{=}1)-p| = \frac{|r-1|\,p(1-p)}{1+(r-1)p}.$$
With $r = 1+(1+\max(1/\underline o,\overline o))/\delta$, where
$\underline o\le p/(1-p)\le\overline o$ are the products of the smallest and largest coupling
factors at $v$, the tilts by $r$ and $1/r$ are at distance in $[(1-\delta)(1-p),\,1-p]$ and
$[(1-\delta)p,\,p]$: one finite external field, of polynomially many bits, turns a distance
into a marginal.""",
    source=Source("theorylab", "derived in the chapter; replaces Proposition 7 of the paper"),
    evidence="exact",
)
def tilt_identity(run: Run) -> Finding:
    models = _models(run, run.pick(ci=40, paper=80), run.pick(ci=7, paper=10))
    return AllHold(
        {
            "identity": _tilted(models, RationalIsing.tilt),
            "finite strong tilts": _strong_tilts(models, partial(tilt_factor, delta=LOSS)),
            "in doubles": _tilt_in_doubles(run),
        },
        sizes={"models": len(models), "spins at most": max(model.n for model in models)},
    )


def _tilt_two_sites(model: RationalIsing, v: int, r: Fraction) -> RationalIsing:
    return model.tilt(v, r).tilt((v + 1) % model.n, r)


@tilt_identity.control("two sites tilted instead of one")
def _(run: Run) -> Finding:
    return _tilted(_models(run, 5, 6, least=3), _tilt_two_sites)


@tilt_identity.control("tilt 3 in place of the quantified one")
def _(run: Run) -> Finding:
    return _strong_tilts(_models(run, 5, 6), lambda model, v: Fraction(3))


# --- z-from-tv --------------------------------------------------------------------------------


def _partition_functions(models: Sequence[RationalIsing]) -> Finding:
    """Z from distances, found by enumeration, beside Z as the sum of all weights."""
    measured, predicted, queries = [], [], []
    for model in models:
        oracle = EnumerationOracle()
        measured.append(partition_function_from_tv(model, oracle))
        weights, scale = model.weights()
        predicted.append(sum(weights) * scale)
        queries.append(oracle.queries)
    return AllHold(
        {
            "partition function": Equal(measured, predicted),
            "2n queries": Equal(queries, [2 * model.n for model in models]),
        }
    )


def _strips(run: Run) -> Finding:
    shapes = run.pick(ci=((3, 6), (4, 10)), paper=((3, 6), (4, 10), (4, 20)))
    models = [strip_model(run.rng(f"strip {shape}"), *shape) for shape in shapes]
    measured = [partition_function_from_tv(model, EliminationOracle()) for model in models]
    return Equal(measured, [model.Z() for model in models], sizes={"spins": models[-1].n})


def _graphs(run: Run, count: int, largest: int) -> list[nx.Graph]:
    rng = run.rng("graphs")
    return [random_graph(rng, int(rng.integers(3, largest + 1))) for _ in range(count)]


def _spectra(graphs: Iterable[nx.Graph], base: int | None = None) -> Finding:
    """Cut spectra read off distances beside those counted bipartition by bipartition."""
    pairs = [(cut_spectrum_from_tv(g, EnumerationOracle(), base), cut_counts(g)) for g in graphs]
    return Equal([measured for measured, _ in pairs], [predicted for _, predicted in pairs])


@claim(
    "total_variation.z-from-tv",
    statement=r"""The partition function of an Ising model on $n$ spins follows exactly from $2n$
total variation distances between Ising models that share graph and couplings and differ in
one external field: with $\rho = T_+/T_-$ the ratio of the distances of the tilts by $r$ and
$1/r$ at a spin, its odds are $(r-\rho)/(\rho r-1)$; pin the spin and go on,
$Z = w(s)/\prod_t\mu(x_t{=}s_t\mid s_{<t})$. For $b_e=1/t$ with an integer $t>2^n$ the base-$t$
digits of $Zt^m$ are the numbers of cuts of each size, so the distances decide MAX-CUT.""",
    source=Source("bhattacharyya2025explorations", "Theorem 2 (the reduction behind it)"),
    evidence="exact",
    uses=["total_variation.tilt-identity"],
)
def z_from_tv(run: Run) -> Finding:
    models = _models(run, run.pick(ci=10, paper=30), run.pick(ci=7, paper=9))
    graphs = _graphs(run, run.pick(ci=20, paper=40), run.pick(ci=8, paper=10))
    return AllHold(
        {
            "by enumeration": _partition_functions(models),
            "narrow strips, by elimination": _strips(run),
            "cut spectra": _spectra(graphs),
        },
        sizes={"models": len(models), "graphs": len(graphs)},
    )


@z_from_tv.control("base t = 2, so digits carry")
def _(run: Run) -> Finding:
    return _spectra(_graphs(run, 5, 6), base=2)


def _chain_with(pin: Callable, models: Sequence[RationalIsing]) -> Finding:
    chains = [tv_chain(model, EnumerationOracle(), exact_step, pin) for model in models]
    return Equal([chain.value for chain in chains], [model.Z() for model in models])


def _pin_to_wrong_side(model: RationalIsing, v: int, s: int) -> RationalIsing:
    """Fields updated for the other side; couplings and constant as they should be."""
    right = model.pin(v, s)
    return RationalIsing(model.pin(v, 1 - s).a, right.b, right.constant)


def _pin_without_constant(model: RationalIsing, v: int, s: int) -> RationalIsing:
    right = model.pin(v, s)
    return RationalIsing(right.a, right.b, model.constant)


@z_from_tv.control("pinning moves the fields the wrong way")
def _(run: Run) -> Finding:
    return _chain_with(_pin_to_wrong_side, _models(run, 5, 6, least=3))


@z_from_tv.control("constant of the pinned model forgotten")
def _(run: Run) -> Finding:
    return _chain_with(_pin_without_constant, _models(run, 5, 6, least=3))


# --- z-error ----------------------------------------------------------------------------------


def _oracles(run: Run, kind: str, size: Fraction | int) -> Iterator[PerturbedOracle]:
    """One oracle per adversary."""
    for adversary in ADVERSARIES:
        yield PerturbedOracle(kind, size, adversary, rng=run.rng(f"{kind} {size}"))


def _relative_errors(run: Run, models: Sequence[RationalIsing]) -> list[tuple[int, Fraction]]:
    """Sizes and Z-hat / Z of chains whose answers are off by up to ε/(4n)."""
    return [
        (model.n, partition_function_from_tv(model, oracle, "approx", TARGET) / model.Z())
        for model in models
        for oracle in _oracles(run, "relative", _quarter(model.n))
    ]


def _downward_errors(
    models: Sequence[RationalIsing], size: Callable[[int], Fraction]
) -> list[tuple[int, Fraction]]:
    """The same with every answer as small as an error of ``size(n)`` allows."""
    found = []
    for model in models:
        oracle = PerturbedOracle("relative", size(model.n), "down")
        estimate = partition_function_from_tv(model, oracle, "approx", TARGET)
        found.append((model.n, estimate / model.Z()))
    return found


def _additive_errors(run: Run, models: Sequence[RationalIsing]) -> list[tuple[int, Fraction]]:
    """The same with answers off by up to ``ADDITIVE``."""
    step = partial(strong_step, delta=LOSS)
    return [
        (model.n, tv_chain(model, oracle, step).value / model.Z())
        for model in models
        for oracle in _oracles(run, "additive", ADDITIVE)
    ]


def _inside(
    found: Sequence[tuple[int, Fraction]],
    envelope: Callable[[int], tuple[Fraction, Fraction]],
) -> Finding:
    ratios = [ratio for _, ratio in found]
    return AllHold(
        {
            "floor": AtLeast(ratios, [envelope(n)[0] for n, _ in found]),
            "ceiling": AtMost(ratios, [envelope(n)[1] for n, _ in found]),
        }
    )


def _quarter(n: int) -> Fraction:
    """The relative error that the theorem allows: eps / (4n)."""
    return TARGET / (4 * n)


def _within_target(found: Sequence[tuple[int, Fraction]]) -> Finding:
    return AtMost([abs(ratio - 1) for _, ratio in found], TARGET)


@claim(
    "total_variation.z-error",
    statement=r"""Errors of the distances carry over to $Z$ in a controlled way. If every answer
lies in $[(1-\eta)T,(1+\eta)T]$ and the tilts lose at most $\delta$, then
$\hat Z/Z\in[(1+\eta)^{-n},((1-\eta)(1-\delta))^{-n}]$; with
$\eta=\delta=\varepsilon/(4n)$, $\varepsilon\le1$, $|\hat Z/Z-1|\le\varepsilon$: an FPRAS for
total variation would give one for $Z$. Additive errors $\eta<\frac18$ suffice as well: with
$f=\delta+\eta/(\frac12(1-\delta)-2\eta) < 1$, $\hat Z/Z\in[(1+f)^{-n},(1-f)^{-n}]$.""",
    source=Source("theorylab", "derived in the chapter; quantifies Theorem 2 of the paper"),
    evidence="exact",
    uses=["total_variation.tilt-identity", "total_variation.z-from-tv"],
)
def z_error(run: Run) -> Finding:
    models = _models(run, run.pick(ci=25, paper=50), run.pick(ci=6, paper=9))
    relative = _relative_errors(run, models)
    downward = _downward_errors(models, _quarter)
    least = [(1 - _quarter(n)) ** -n for n, _ in downward]
    return AllHold(
        {
            "relative errors: within ε": _within_target(relative),
            "relative errors: envelope": _inside(
                relative, lambda n: relative_envelope(n, _quarter(n), _quarter(n))
            ),
            "all answers low: as far off as that": AtLeast([x for _, x in downward], least),
            "additive errors: envelope": _inside(
                _additive_errors(run, models), lambda n: additive_envelope(n, ADDITIVE, LOSS)
            ),
        },
        sizes={"models": len(models), "ε": TARGET, "additive η": ADDITIVE},
    )


@z_error.control("relative errors of 2ε/n, all down")
def _(run: Run) -> Finding:
    return _within_target(_downward_errors(_models(run, 10, 6, least=2), lambda n: 2 * TARGET / n))


# --- constant-factor --------------------------------------------------------------------------


def _max_cuts(
    run: Run,
    graphs: Sequence[nx.Graph],
    factors: Iterable[int],
    base: Callable[[nx.Graph], int | None] = lambda graph: None,
) -> Finding:
    """MAX-CUT from distances off by a factor, beside MAX-CUT by brute force."""
    cases = [
        (graph, factor, oracle)
        for graph in graphs
        for factor in factors
        for oracle in _oracles(run, "factor", factor)
    ]
    return Equal(
        [max_cut_from_tv(graph, oracle, factor, base(graph)) for graph, factor, oracle in cases],
        [len(cut_counts(graph)) - 1 for graph, _, _ in cases],
    )


@claim(
    "total_variation.constant-factor",
    statement=r"""Distances known only within a factor $\rho$ still decide MAX-CUT: the chain with
$\delta=\frac12$ gives $\hat Z$ within $(2\rho)^n$, and at $b_e=1/t$ with
$t=2^{n+2}(2\rho)^{2n}$, which has polynomially many bits, the largest $k$ with
$t^k\le\hat Z\,t^m(2\rho)^n$ is MAX-CUT. So approximating the total variation distance of two
Ising models within any constant factor (indeed within $2^{\mathrm{poly}(n)}$) is NP-hard.""",
    source=Source("theorylab", "derived in the chapter; strengthens Theorem 2 of the paper"),
    evidence="exact",
    uses=["total_variation.tilt-identity", "total_variation.z-from-tv"],
)
def constant_factor(run: Run) -> Finding:
    graphs = _graphs(run, run.pick(ci=20, paper=40), run.pick(ci=7, paper=8))
    return _max_cuts(run, graphs, FACTORS)


@constant_factor.control("base 2^(n+2), as for exact answers, with answers off by a factor 10")
def _(run: Run) -> Finding:
    graphs = _graphs(run, 6, 6)
    return _max_cuts(run, graphs, [10], lambda graph: 2 ** (graph.number_of_nodes() + 2))


# --- gap --------------------------------------------------------------------------------------


def _gap_cases(run: Run, marked_power: int) -> Finding:
    """Marked marginals and distances for small graphs G and all c, by whether α(G) ≥ c."""
    vertices, spins = run.pick(ci=(5, 8), paper=(6, 9), gpu=(7, 10))
    small, large, close, far = [], [], [], []
    for graph in small_graphs(vertices):
        alpha = independence_number(graph)
        for c in range(2, spins + 2 - graph.number_of_nodes()):
            instance = gap_instance(graph, c, marked_power)
            p, bound = instance.model.marginal(instance.vertex), gap_bound(instance.spins)
            (small if alpha >= c else large).append((p if alpha >= c else 1 - p) / bound)
            (close if alpha >= c else far).append(ising_tv_exact(*instance.pair()))
    return AllHold(
        {
            "α ≥ c: marginal over 2^-N": AtMost(small, Fraction(1)),
            "α < c: its complement over 2^-N": AtMost(large, Fraction(1)),
            "α ≥ c: distance": AtMost(close, Fraction(1, 3)),
            "α < c: distance": AtLeast(far, Fraction(2, 3)),
        },
        sizes={"pairs (G, c)": len(close) + len(far), "vertices at most": vertices},
    )


@claim(
    "total_variation.gap",
    statement=r"""For a graph $G$ on $n$ vertices and $c\ge2$ there is an Ising model on
$N=n+c-1$ spins, with weights of $O(N)$ bits per interaction, and a spin $v$ such that
$P(x_v{=}1)\le2^{-N}$ if $\alpha(G)\ge c$ and $P(x_v{=}1)\ge1-2^{-N}$ if $\alpha(G)\le c-1$.
Tilted down at $v$ by a factor that loses a tenth, it is at distance at most $2^{-N}$ from
itself in the first case and at least $\frac9{10}(1-2^{-N})$ in the second. So telling
$d_{\mathrm{TV}}\le\frac13$ from $d_{\mathrm{TV}}\ge\frac23$ for Ising models that differ in one
field is NP-hard, and no additive error below $\frac16$ and no constant factor can be guaranteed in
polynomial time unless P = NP (NP = RP for randomised algorithms).""",
    source=Source("theorylab", "derived in the chapter; strengthens Theorem 2 of the paper"),
    evidence="exact",
    uses=["total_variation.tilt-identity"],
)
def gap(run: Run) -> Finding:
    return _gap_cases(run, marked_power=3)


@gap.control("the marked vertex weighs no more than the others")
def _(run: Run) -> Finding:
    return _gap_cases(run, marked_power=2)
