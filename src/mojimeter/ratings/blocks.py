"""The restricted likelihood of a variance components model, made cheap by one long facet.

Splits the random terms in two: those nested in the blocks (levels of the longest facet), whose covariance is
block diagonal with few distinct blocks, and the others, which act on the ratings only through the few *cells*
(combinations of the other groupings). All algebra is then done within a block or between cells. Knows integer
codes and numbers; nothing of studies, of what the terms mean, or of how the likelihood is maximised.

The model is ``y = X b + sum_k Z_k u_k + e`` with ``u_k ~ N(0, v_k I)`` and ``e ~ N(0, v_e I)``. With U the incidence
of ratings in cells, B the part of the covariance inside blocks and G the covariance between cells,

    V = B + U G U',    C = U' B^-1 U,    U' V^-1 U = (C^-1 + G)^-1,
    log|V| = log|B| + log|C| + log|C^-1 + G|

(Woodbury and the determinant lemma), so the estimates of the cells are sufficient for everything between blocks.
First and second derivatives are those of Searle, Casella & McCulloch (1992), *Variance Components*, section 6.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mojimeter.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Doubles in one chunk of block patterns: 1.6 MB, so that a chunk stays near the core whatever the size of the table.
_CHUNK = 200_000
# Blocks with ratings in fewer than one in this many cells are handled by their ratings instead of by all cells.
_FEW = 4
# The dense matrices between cells of this side take a gigabyte and a half and minutes: refuse beyond.
_MOST_CELLS = 2_500


@dataclass(frozen=True)
class Likelihood:
    """The criterion at one set of variances, with derivatives if they were asked for.

    Attributes:
        criterion: -2 x restricted log-likelihood, constants included (lme4's REML criterion).
        gradient: its derivatives by the variances, shape (terms + 1,), the residual last.
        expected: expected second derivatives, tr(P V_k P V_l), shape (terms + 1, terms + 1).
        average: y'P V_k P V_l P y; the observed second derivatives are 2 x average - expected.
        beta: estimates of the fixed effects, shape (p,).
        covariance: their covariance, shape (p, p).
        covariance_gradient: its derivatives by the variances, shape (terms + 1, p, p).
    """

    criterion: float
    gradient: Floats
    expected: Floats
    average: Floats
    beta: Floats
    covariance: Floats
    covariance_gradient: Floats

    @property
    def observed(self) -> Floats:
        """Observed second derivatives of the criterion by the variances."""
        return 2.0 * self.average - self.expected


class BlockedModel:
    """Ratings arranged in blocks and cells, ready for the likelihood at any variances.

    Args:
        random: term -> level number of each rating; the residual is implied.
        fixed: factor -> level number of each rating; an intercept is implied.
        scores: shape (n,).

    Attributes:
        terms: names of the random terms in the order of all arrays, "residual" last.
        blocks: name of the term that blocks.
        columns: fixed factor -> its columns of `design_matrix`.
        design_matrix: fixed effects by cell, shape (cells, p): intercept, then one column for every level but
            the first of each factor.

    Raises:
        InputError: there are too many cells for exact algebra.
    """

    def __init__(self, random: Mapping[str, Ints], fixed: Mapping[str, Ints], scores: Floats) -> None:
        self.n = scores.size
        codes = {name: _compact(c) for name, c in random.items()}
        factors = {name: _compact(c) for name, c in fixed.items()}
        self.blocks = _choose_blocks(codes, factors, self.n)
        block = codes[self.blocks] if self.blocks else np.arange(self.n)
        local = [name for name in codes if _nested(codes[name], block)]
        outer = [name for name in codes if name not in local]
        self.terms = (*local, *outer, "residual")
        cell, n_cells = _combine([codes[name] for name in outer] + list(factors.values()), self.n)
        self.m = n_cells
        if n_cells > _MOST_CELLS:
            raise InputError(
                f"{n_cells:,} combinations of {', '.join([*outer, *factors])} are too many for exact REML "
                f"(at most {_MOST_CELLS:,}); expected fewer levels, or the Henderson estimates"
            )
        order = np.lexsort((*(codes[name] for name in local), cell, block))
        self._cell, self._block = cell[order], block[order]
        self._n_blocks = int(self._block.max()) + 1
        self._local, self._widths = _number_within_blocks([codes[t][order] for t in local], self._block)
        self._slices = _slices(self._widths)
        self._width = sum(self._widths)
        self._n_local, self._n_outer = len(local), len(outer)
        first = np.zeros(self.m, dtype=np.int64)
        first[cell] = np.arange(self.n)
        self._outer = [codes[name][first] for name in outer]
        self._same = [(c[:, None] == c[None, :]).astype(np.float64) for c in self._outer]
        self.columns, self.design_matrix = _dummies({name: c[first] for name, c in factors.items()}, self.m)
        self.p = self.design_matrix.shape[1]
        self._set_scores(scores[order])
        if local:
            self._find_patterns()

    def _set_scores(self, y: Floats) -> None:
        """Centre by cell: what is inside blocks and what is between cells are then free of cancellation."""
        count = np.bincount(self._cell, minlength=self.m)
        means = np.bincount(self._cell, y, minlength=self.m) / count
        y = y - means[self._cell]
        rest = np.bincount(self._cell, y, minlength=self.m) / count
        self._y, self._means, self._cell_counts = y - rest[self._cell], means + rest, count.astype(np.float64)

    def _find_patterns(self) -> None:
        """Blocks with the same cells and the same local groupings share one covariance matrix."""
        starts = np.searchsorted(self._block, np.arange(self._n_blocks + 1))
        table = np.column_stack([self._cell, *self._local]).astype(np.int32)
        seen: dict[bytes, int] = {}
        pattern = np.empty(self._n_blocks, dtype=np.int64)
        example: list[int] = []
        for b in range(self._n_blocks):
            key = table[starts[b] : starts[b + 1]].tobytes()
            pattern[b] = seen.setdefault(key, len(seen))
            if len(seen) > len(example):
                example.append(b)
        self._pattern_of_block = pattern
        self._weights = np.bincount(pattern).astype(np.float64)
        sizes = np.diff(starts)[example]
        self._pattern_starts = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.concatenate([np.arange(starts[b], starts[b + 1]) for b in example])
        self._rows_pattern = np.repeat(np.arange(len(example)), sizes)
        self._rows_cell = self._cell[rows]
        self._rows_local = [c[rows] for c in self._local]
        key = self._rows_pattern * self.m + self._rows_cell
        self._replicated = bool((np.diff(np.sort(key)) == 0).any())
        self._rows_target = key
        most = int(sizes.max())
        self._most = most if most * _FEW <= self.m else None
        self._rows_source = [self._rows_pattern * self._width + c for c in self._rows_local]
        self._cross = self._cross_products()

    @property
    def chunk_size(self) -> int:
        """Patterns handled at a time: a chunk is as large as a matrix between cells, or stays near the core."""
        each = self.m * self._width if self._most is None else self._most * max(self._most, self._width)
        return max(1, max(_CHUNK, self.m**2) // max(1, each))

    def rows_of(self, part: slice) -> _Rows:
        """Rows of some patterns."""
        starts = self._pattern_starts
        ratings = slice(int(starts[part.start]), int(starts[part.stop]))
        if self._most is None:
            target = self._rows_target[ratings] - part.start * self.m
            return _Rows(self.m, self.m, ratings, target, self._replicated, None)
        pattern = self._rows_pattern[ratings]
        target = (pattern - part.start) * self._most + np.arange(ratings.start, ratings.stop) - starts[pattern]
        cell = np.zeros((part.stop - part.start) * self._most, dtype=np.int64)
        cell[target] = self._rows_cell[ratings]
        return _Rows(self.m, self._most, ratings, target, False, cell.reshape(-1, self._most))

    def _cross_products(self) -> Floats:
        """Z'Z of every pattern, shape (patterns, width, width)."""
        w, n = self._width, self._weights.size
        flat = np.zeros(n * w * w)
        base = self._rows_pattern * (w * w)
        for a in self._rows_local:
            for b in self._rows_local:
                flat += np.bincount(base + a * w + b, minlength=flat.size)
        return flat.reshape(n, w, w)

    def evaluate(self, variances: Floats, derivatives: bool = True) -> Likelihood:
        """The likelihood at some variances.

        Args:
            variances: shape (terms + 1,), in the order of `terms`; the residual's is positive, others may be zero.
            derivatives: whether to fill anything but the criterion.
        """
        inside = _Inside(self, variances, derivatives)
        sigma = inside.c_inverse + sum(
            (v * same for v, same in zip(variances[self._n_local : -1], self._same, strict=True)),
            start=np.zeros((self.m, self.m)),
        )
        t, log_sigma = _invert(sigma)
        x = self.design_matrix
        tx = t @ x
        covariance, log_information = _invert(x.T @ tx)
        q = t - tx @ covariance @ tx.T
        within = inside.solve(self._y)
        c0 = self._to_cells(within)
        estimates = self._means + inside.c_inverse @ c0
        r = q @ estimates
        quadratic = float(self._y @ within - c0 @ (inside.c_inverse @ c0) + estimates @ r)
        criterion = (
            inside.log_b
            + inside.log_c
            + log_sigma
            + log_information
            + quadratic
            + (self.n - self.p) * np.log(2 * np.pi)
        )
        beta = covariance @ (tx.T @ estimates)
        if not derivatives:
            none = np.empty(0)
            return Likelihood(float(criterion), none, none, none, beta, covariance, none)
        traces, expected = self._traces(inside, q, variances)
        py = inside.solve(self._y - (inside.c_inverse @ (c0 - r))[self._cell])
        work = self._work_vectors(py)
        squares = np.array([py @ f for f in work])
        return Likelihood(
            float(criterion),
            traces - squares,
            expected,
            self._average(work, squares, inside, q, variances),
            beta,
            covariance,
            self._covariance_gradient(inside, t, covariance, variances),
        )

    @property
    def cross_products(self) -> Floats:
        """X'X of the fixed effects, shape (p, p)."""
        x = self.design_matrix
        products: Floats = x.T @ (self._cell_counts[:, None] * x)
        return products

    def _to_cells(self, v: Floats) -> Floats:
        return _sums(self._cell, v, self.m)

    def _average(self, work: list[Floats], squares: Floats, inside: _Inside, q: Floats, variances: Floats) -> Floats:
        """f_k'P f_l of the work vectors, with P = B^-1 - B^-1 U N U'B^-1; the residual's follow since P V P = P."""
        n_matrix = inside.c_inverse - inside.c_inverse @ q @ inside.c_inverse
        solved = [inside.solve(f) for f in work[:-1]]
        cells = np.array([self._to_cells(f) for f in solved]).reshape(len(solved), self.m)
        k = len(solved)
        out = np.zeros((k + 1, k + 1))
        out[:k, :k] = np.array([[f @ g for g in solved] for f in work[:-1]]).reshape(k, k) - cells @ n_matrix @ cells.T
        out[:k, k] = out[k, :k] = (squares[:-1] - out[:k, :k] @ variances[:-1]) / variances[-1]
        out[k, k] = (squares[-1] - out[k, :k] @ variances[:-1]) / variances[-1]
        symmetric: Floats = (out + out.T) / 2
        return symmetric

    def _work_vectors(self, py: Floats) -> list[Floats]:
        """V_k P y for every term and the residual."""
        out = []
        for codes in self._local:
            level = self._block * self._width + codes
            out.append(np.bincount(level, py, minlength=self._n_blocks * self._width)[level])
        cells = self._to_cells(py)
        for codes in self._outer:
            out.append(np.bincount(codes, cells)[codes][self._cell])
        return [*out, py]

    def _traces(self, inside: _Inside, q: Floats, variances: Floats) -> tuple[Floats, Floats]:
        """tr(P V_k) and tr(P V_k P V_l); those of the residual follow since P V P = P."""
        nl, k = self._n_local, self._n_local + self._n_outer
        ci = inside.c_inverse
        n_matrix = ci - ci @ q @ ci
        traces, expected = np.zeros(k + 1), np.zeros((k + 1, k + 1))
        nd = [n_matrix @ d for d in inside.d]
        for i in range(nl):
            traces[i] = inside.own_trace[i] - np.trace(nd[i])
        for i, j in combinations_with_replacement(range(nl), 2):
            cross = 2.0 * np.vdot(n_matrix, inside.e[i, j])
            expected[i, j] = inside.own_square[i, j] - cross + np.vdot(nd[i], nd[j].T)
        qc = q @ ci
        spread = [qc @ d @ qc.T for d in inside.d]
        for a in range(self._n_outer):
            codes = self._outer[a]
            traces[nl + a] = np.vdot(q, self._same[a])
            for i in range(nl):
                expected[i, nl + a] = np.vdot(spread[i], self._same[a])
            for b in range(a, self._n_outer):
                expected[nl + a, nl + b] = np.square(_group_sums(q, codes, self._outer[b])).sum()
        expected = expected + np.triu(expected, 1).T
        residual = variances[-1]
        v = variances[:-1]
        traces[-1] = (self.n - self.p - v @ traces[:-1]) / residual
        expected[:-1, -1] = (traces[:-1] - expected[:-1, :-1] @ v) / residual
        expected[-1, :-1] = expected[:-1, -1]
        expected[-1, -1] = (traces[-1] - expected[-1, :-1] @ v) / residual
        return traces, expected

    def _covariance_gradient(self, inside: _Inside, t: Floats, covariance: Floats, variances: Floats) -> Floats:
        """Derivatives of (X'V^-1 X)^-1; that of the residual follows since it is homogeneous in the variances."""
        tx = t @ self.design_matrix @ covariance
        local = inside.c_inverse @ tx
        out = [local.T @ d @ local for d in inside.d]
        for codes in self._outer:
            sums = np.zeros((int(codes.max()) + 1, self.p))
            np.add.at(sums, codes, tx)
            out.append(sums.T @ sums)
        done = sum((v * g for v, g in zip(variances[:-1], out, strict=True)), start=np.zeros_like(covariance))
        return np.array([*out, (covariance - done) / variances[-1]])


@dataclass(frozen=True)
class _Rows:
    """Where the ratings of some patterns stand in tables of shape (patterns, height, ...).

    Where blocks fill much of the cells, every cell has a row (height = cells) and sums over patterns are one matrix
    product; where they fill few (crowd work), rows are the block's own ratings, and `cell` says which cell each is.

    Attributes:
        cells: number of cells.
        height: rows of a pattern.
        ratings: which of the patterns' ratings these are.
        target: row of each rating, counted over patterns.
        repeated: whether ratings can share a row.
        cell: cell of each row, shape (patterns, height); None where row and cell are the same.
    """

    cells: int
    height: int
    ratings: slice
    target: Ints
    repeated: bool
    cell: Ints | None

    def products(self, a: Floats, b: Floats) -> Floats:
        """Sum over patterns of a b', as a matrix between cells."""
        if self.cell is None:
            return np.asarray(_side_by_side(a) @ _side_by_side(b).T)
        place = self.cell[:, :, None] * self.cells + self.cell[:, None, :]
        each = np.matmul(a, b.transpose(0, 2, 1))
        return _sums(place.ravel(), each.ravel(), self.cells**2).reshape(self.cells, self.cells)


class _Inside:
    """The block-diagonal part of the covariance at some variances.

    With S = Z'B^-1 Z and F = U'B^-1 Z of a block, sums run over blocks: d[k] = sum F_k F_k',
    e[k, l] = sum F_k S_kl F_l', own_trace[k] = sum tr S_kk, own_square[k, l] = sum |S_kl|^2.
    """

    def __init__(self, model: BlockedModel, variances: Floats, derivatives: bool) -> None:
        self.model = model
        self.residual = float(variances[-1])
        self.ratios = np.repeat(variances[: model._n_local] / self.residual, model._widths)
        self.woodbury = np.zeros_like(model._cross) if model._local else np.empty((0, 0, 0))
        self.log_b = model.n * np.log(self.residual)
        c = np.diag(model._cell_counts)
        k = model._n_local
        self.d = [np.zeros((model.m, model.m)) for _ in range(k)]
        self.e = {pair: np.zeros((model.m, model.m)) for pair in combinations_with_replacement(range(k), 2)}
        self.own_trace, self.own_square = np.zeros(k), np.zeros((k, k))
        n, size = self.woodbury.shape[0], model.chunk_size if k else 1
        for start in range(0, n, size):
            c -= self._add_chunk(slice(start, min(start + size, n)), derivatives)
        self.c_inverse, self.log_c = _invert(c / self.residual)

    def _add_chunk(self, part: slice, derivatives: bool) -> Floats:
        """Add some patterns to all sums; gives their part of C."""
        model = self.model
        cross, weights = model._cross[part], model._weights[part]
        root = np.sqrt(self.ratios)
        eye = np.eye(model._width)
        factor = np.linalg.cholesky(eye + root[:, None] * cross * root)
        self.log_b += 2.0 * float(weights @ np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1))
        half = root[:, None] * np.linalg.inv(factor).transpose(0, 2, 1)
        self.woodbury[part] = half @ half.transpose(0, 2, 1)
        scale = np.sqrt(weights)[:, None, None]
        rows = model.rows_of(part)
        f = self._spread(half, part, rows) * scale
        out = rows.products(f, f)
        if derivatives:
            inner = (eye - self.woodbury[part] @ cross) / self.residual
            self._add_derivatives(self._spread(inner, part, rows) * scale, cross @ inner, weights, rows)
        return out

    def _spread(self, table: Floats, part: slice, rows: _Rows) -> Floats:
        """U'Z times a matrix of each pattern: shape (patterns, rows, width)."""
        model = self.model
        w = model._width
        flat = np.ascontiguousarray(table).reshape(-1, w)
        first, *rest = (source[rows.ratings] - part.start * w for source in model._rows_source)
        gathered = flat.take(first, axis=0)
        for source in rest:
            gathered += flat.take(source, axis=0)
        out = np.zeros(((part.stop - part.start) * rows.height, w))
        if rows.repeated:
            np.add.at(out, rows.target, gathered)
        else:
            out[rows.target] = gathered
        return out.reshape(-1, rows.height, w)

    def _add_derivatives(self, f: Floats, s: Floats, weights: Floats, rows: _Rows) -> None:
        slices = self.model._slices
        parts = [np.ascontiguousarray(f[:, :, sl]) for sl in slices]
        for i, j in self.e:
            own = s[:, slices[i], slices[j]]
            if i == j:
                self.d[i] += rows.products(parts[i], parts[i])
                self.own_trace[i] += float(weights @ np.trace(own, axis1=1, axis2=2))
            self.own_square[i, j] += float(weights @ np.square(own).sum(axis=(1, 2)))
            if own.shape[2] <= own.shape[1]:
                self.e[i, j] += rows.products(parts[i] @ own, parts[j])
            else:
                self.e[i, j] += rows.products(parts[i], parts[j] @ own.transpose(0, 2, 1))

    def solve(self, v: Floats) -> Floats:
        """B^-1 v."""
        model = self.model
        if not model._local:
            return v / self.residual
        w = model._width
        size = model._n_blocks * w
        levels = [model._block * w + c for c in model._local]
        sums = np.zeros(size)
        for level in levels:
            sums += np.bincount(level, v, minlength=size)
        shrunk = self._shrink(sums.reshape(model._n_blocks, w)).ravel()
        out = v.copy()
        for level in levels:
            out -= shrunk[level]
        return out / self.residual

    def _shrink(self, sums: Floats) -> Floats:
        pattern = self.model._pattern_of_block
        if self.woodbury.shape[0] == 1:
            out: Floats = sums @ self.woodbury[0]
            return out
        if self.woodbury.shape[0] == sums.shape[0]:
            # every block a pattern of its own, numbered as the blocks are
            out = np.matmul(self.woodbury, sums[:, :, None])[:, :, 0]
            return out
        out = np.empty_like(sums)
        size = max(1, _CHUNK // self.model._width**2)
        for start in range(0, sums.shape[0], size):
            part = slice(start, start + size)
            out[part] = np.matmul(self.woodbury[pattern[part]], sums[part, :, None])[:, :, 0]
        return out


def _sums(groups: Ints, values: Floats, n: int) -> Floats:
    """Sum of the values of each of n groups."""
    return np.bincount(groups, values, minlength=n).astype(np.float64, copy=False)


def _side_by_side(table: Floats) -> Floats:
    """(patterns, cells, width) as (cells, patterns x width)."""
    return table.transpose(1, 0, 2).reshape(table.shape[1], -1)


def _invert(matrix: Floats) -> tuple[Floats, float]:
    """Inverse and log determinant of a positive definite matrix.

    Raises:
        numpy.linalg.LinAlgError: it is not positive definite.
    """
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())
    inverse, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse)
    return lower + np.tril(lower, -1).T, log_determinant


