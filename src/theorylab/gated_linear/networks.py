r"""Gated deep linear networks: a graph of layers whose nodes and edges are open or shut per sample.

Nodes hold vectors, edges hold matrices, and on each sample every node and edge has a gate of 0 or
1. What a network computes is the sum over its open paths of the product of the matrices along
them (the neural race reduction of Saxe, Sodhani and Lewallen).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Edge = tuple[str, str]
Path = tuple[str, ...]
Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GatedNetwork:
    """Graph, sizes and gates; weights are passed to its methods.

    Parameters
    ----------
    sizes : mapping of str to int
        Width of every node.
    edges : sequence of (str, str)
        Tail and head of every edge; no cycles.
    samples : int
        Number N of samples.
    node_gates, edge_gates : mapping
        Boolean arrays of length N; what is not named is always open.

    Raises
    ------
    ValueError
        If the graph has a cycle, an edge ends at an unknown node, or gates have a wrong length.
    """

    sizes: Mapping[str, int]
    edges: Sequence[Edge]
    samples: int
    node_gates: Mapping[str, ArrayLike] = field(default_factory=dict)
    edge_gates: Mapping[Edge, ArrayLike] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [edge for edge in self.edges if not {*edge} <= {*self.sizes}]
        if unknown:
            raise ValueError(f"edges end at unknown nodes: {unknown}; nodes: {list(self.sizes)}")
        if not nx.is_directed_acyclic_graph(self.graph):
            raise ValueError("the graph has a cycle; gated deep linear networks have none")
        strangers = [n for n in self.node_gates if n not in self.sizes]
        strangers += [e for e in self.edge_gates if e not in self.edges]
        if strangers:
            raise ValueError(f"gates for unknown nodes or edges: {strangers}")
        for name, gate in [*self.node_gates.items(), *self.edge_gates.items()]:
            if np.shape(gate) != (self.samples,):
                raise ValueError(
                    f"the gate of {name} must have shape ({self.samples},), got {np.shape(gate)}"
                )

    @property
    def graph(self) -> nx.DiGraph:
        """The graph."""
        made = nx.DiGraph()
        made.add_nodes_from(self.sizes)
        made.add_edges_from(self.edges)
        return made

    @property
    def sources(self) -> list[str]:
        """Nodes without incoming edges: the inputs."""
        return [node for node in self.sizes if self.graph.in_degree(node) == 0]

    @property
    def sinks(self) -> list[str]:
        """Nodes without outgoing edges: the outputs."""
        return [node for node in self.sizes if self.graph.out_degree(node) == 0]

    def node_gate(self, node: str) -> NDArray[np.bool_]:
        """Gate of a node on every sample."""
        return np.asarray(self.node_gates.get(node, np.ones(self.samples))).astype(bool)

    def edge_gate(self, edge: Edge) -> NDArray[np.bool_]:
        """Gate of an edge on every sample."""
        return np.asarray(self.edge_gates.get(edge, np.ones(self.samples))).astype(bool)

    def paths(self) -> list[Path]:
        """All paths from a source to a sink."""
        return [
            tuple(path)
            for source in self.sources
            for sink in self.sinks
            for path in nx.all_simple_paths(self.graph, source, sink)
        ]

    def path_gate(self, path: Path) -> NDArray[np.bool_]:
        """Samples on which every node and edge of a path is open."""
        gate = np.ones(self.samples, dtype=bool)
        for node in path:
            gate &= self.node_gate(node)
        for edge in pairwise(path):
            gate &= self.edge_gate(edge)
        return gate

    def _check_weights(self, weights: Mapping[Edge, Array]) -> None:
        for tail, head in self.edges:
            if (tail, head) not in weights:
                raise ValueError(f"no weight for the edge {(tail, head)}")
            expected, got = (self.sizes[head], self.sizes[tail]), np.shape(weights[tail, head])
            if got != expected:
                raise ValueError(f"the weight of {(tail, head)} needs shape {expected}, got {got}")

    def forward(
        self, weights: Mapping[Edge, Array], inputs: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Activity of every node, shape (size, N); exact for exact weights and inputs."""
        self._check_weights(weights)
        active: dict[str, Array] = {}
        for node in nx.topological_sort(self.graph):
            if node in self.sources:
                total = np.asarray(inputs[node])
            else:
                total = sum(
                    (weights[tail, node] @ active[tail]) * self.edge_gate((tail, node))
                    for tail in self.graph.predecessors(node)
                )
            active[node] = total * self.node_gate(node)
        return active

    def path_product(self, weights: Mapping[Edge, Array], path: Path) -> Array:
        """Product of the matrices along a path."""
        total: Array = np.asarray(weights[path[0], path[1]])
        for edge in pairwise(path[1:]):
            total = weights[edge] @ total
        return total

    def path_forward(
        self, weights: Mapping[Edge, Array], inputs: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Outputs as the sum over open paths; equal to ``forward`` at the sinks."""
        self._check_weights(weights)
        outputs: dict[str, Any] = dict.fromkeys(self.sinks, 0)
        for path in self.paths():
            part = self.path_product(weights, path) @ np.asarray(inputs[path[0]])
            outputs[path[-1]] = outputs[path[-1]] + part * self.path_gate(path)
        return outputs

    def gradient(
        self,
        weights: Mapping[Edge, Array],
        inputs: Mapping[str, Array],
        targets: Mapping[str, Array],
    ) -> dict[Edge, Array]:
        r"""Gradient of :math:`\tfrac12\sum_{\text{sinks}}\|Y-\hat Y\|^2` in every weight."""
        active = self.forward(weights, inputs)
        back: dict[str, Array] = {}
        for node in reversed(list(nx.topological_sort(self.graph))):
            if node in self.sinks:
                total = active[node] - np.asarray(targets[node])
            else:
                total = sum(
                    (weights[node, head].T @ back[head]) * self.edge_gate((node, head))
                    for head in self.graph.successors(node)
                )
            back[node] = total * self.node_gate(node)
        return {
            (tail, head): (back[head] * self.edge_gate((tail, head))) @ active[tail].T
            for tail, head in self.edges
        }

    def input_output_correlation(
        self, path: Path, inputs: Mapping[str, Array], targets: Mapping[str, Array]
    ) -> Array:
        r"""Correlation that drives a path: :math:`\sum_i g_p(i)\,y_i x_i^\top`."""
        gate = self.path_gate(path)
        return (np.asarray(targets[path[-1]]) * gate) @ np.asarray(inputs[path[0]]).T

    def input_correlation(self, path: Path, other: Path, inputs: Mapping[str, Array]) -> Array:
        r"""Correlation by which paths compete: :math:`\sum_i g_p(i)g_q(i)\,x_i x_i'^\top`."""
        gate = self.path_gate(path) & self.path_gate(other)
        return (np.asarray(inputs[other[0]]) * gate) @ np.asarray(inputs[path[0]]).T

    def race(
        self, inputs: Mapping[str, Array], targets: Mapping[str, Array], modes: int | None = None
    ) -> Race:
        r"""The race between paths, mode by mode, of a network whose weights are aligned.

        Path p brings the singular vectors u, v of its own input-output correlation; then
        :math:`S_p = u_p^\top\Sigma_p v_p` and
        :math:`D_{pq} = (u_p^\top u_q)(v_q^\top\Sigma_{pq}v_p)`.

        Modes are matched between paths by their order, which needs distinct singular values.
        """
        paths = self.paths()
        parts = [
            np.linalg.svd(np.asarray(self.input_output_correlation(p, inputs, targets), float))
            for p in paths
        ]
        count = min(len(s) for _, s, _ in parts) if modes is None else modes
        S = np.array([s[:count] for _, s, _ in parts])
        D = np.zeros((len(paths), len(paths), count))
        for a, (u, _, v) in enumerate(parts):
            for b, (other_u, _, other_v) in enumerate(parts):
                if paths[a][-1] != paths[b][-1]:
                    continue
                shared = np.asarray(self.input_correlation(paths[a], paths[b], inputs), float)
                for m in range(count):
                    D[a, b, m] = (u[:, m] @ other_u[:, m]) * (other_v[m] @ shared @ v[m])
        edges = {edge: number for number, edge in enumerate(self.edges)}
        used = tuple(tuple(edges[e] for e in pairwise(p)) for p in paths)
        return Race(S, D, used)


@dataclass(frozen=True)
class Race:
    r"""Scalar dynamics of aligned modes: one strength per edge and mode.

    .. math:: \dot b_e = \sum_{p\ni e}\Big(\prod_{f\in p,f\ne e}b_f\Big)
        \Big(S_p-\sum_q D_{pq}\prod_{f\in q}b_f\Big)

    Parameters
    ----------
    S : array, shape (paths, modes)
    D : array, shape (paths, paths, modes)
    edges : tuple of tuple of int
        Edges of each path.
    """

    S: Floats
    D: Floats
    edges: tuple[tuple[int, ...], ...]

    @property
    def edge_count(self) -> int:
        """Number of edges that some path uses."""
        return 1 + max(max(path) for path in self.edges)

    def strengths(self, b: Floats) -> Floats:
        """Strength of every path, shape (paths, modes), from those of the edges."""
        return np.array([np.prod(b[list(path)], axis=0) for path in self.edges])

    def field(self, b: Floats) -> Floats:
        """Time derivative of the strengths of the edges, shape (edges, modes)."""
        error = self.S - np.einsum("pqm,qm->pm", self.D, self.strengths(b))
        slope = np.zeros_like(b)
        for path, gap in zip(self.edges, error, strict=True):
            for place, edge in enumerate(path):
                others = [f for other, f in enumerate(path) if other != place]
                slope[edge] += np.prod(b[others], axis=0) * gap
        return slope

    def flow(self, start: float, times: ArrayLike) -> Floats:
        """Strength of every path and mode over time, shape (times, paths, modes).

        Parameters
        ----------
        start : float
            Positive strength of every edge at time 0.
        times : array
        """
        if not (np.isfinite(start) and start > 0):
            raise ValueError(f"the start must be positive and finite, got {start}")
        moments = np.asarray(times, dtype=float)
        shape = (self.edge_count, self.S.shape[1])
        found = solve_ivp(
            lambda _, b: self.field(b.reshape(shape)).ravel(),
            (0.0, float(moments.max())),
            np.full(shape, start).ravel(),
            "DOP853",
            moments,
            rtol=1e-9,
            atol=1e-9 * start,
        )
        return np.array([self.strengths(b.reshape(shape)) for b in found.y.T])


def relu_as_gated(
    Ws: Sequence[Array], gates: Sequence[Array]
) -> tuple[GatedNetwork, dict[Edge, Array]]:
    """A ReLU network with frozen gates as a graph with one node per hidden unit.

    Parameters
    ----------
    Ws : list of matrices
    gates : list of arrays, shape (units, N)
        One per hidden layer.

    Returns
    -------
    GatedNetwork, dict
        The network, with nodes ``input``, ``1.0``, ``1.1``, ..., ``output``, and its weights.
    """
    layers = [["input"]]
    layers += [[f"{n + 1}.{unit}" for unit in range(len(g))] for n, g in enumerate(gates)]
    layers.append(["output"])
    sizes = {"input": Ws[0].shape[1], "output": Ws[-1].shape[0]}
    sizes |= {unit: 1 for layer in layers[1:-1] for unit in layer}
    weights: dict[Edge, Array] = {}
    for n, W in enumerate(Ws):
        rows = [slice(None)] if n == len(Ws) - 1 else [slice(u, u + 1) for u in range(len(W))]
        columns = [slice(None)] if n == 0 else [slice(u, u + 1) for u in range(W.shape[1])]
        for tail, column in zip(layers[n], columns, strict=True):
            for head, row in zip(layers[n + 1], rows, strict=True):
                weights[tail, head] = W[row, column]
    node_gates = {
        unit: np.asarray(gate[place])
        for layer, gate in zip(layers[1:-1], gates, strict=True)
        for place, unit in enumerate(layer)
    }
    return GatedNetwork(sizes, list(weights), np.shape(gates[0])[1], node_gates), weights