def _group_sums(matrix: Floats, rows: Ints, columns: Ints) -> Floats:
    """Sums of a square matrix over groups of its rows and of its columns."""
    by_row = _sum_rows(matrix, rows)
    return _sum_rows(np.ascontiguousarray(by_row.T), columns).T


def _sum_rows(matrix: Floats, groups: Ints) -> Floats:
    n = int(groups.max()) + 1
    if n == matrix.shape[0]:
        return matrix[np.argsort(groups)]
    indicator = np.zeros((n, matrix.shape[0]))
    indicator[groups, np.arange(matrix.shape[0])] = 1.0
    out: Floats = indicator @ matrix
    return out


def _compact(codes: Ints) -> Ints:
    """Level numbers without gaps."""
    codes = np.asarray(codes, dtype=np.int64)
    top = int(codes.max()) + 1
    if top <= 8 * codes.size + 1024:
        used = np.zeros(top, dtype=bool)
        used[codes] = True
        return (np.cumsum(used) - 1)[codes]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _combine(codes: Sequence[Ints], n: int) -> tuple[Ints, int]:
    """One compact number per combination of levels."""
    out = np.zeros(n, dtype=np.int64)
    for c in codes:
        out = _compact(out * (int(c.max()) + 1) + c)
    return out, int(out.max()) + 1


def _nested(inner: Ints, outer: Ints) -> bool:
    """Whether every level of `inner` lies in one level of `outer`."""
    first = np.empty(int(inner.max()) + 1, dtype=np.int64)
    first[inner] = outer
    return bool((first[inner] == outer).all())


def _choose_blocks(codes: Mapping[str, Ints], factors: Mapping[str, Ints], n: int) -> str | None:
    """The term whose levels are the blocks: the one that leaves the cheapest algebra."""
    best, best_cost = None, float("inf")
    for name, block in codes.items():
        outer = [c for c in codes.values() if not _nested(c, block)]
        _, cells = _combine([*outer, *factors.values()], n)
        width = sum((int(c.max()) + 1) / (int(block.max()) + 1) for c in codes.values() if _nested(c, block))
        cost = float(cells) ** 3 + float(cells) ** 2 * width * (int(block.max()) + 1)
        if cost < best_cost:
            best, best_cost = name, cost
    return best


def _number_within_blocks(codes: Sequence[Ints], block: Ints) -> tuple[list[Ints], list[int]]:
    """Column of each rating among the levels of its block, per term in order of first appearance.

    Columns of later terms follow those of earlier ones; also gives the number of columns of each term.
    """
    out, widths, offset = [], [], 0
    for c in codes:
        levels, first, inverse = np.unique(c, return_index=True, return_inverse=True)
        order = np.argsort(first)
        of_block = block[first[order]]
        starts = np.searchsorted(of_block, of_block)
        number = np.empty(levels.size, dtype=np.int64)
        number[order] = np.arange(levels.size) - starts
        width = int(number.max()) + 1
        out.append(number[inverse] + offset)
        widths.append(width)
        offset += width
    return out, widths


def _slices(widths: Sequence[int]) -> list[slice]:
    ends = np.cumsum(widths).tolist()
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]


def _dummies(factors: Mapping[str, Ints], cells: int) -> tuple[dict[str, slice], Floats]:
    columns: dict[str, slice] = {}
    parts = [np.ones((cells, 1))]
    width = 1
    for name, codes in factors.items():
        n = int(codes.max()) + 1
        parts.append((codes[:, None] == np.arange(1, n)).astype(np.float64))
        columns[name] = slice(width, width + n - 1)
        width += n - 1
    return columns, np.hstack(parts)
