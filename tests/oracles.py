"""The paper's formulas in slow, plain NumPy: the reference of every fast path.

Nothing here imports the package. Matrices are dense and n x n; problems are explicit.
"""

from __future__ import annotations

import numpy as np


def standardise(x):
    """Zero mean and unit standard deviation; the mean is taken twice against cancellation."""
    x = x / (np.abs(x).max() or 1.0)  # squares of very small or large numbers leave the doubles
    x = x - x.mean()
    x = x - x.mean()
    return x / np.sqrt(np.mean(x * x))


def standardised(X):
    """The table (n, d) with standardised columns."""
    return np.array([standardise(x) for x in np.asarray(X, dtype=float).T]).T


def gaussian_gram(x, width=1.0):
    """K_ij = exp(-(x_i - x_j)^2 / (2 width^2)) of the standardised column (section 2.3)."""
    z = standardise(np.asarray(x, dtype=float))
    return np.exp(-((z[:, None] - z[None, :]) ** 2) / (2 * width**2))


def delta_gram(y):
    """L_ij = 1/n_y if y_i = y_j = y, else 0 (section 2.3)."""
    y = np.asarray(y)
    same = y[:, None] == y[None, :]
    return same / same.sum(axis=1)


def centre(K):
    """Gamma K Gamma with Gamma = I - 11'/n (section 2.1)."""
    n = len(K)
    gamma = np.eye(n) - np.ones((n, n)) / n
    return gamma @ K @ gamma


def centre_by_means(K):
    """K - 1m' - m1' + s11' with m = K1/n and s = 1'K1/n^2 (section 2.4)."""
    n = len(K)
    m = K @ np.ones(n) / n
    s = np.ones(n) @ K @ np.ones(n) / n**2
    return K - m[None, :] - m[:, None] + s


def hsic(K, L):
    """tr(K L) of centred Gram matrices (section 2.2)."""
    return np.trace(K @ L)


def nocco_matrix(K, epsilon):
    """K (K + epsilon n I)^-1 of a centred Gram matrix (section 2.5)."""
    n = len(K)
    return K @ np.linalg.inv(K + epsilon * n * np.eye(n))


def measure_matrix(gram, measure, epsilon=1e-3):
    """The matrix A whose inner products are the measure: HSIC, normalised HSIC or NOCCO."""
    K = centre(gram)
    if measure == "nocco":
        return nocco_matrix(K, epsilon)
    return K / np.linalg.norm(K) if measure == "nhsic" else K


def objective(A, T, weights, alpha):
    """1/2 ||T - sum_k a_k A_k||_F^2 + alpha ||a||_1 (equation of section 2.1)."""
    residual = T - np.tensordot(weights, A, axes=1)
    return 0.5 * np.sum(residual**2) + alpha * np.sum(np.abs(weights))


def expanded_objective(A, T, weights):
    """The smooth part written with HSICs (section 2.2)."""
    return 0.5 * hsic(T, T) + alignment_objective(A, T, weights)


def half_vec(M):
    """Upper triangle as a vector whose inner products are those of the symmetric matrices."""
    rows, cols = np.triu_indices(len(M))
    return M[rows, cols] * np.where(rows == cols, 1.0, np.sqrt(2.0))


def explicit_problem(X, y, measure="hsic", *, classes=False, epsilon=1e-3):
    """The lasso with n^2 rows: design (n(n+1)/2, d) and target vector (section 2.4)."""
    columns = []
    for x in np.asarray(X, dtype=float).T:
        if np.ptp(x) == 0:
            columns.append(np.zeros(len(x) * (len(x) + 1) // 2))
        else:
            columns.append(half_vec(measure_matrix(gaussian_gram(x), measure, epsilon)))
    L = delta_gram(y) if classes else gaussian_gram(y)
    return np.array(columns).T, half_vec(measure_matrix(L, measure, epsilon))


def dense_path(design, target, n_features):
    """Textbook non-negative LARS on the explicit problem, one event at a time.

    Returns the active features, their weights and the penalty at the end of the first segment
    with `n_features` of them (its middle if it ends with a drop). Columns that depend linearly
    on active ones are passed over.
    """
    linear = design.T @ target
    scale = alpha = linear.max()
    active, weights, dependent = [], np.zeros(0), set()
    for _ in range(100 * n_features):
        chosen = design[:, active]
        correlation = linear - design.T @ (chosen @ weights)
        direction = np.linalg.solve(chosen.T @ chosen, np.ones(len(active)))
        lead = 1 - design.T @ (chosen @ direction)
        lead[[*active, *dependent]] = 0
        tied = np.flatnonzero((correlation >= alpha - 1e-10 * scale) & (lead > 1e-7))
        if tied.size:
            trial = design[:, [*active, tied[0]]]
            if np.linalg.cond(trial / np.linalg.norm(trial, axis=0)) > 1e6:
                dependent.add(tied[0])
            else:
                active, weights = [*active, tied[0]], np.append(weights, 0.0)
            continue
        rising = np.flatnonzero(lead > 1e-7)
        join = np.min((alpha - correlation[rising]) / lead[rising], initial=np.inf)
        falling = np.flatnonzero(direction < 0)
        ends = -weights[falling] / direction[falling]
        drop = ends.min(initial=np.inf)
        step = min(join, drop, alpha)
        enough = len(active) >= n_features
        if enough and drop <= join:
            step = 0.5 * drop
        weights, alpha = weights + step * direction, alpha - step
        if enough or alpha <= 1e-12 * scale:
            return np.array(active), weights, alpha
        if drop <= join:
            gone = falling[ends.argmin()]
            active, weights = active[:gone] + active[gone + 1 :], np.delete(weights, gone)
            dependent.clear()
    raise AssertionError("the textbook path did not end")


def median_nonzero_distance(x):
    """Smallest distance that at least half of the non-zero pairwise distances do not exceed."""
    x = np.asarray(x)
    i, j = np.triu_indices(len(x), 1)
    distances = np.sort(np.abs(x[i] - x[j]))
    distances = distances[distances > 0]
    return distances[(len(distances) + 1) // 2 - 1]


def lookup_gram(x, n_entries=4096):
    """The paper's table: kernel values at n_entries differences, nearest entry (section 2.4)."""
    z = standardise(x)
    reach = np.ptp(z)
    table = np.exp(-(np.linspace(0, reach, n_entries) ** 2) / 2)
    difference = np.abs(z[:, None] - z[None, :])
    return table[np.rint(difference / reach * (n_entries - 1)).astype(int)]


def log_rank_matrix(L, time, event, weights=None):
    """M = V (I - A)' D W L W D (I - A) V, V = W^-1/2, with A_i the average over the risk set."""
    time, event = np.asarray(time), np.asarray(event, dtype=float)
    w = np.ones(len(time)) if weights is None else np.asarray(weights, dtype=float)
    at_risk = w * (time[None, :] >= time[:, None])
    A = at_risk / at_risk.sum(axis=1, keepdims=True)
    centred = np.diag(w * event) @ (np.eye(len(time)) - A) / np.sqrt(w)
    return centred.T @ L @ centred


def martingale_residuals(time, event):
    """Events minus the Nelson-Aalen estimate of the cumulative hazard, event by event."""
    residuals = np.array(event, dtype=float)
    for j, now in enumerate(time):
        for t, happened in zip(time, event, strict=True):
            if happened and t <= now:
                residuals[j] -= 1 / sum(other >= t for other in time)
    return residuals


def normalised_laplacian(adjacency):
    """L = I - D^-1/2 A D^-1/2 without loops; the row of a node without edges is zero."""
    A = np.array(adjacency, dtype=float)
    np.fill_diagonal(A, 0)
    degree = A.sum(axis=1)
    L = np.zeros_like(A)
    for i, j in np.ndindex(A.shape):
        if A[i, j]:
            L[i, j] = -A[i, j] / np.sqrt(degree[i] * degree[j])
    return L + np.diag((degree > 0).astype(float))


def weighted_standardise(x, weights, other=None):
    """Zero weighted mean and unit weighted deviation; zeros for a row that does not vary.

    With `other`, values on the same scale.
    """
    other = x if other is None else other
    if np.ptp(x) == 0:
        return np.zeros(len(other))
    exponent = -np.frexp(np.abs(x).max())[1]  # squares neither overflow nor vanish
    x, other = np.ldexp(x, exponent), np.ldexp(other, exponent)
    for _ in range(2):  # twice against cancellation
        mean = np.average(x, weights=weights)
        x, other = x - mean, other - mean
    return other / np.sqrt(np.average(x * x, weights=weights))


def weighted_median(distances, pair_weights):
    """Median of the non-zero distances by weight: the least that half of the weight reaches."""
    pairs = np.triu_indices(len(distances), 1)
    order = np.argsort(distances[pairs])
    values, shares = distances[pairs][order], pair_weights[pairs][order]
    values, shares = values[values > 0], shares[values > 0]
    return values[np.argmax(np.cumsum(shares) >= 0.5 * np.sum(shares) * (1 - 1e-12))]


#: By the name of a kernel's class: what its formula is of, the formula, and parameters to try.
KERNELS = {}


def kernel_formula(of, *variants):
    """Add the formula of a kernel, named like its class.

    `of` says what it gets beside the kernel object: the "distance" of two samples in units of the
    width, or their "product". Every test of kernels is run with the default parameters, and with
    each of `variants`.
    """

    def add(function):
        KERNELS[function.__name__] = (of, function, variants)
        return function

    return add


@kernel_formula(
    "distance",
    {"width": 0.3},
    {"width": "median"},
    {"width": (0.5, 1.0, 2.0)},
    {"width": (0.5, "median"), "expansion": "cholesky"},
    {"expansion": "table"},
    {"expansion": "cholesky"},
)
def Gaussian(kernel, d):  # noqa: N802
    return np.exp(-(d**2) / 2)


@kernel_formula("distance", {"width": 2.0}, {"width": "median"})
def Laplace(kernel, d):  # noqa: N802
    return np.exp(-d)


@kernel_formula("distance", {"width": 0.5}, {"width": "median"})
def Cauchy(kernel, d):  # noqa: N802
    return 1 / (1 + d**2)


@kernel_formula("distance", {"nu": 2.5}, {"width": "median"}, {"nu": 2.5, "width": 0.5})
def Matern(kernel, d):  # noqa: N802
    r = np.sqrt(2 * kernel.nu) * d
    return {1.5: 1 + r, 2.5: 1 + r + r**2 / 3}[kernel.nu] * np.exp(-r)


@kernel_formula("product")
def Linear(kernel, p):  # noqa: N802
    return p


@kernel_formula("product", {"degree": 3, "offset": 0.0}, {"degree": 5, "offset": 0.3})
def Polynomial(kernel, p):  # noqa: N802
    return (p + kernel.offset) ** kernel.degree


@kernel_formula("equality", {"by_count": False})
def Delta(kernel, same):  # noqa: N802
    return same.astype(float)


def kernel_between(new, old, kernel, weights=None):
    """The kernel of samples (q, m) with those (q, n) from which it learns scales and widths.

    Each entry is standardised with the weights; squared distances and products of vectors are
    means over the entries; the delta kernel compares whole vectors, and divides by their number.
    """
    new, old = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (new, old))
    w = np.ones(old.shape[1]) if weights is None else weights
    of, formula, _ = KERNELS[type(kernel).__name__]
    if of == "equality":
        same = np.all(new[:, :, None] == old[:, None, :], axis=0)
        sizes = same @ w if kernel.by_count else np.ones(len(same))
        return formula(kernel, same) / np.where(sizes > 0, sizes, 1.0)[:, None]
    y = np.array([weighted_standardise(x, w) for x in old])
    z = np.array([weighted_standardise(x, w, u) for x, u in zip(old, new, strict=True)])
    if of == "product":
        return formula(kernel, np.mean(z[:, :, None] * y[:, None, :], axis=0))
    distances = _distances(z, y)
    widths = kernel.width if isinstance(kernel.width, tuple | list) else [kernel.width]
    if "median" in widths:
        median = weighted_median(_distances(y, y), np.outer(w, w))
        widths = [median if width == "median" else width for width in widths]
    return np.mean([formula(kernel, distances / width) for width in widths], axis=0)


def _distances(z, y):
    return np.sqrt(np.mean((z[:, :, None] - y[:, None, :]) ** 2, axis=0))


def kernel_gram(vectors, kernel, weights=None):
    """Gram matrix of the columns of (q, n), or of (n,), under a kernel object."""
    return kernel_between(vectors, vectors, kernel, weights)


def projector(weights, covariates=None):
    """P: removes the span of sqrt(w) and of sqrt(w) times each covariate, the rows of (c, n)."""
    root = np.sqrt(weights)
    columns = [root] if covariates is None else [root, *(root * covariates)]
    basis = np.array([c / (np.linalg.norm(c) or 1.0) for c in columns]).T
    return np.eye(len(root)) - basis @ np.linalg.pinv(basis, rcond=1e-9)


def projected(K, weights=None, covariates=None):
    """P W^1/2 K W^1/2 P."""
    w = np.ones(len(K)) if weights is None else weights
    P, root = projector(w, covariates), np.sqrt(w)
    return P @ (root[:, None] * K * root) @ P


def projected_measure(K, measure, weights=None, covariates=None, epsilon=1e-3):
    """The matrix of a measure on weighted samples; NOCCO's ridge is epsilon times their weight.

    If the covariates explain the whole matrix, only rounding errors are left; they count as zero.
    """
    total = len(K) if weights is None else np.sum(weights)
    A = projected(K, weights, covariates)
    if np.linalg.norm(A) <= 1e-12 * total * np.abs(K).max(initial=0.0):
        return np.zeros_like(A)
    if measure == "nocco":
        return A @ np.linalg.inv(A + epsilon * total * np.eye(len(A)))
    return A / np.linalg.norm(A) if measure == "nhsic" else A


def feature_matrix(vectors, kernel, measure, weights=None, covariates=None, epsilon=1e-3):
    """The matrix of a feature, (n,) or (q, n): that of the samples without NaN, zero elsewhere.

    With q the observed share of weight it is restored by 1/q for HSIC: to the norm without NaN.
    """
    vectors = np.atleast_2d(np.asarray(vectors, dtype=float))
    seen = ~np.isnan(vectors).any(axis=0)
    w = np.ones(len(seen)) if weights is None else np.asarray(weights)
    out = np.zeros((len(seen), len(seen)))
    if not (np.ptp(vectors[:, seen], axis=1) > 0).any():
        return out
    some = None if covariates is None else covariates[:, seen]
    share = w[seen].sum() / w.sum()
    K = kernel_gram(vectors[:, seen], kernel, w[seen])
    if getattr(kernel, "by_count", False):
        K = K * share  # 1/n_x, were no value missing
    A = projected_measure(K, measure, w[seen], some, epsilon)
    out[np.ix_(seen, seen)] = A / (share if measure == "hsic" else 1.0)
    return out


def weighted_centre(K, weights):
    """K less the products with the weighted mean of the map."""
    C = np.eye(len(K)) - np.outer(np.ones(len(K)), weights) / np.sum(weights)
    return C @ K @ C.T


def interaction_gram(members, kernels, weights=None):
    """Product of the members' centred Gram matrices, and the samples on which all are observed.

    A member, (n,) or (q, n) with NaN, is scaled and centred on its own samples.
    """
    gram, together = 1.0, True
    for vectors, kernel in zip(members, kernels, strict=True):
        vectors = np.atleast_2d(np.asarray(vectors, dtype=float))
        seen = ~np.isnan(vectors).any(axis=0)
        w = np.ones(len(seen)) if weights is None else np.asarray(weights)
        own = np.zeros((len(seen), len(seen)))
        if (np.ptp(vectors[:, seen], axis=1) > 0).any():
            K = kernel_gram(vectors[:, seen], kernel, w[seen])
            if getattr(kernel, "by_count", False):
                K = K * w[seen].sum() / w.sum()
            own[np.ix_(seen, seen)] = weighted_centre(K, w[seen])
        gram, together = gram * own, together & seen
    return gram, together


def interaction_matrix(members, kernels, measure, weights=None, covariates=None, epsilon=1e-3):
    """The matrix of an interaction: that of the product of its members' centred matrices.

    It is that of the samples on which all members are observed, restored as that of a feature.
    """
    gram, seen = interaction_gram(members, kernels, weights)
    w = np.ones(len(seen)) if weights is None else np.asarray(weights)
    some = None if covariates is None else covariates[:, seen]
    out = np.zeros((len(seen), len(seen)))
    if gram.any():
        A = projected_measure(gram[np.ix_(seen, seen)], measure, w[seen], some, epsilon)
        share = w[seen].sum() / w.sum()
        out[np.ix_(seen, seen)] = A / (share if measure == "hsic" else 1.0)
    return out


def without(T, C):
    """T less its least-squares share of C."""
    return T - np.sum(T * C) / np.sum(C * C) * C


def covariate_functions(values, weights=None, *, labels=False):
    """Functions (m, n) of one covariate that are removed from features and target.

    For labels, their indicators. For numbers, the eigenvectors of the weighted and centred Gaussian
    Gram matrix whose eigenvalues are at least a thousandth of the weight, as functions of samples.
    """
    values = np.asarray(values)
    if labels:
        return (values == np.unique(values)[:, None]).astype(float)
    w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    z = weighted_standardise(values.astype(float), w)
    K = np.exp(-((z[:, None] - z[None, :]) ** 2) / 2)
    eigenvalues, vectors = np.linalg.eigh(projected(K, w))
    return vectors[:, eigenvalues >= 1e-3 * w.sum()].T / np.sqrt(w)


# ------------------------------------------------------------------------------ The other methods


def lasso_objective(X, y, weights, alpha):
    """1/2 ||y - X a||^2 + alpha ||a||_1 of the table (n, d) (section 1.2).

    With the Gram matrix of the samples for X it is the instance-wise lasso (section 1.3).
    """
    return 0.5 * np.sum((y - X @ weights) ** 2) + alpha * np.sum(np.abs(weights))


def quadratic_objective(D, d, weights, alpha=0.0):
    """1/2 a'Da - d'a + alpha ||a||_1: the feature-wise lasso by inner products (section 1.4)."""
    return 0.5 * weights @ D @ weights - d @ weights + alpha * np.sum(np.abs(weights))


def fvm_objective(D, weights):
    """1/2 a'Da, which the feature vector machine minimises (section 1.4)."""
    return 0.5 * weights @ D @ weights


def fvm_violation(D, d, weights, alpha):
    """Excess of the largest |a'd_k - D(u_k, y)| over alpha / 2: <= 0 is feasible (section 1.4)."""
    return max(abs(weights @ column - own) for column, own in zip(D.T, d, strict=True)) - alpha / 2


def alignment(K, L):
    """tr(K L) / (||K||_F ||L||_F): kernel target alignment, centred or not (section 2.2)."""
    return hsic(K, L) / (np.linalg.norm(K) * np.linalg.norm(L))


def alignment_objective(K, L, weights):
    """1/2 sum_kl a_k a_l tr(K_k K_l) - sum_k a_k tr(K_k L): cKTA of centred ones (section 2.7)."""
    gram = np.array([[hsic(a, b) for b in K] for a in K])
    linear = np.array([hsic(a, L) for a in K])
    return quadratic_objective(gram, linear, weights)


def mutual_information(a, b):
    """sum p(a, b) log [p(a, b) / (p(a) p(b))] over the states that samples are in (section 3.1)."""
    a, b = np.asarray(a), np.asarray(b)
    total = 0.0
    for value in np.unique(a):
        for other in np.unique(b):
            both = np.mean((a == value) & (b == other))
            if both > 0:
                total += both * np.log(both / (np.mean(a == value) * np.mean(b == other)))
    return total


def parzen_information(K, L):
    """Mean log of p(u, v) / (p(u) p(v)) over the samples (section 3.1).

    The Parzen window estimate of a density is the mean of windows K_ij, L_ij or K_ij L_ij over j.
    """
    joint, first, second = (K * L).mean(axis=1), K.mean(axis=1), L.mean(axis=1)
    return np.mean(np.log(joint / (first * second)))


def mrmr(relevance, redundancy, chosen):
    """1/m sum_k MI(v_k, y) - 1/m^2 sum_kl MI(v_k, v_l) of m chosen features (section 3.1)."""
    m = len(chosen)
    pairs = sum(redundancy[k, other] for k in chosen for other in chosen)
    return sum(relevance[k] for k in chosen) / m - pairs / m**2


def joint_gram(V, width):
    """M_ij = exp(-||v_i - v_j||^2 / (2 width^2)) of the rows of (n, m) (section 3.2)."""
    return np.exp(-np.sum((V[:, None] - V[None]) ** 2, axis=2) / (2 * width**2))


def biased_hsic(M, L):
    """The greedy criterion tr(M L) of the centred matrices (section 3.2), over (n - 1)^2."""
    return hsic(centre(M), centre(L)) / (len(M) - 1) ** 2


def unbiased_hsic(M, L):
    """The same without bias: the U-statistic of Song et al. (2012), equation 5."""
    n = len(M)
    M, L = M - np.diag(np.diag(M)), L - np.diag(np.diag(L))
    one = np.ones(n)
    means = (one @ M @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    mixed = 2 / (n - 2) * (one @ M @ L @ one)
    return (np.trace(M @ L) + means - mixed) / (n * (n - 3))


def mean_of_nearest(Z, L, k):
    """T of Huang, Deb and Sen (2022): the mean of L over the k nearest neighbours in (n, m).

    Ties are broken in all ways: those as far as the last neighbour share the places left.
    """
    total = 0.0
    for i in range(len(Z)):
        others = np.delete(np.arange(len(Z)), i)
        distances = np.sum((Z[others] - Z[i]) ** 2, axis=1)
        reach = np.sort(distances)[k - 1]
        tied = np.abs(distances - reach) <= 1e-9 * reach
        nearer = (distances < reach) & ~tied
        places = k - np.count_nonzero(nearer)
        total += (L[i, others[nearer]].sum() + places * L[i, others[tied]].mean()) / k
    return total / len(Z)


def partial_correlation(Z, L, chosen, feature, k):
    """The kernel partial correlation by nearest neighbours, given the chosen columns."""
    n = len(Z)
    known = (L.sum() - np.trace(L)) / (n * (n - 1))  # two samples, whichever
    if chosen:
        known = mean_of_nearest(Z[:, chosen], L, k)
    both = mean_of_nearest(Z[:, [*chosen, feature]], L, k)
    return (both - known) / (np.trace(L) / n - known)


def codec(Z, y):
    """T of Azadkia and Chatterjee (2021), as printed; y without ties between neighbours."""
    n, total = len(y), 0.0
    above = np.array([np.sum(y >= value) for value in y])
    for i in range(n):
        others = np.delete(np.arange(n), i)
        nearest = others[np.argmin(np.sum((Z[others] - Z[i]) ** 2, axis=1))]
        total += n * min(np.sum(y <= y[i]), np.sum(y <= y[nearest])) - above[i] ** 2
    return total / np.sum(above * (n - above))


def smoother(K, epsilon):
    """H = K (K + eps n I)^-1 of a centred Gram matrix."""
    return centre(K) @ np.linalg.inv(centre(K) + epsilon * len(K) * np.eye(len(K)))


def rkhs_partial_correlation(K, K_with, L, epsilon):
    """The kernel partial correlation by regression: on the chosen (zeros if none), and with one."""
    H, H_with, left = smoother(K, epsilon), smoother(K_with, epsilon), np.eye(len(K))
    more, left = H_with - H, left - smoother(K, epsilon)
    return np.trace(more @ centre(L) @ more.T) / np.trace(left @ centre(L) @ left.T)


def left_out_error(K, L, epsilon):
    """Squared errors of kernel ridge regression with a constant, n fits without one sample each."""
    n, total = len(K), 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        # penalty eps n |f|^2; the constant is not penalised
        A = np.ones((n, n))
        A[:-1, :-1] = K[np.ix_(rest, rest)] + epsilon * n * np.eye(n - 1)
        A[-1, -1] = 0.0
        weights = np.linalg.solve(A, np.append(K[rest, i], 1.0))[:-1]
        total += L[i, i] - 2 * weights @ L[rest, i] + weights @ L[np.ix_(rest, rest)] @ weights
    return total


def conditional_hsic(K_j, K, L, epsilon):
    """HSIC of a feature with what the regression on K leaves of L: alone, and together with K."""
    n = len(L)
    left = np.eye(n) - smoother(K, epsilon)
    left = left @ centre(L) @ left.T
    scale = np.trace(centre(K)) / n
    joint = centre(K_j) * (1 + (centre(K) / scale if scale > 0 else 0))
    return np.sum(joint * left) / (n - 1) ** 2


def hsfs_objective(W, X, L, alpha, width=1.0):
    """-HSIC(WX, y) + alpha sum_j max_i |W_ij|, of standardised columns X (section 3.3)."""
    V = standardised(X) @ W.T
    penalty = sum(max(abs(w) for w in column) for column in W.T)
    return -biased_hsic(joint_gram(V, width), L) + alpha * penalty


def qpfs_objective(D, d, theta, gamma):
    """(1 - gamma) / 2 theta' D theta - gamma theta' d, for theta >= 0 of sum 1 (section 3.4)."""
    return (1 - gamma) / 2 * theta @ D @ theta - gamma * theta @ d


def spam_objective(y, functions, alpha):
    """||y - sum_k f_k||^2 + alpha sum_k ||f_k|| / sqrt(n), with f_k = K_k beta_k (section 3.5)."""
    sizes = [np.sqrt(np.mean(f**2)) for f in functions]
    return np.sum((y - np.sum(functions, axis=0)) ** 2) + alpha * sum(sizes)


def backfitting_step(S, residual, alpha):
    """[1 - alpha / s]_+ P, centred, with P = S R and s = ||P|| / sqrt(n) (section 3.5).

    If S is a projection, it has the least objective for one feature, at the penalty 2n alpha.
    """
    P = S @ residual
    f = max(0.0, 1 - alpha / np.sqrt(np.mean(P**2))) * P
    return f - f.mean()


def printed_red(X):
    """1 / (m (m - 1)) sum over k > l of |rho_kl|, as section 4.3.1 prints it."""
    m = X.shape[1]
    rho = np.corrcoef(X, rowvar=False)
    return sum(abs(rho[k, j]) for k in range(m) for j in range(k)) / (m * (m - 1))


# ------------------------------------------------------------------------- Redundancy of features


def similarity(A):
    """<A_k, A_l> / (||A_k|| ||A_l||) of matrices (d, n, n); 0 where one of them vanishes."""
    flat = A.reshape(len(A), -1)
    norms = np.linalg.norm(flat, axis=1)
    norms[norms == 0] = np.inf
    return (flat / norms[:, None]) @ (flat / norms[:, None]).T


def additive_objective(
    target: np.ndarray,
    factors: list[np.ndarray],
    weights: list[np.ndarray],
    penalty: float,
    groups: np.ndarray,
) -> float:
    """1/2 ||F - sum_k W_k' Q_k||^2 + penalty * sum of the norms of groups; rows are transposed."""
    fitted = sum(w.T @ rows for rows, w in zip(factors, weights, strict=True))
    norms = [
        np.sqrt(sum(np.sum(weights[k] ** 2) for k in np.flatnonzero(groups == g)))
        for g in np.unique(groups)
    ]
    return float(0.5 * np.sum((target - fitted) ** 2) + penalty * sum(norms))


def normal_scores(y):
    """Normal quantiles of (rank - 1/2) / n."""
    from scipy.stats import norm, rankdata

    return norm.ppf((rankdata(y) - 0.5) / len(y))


def embedded_rows(y, linear, classes=False):
    """Rows of a target: those of its kernel with norm 1, and its numbers with norm `linear`."""
    L = centre(delta_gram(y) if classes else gaussian_gram(normal_scores(y)))
    eigenvalues, vectors = np.linalg.eigh(L)
    rows = (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T
    rows = rows / np.linalg.norm(rows)
    if classes:
        return rows
    z = standardise(normal_scores(y))
    return np.concatenate([rows, (linear * z / np.linalg.norm(z))[None]])


def rows_of(A):
    """Orthogonal rows Q with Q'Q = A."""
    eigenvalues, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0))).T


def function_rows(x, epsilon):
    """Rows Q of a feature: Q'Q = K (K + epsilon n)^-1."""
    return rows_of(nocco_matrix(centre(gaussian_gram(x)), epsilon))


def block_descent(rows, F, alpha, sweeps=200):
    """Sizes ||Q_k W_k|| of the solution of the additive problem, feature by feature."""
    weights = [np.zeros((Q.shape[1], len(F))) for Q in rows]
    energies = [np.sum(Q**2, axis=1) for Q in rows]
    residual = F.copy()
    for _ in range(sweeps):
        for k, Q in enumerate(rows):
            S = Q @ residual.T + energies[k][:, None] * weights[k]
            new = np.zeros_like(S)
            if np.linalg.norm(S) > alpha:
                low, high = 1e-9, 1e3  # of the norm t of the new weights, by bisection
                for _ in range(80):
                    t = 0.5 * (low + high)
                    size = np.linalg.norm(S / (energies[k][:, None] + alpha / t))
                    low, high = (t, high) if size > t else (low, t)
                new = S / (energies[k][:, None] + alpha / t)
            residual -= (new - weights[k]).T @ Q
            weights[k] = new
    return np.array([np.linalg.norm(w.T @ Q) for w, Q in zip(weights, rows, strict=True)])


def noise_level(A, L, d):
    """Largest correlation of d features with matrix A and a permuted target, taken as gamma."""
    from scipy import stats

    n = len(A) - 1
    trace = np.trace(A), np.trace(L)
    spread = [np.sum(M**2) - np.trace(M) ** 2 / n for M in (A, L)]
    mean, variance = trace[0] * trace[1] / n, 2 * spread[0] * spread[1] / n**2
    return np.sqrt(stats.gamma.ppf(1 - 1 / (d + 1), mean**2 / variance, scale=variance / mean))


def additive_ridge(grams, Y, ridge):
    """Functions f_k = K_k R / (rho n) with (sum_k K_k + rho n) R = rho n Y, of centred matrices."""
    n = len(Y)
    residual = np.linalg.solve(sum(grams) + ridge * n * np.eye(n), ridge * n * (Y - Y.mean(axis=0)))
    return [K @ residual / (ridge * n) for K in grams]


# ------------------------------------------------------------------------ The permutation null


def permuted_statistics(K, L):
    """<K, L> for every order of the samples of L: n! values."""
    from itertools import permutations

    orders = np.array(list(permutations(range(len(K)))))
    return np.einsum("ij,pij->p", K, L[orders[:, :, None], orders[:, None, :]])


def rotation_tail(t, lam, mu, n_dimensions):
    """P(sum_i lam_i R_i >= t), R_i = sum_j mu_j g_ij^2 / sum_j g_ij^2, by the double saddlepoint.

    F(s, x) = N/2 (sum_i (x_i - 1) - s t) - 1/2 sum_ij log(x_i - s lam_i mu_j) is convex. At its
    minimum, r = sign(s) sqrt(-2F) and u = s sqrt(det F'' / (N/2)^r); the tail is that of a normal
    variable at r + log(u / r) / r.
    """
    from scipy.optimize import minimize
    from scipy.stats import norm

    N, r = n_dimensions, len(lam)
    mu = np.append(mu, np.zeros(N - len(mu)))
    a = np.outer(lam, mu)

    def left(v):
        return v[1:, None] - v[0] * a

    def function(v):
        if (left(v) <= 0).any():
            return np.inf
        return N / 2 * (v[1:].sum() - r - v[0] * t) - 0.5 * np.log(left(v)).sum()

    def gradient(v):
        u = 1 / left(v)
        return np.append(-N / 2 * t + 0.5 * (a * u).sum(), N / 2 - 0.5 * u.sum(axis=1))

    def hessian(v):
        u2 = 1 / left(v) ** 2
        H = np.diag(np.append(0.5 * (a**2 * u2).sum(), 0.5 * u2.sum(axis=1)))
        H[0, 1:] = H[1:, 0] = -0.5 * (a * u2).sum(axis=1)
        return H

    start = np.append(0.0, np.ones(r))
    found = minimize(
        function, start, jac=gradient, hess=hessian, method="trust-exact", options={"gtol": 1e-10}
    )
    v = found.x
    root = np.sign(v[0]) * np.sqrt(-2 * function(v))
    u = v[0] * np.sqrt(np.linalg.det(hessian(v) / (N / 2)) * N / 2)
    return norm.sf(root + np.log(u / root) / root)


def chi2_tail(t, weights):
    """P(sum_i w_i g_i^2 >= t) of independent normal g_i, by Imhof's integral (1961)."""
    from scipy.integrate import quad

    w = np.asarray(weights)

    def integrand(u):
        angle = 0.5 * np.arctan(w * u).sum() - 0.5 * t * u
        return np.sin(angle) / (u * np.prod((1 + (w * u) ** 2) ** 0.25))

    ends = np.append(0.0, np.geomspace(0.01, 1e4, 400) / w.max())
    parts = [quad(integrand, *ends[i : i + 2], limit=500)[0] for i in range(len(ends) - 1)]
    return 0.5 + np.sum(parts) / np.pi


def too_similar(order, S, cap, kept=()):
    """The first feature of an order that is more similar than the cap to an earlier one, or None.

    S are the similarities of all features; those that are kept come first and are never closed.
    """
    joined = list(kept)
    for k in order:
        if k not in joined:
            if joined and max(S[k, j] for j in joined) > cap:
                return k
            joined.append(k)
    return None


def filling(relevance, S, selected, number):
    """Features that make up the number: the largest b (1 - largest similarity)^2, one by one."""
    chosen = list(selected)
    for _ in range(number):
        left = [k for k in range(len(relevance)) if k not in chosen]
        scores = [relevance[k] * (1 - max(S[k, j] for j in chosen)) ** 2 for k in left]
        chosen.append(left[int(np.argmax(scores))])
    return chosen[len(selected) :]


def knockoff_covariance(C, s):
    """Covariance matrix of originals and knockoffs, [[C, C - S], [C - S, C]]."""
    off = C - np.diag(s)
    return np.block([[C, off], [off, C]])


def reconstructability(C, s):
    """1/2 tr G^-1 of that matrix: the sum of the reciprocal conditional variances, halved."""
    return 0.5 * np.trace(np.linalg.inv(knockoff_covariance(C, s)))


def knockoff_plus(W, q):
    """The least t of |W| with (1 + #{W <= -t}) / #{W >= t} <= q."""
    for t in sorted(set(np.abs(W[W != 0]).tolist())):
        if 1 + np.sum(-t >= W) <= q * np.sum(t <= W):
            return t
    return np.inf


def hsic_by_quadruples(K, L):
    """Unbiased HSIC as a U-statistic: the mean over all ordered quadruples of different samples."""
    from itertools import permutations

    values = [
        K[i, j] * L[i, j] + K[i, j] * L[q, r] - 2 * K[i, j] * L[i, q]
        for i, j, q, r in permutations(range(len(K)), 4)
    ]
    return np.mean(values)


def lasso_selects(M, H, alpha):
    """Features with a positive weight in min 1/2 a'Ma - H'a + alpha 1'a over a >= 0, all tried."""
    from itertools import product

    for chosen in product([False, True], repeat=len(H)):
        S = np.array(chosen)
        a = np.zeros(len(H))
        a[S] = np.linalg.solve(M[np.ix_(S, S)], H[S] - alpha)
        if (a[S] > 0).all() and (H - M @ a <= alpha + 1e-12)[~S].all():
            return S
    raise AssertionError("a convex problem has a solution")


def largest_tail(mean, least, size, mode=None):
    """Largest P(X >= least) of X on {0, ..., size} with a mean of at most `mean`, by linear
    programming; with a `mode`, X is unimodal there."""
    from scipy.optimize import linprog

    i = np.arange(size + 1)
    rises = []
    if mode is not None:
        for k in range(size):  # f rises up to the mode, and falls after it
            row = np.zeros(size + 1)
            row[k], row[k + 1] = (1, -1) if k < mode else (-1, 1)
            rises.append(row)
    upper = np.array([i, *rises])
    limits = np.append(mean, np.zeros(len(rises)))
    found = linprog(
        -(i >= least).astype(float), A_ub=upper, b_ub=limits, A_eq=np.ones((1, size + 1)), b_eq=[1]
    )
    return 0.0 if found.fun is None else -found.fun  # no distribution has such a mode


def worst_concave(a, k, mean, size, r):
    """The distribution f(i) ~ (a + i)^(1/r) on {0, ..., k} with the rest at k + 1, of this mean."""
    i = np.arange(size + 1)
    f = np.where(i <= k, (a + i) ** (1 / r), 0.0)
    # c sum f + rest = 1 and c sum i f + (k + 1) rest = mean
    c = (k + 1 - mean) / ((k + 1 - i) * f)[: k + 1].sum()
    f = c * f
    f[k + 1] = 1 - f.sum()
    return f


def half_relevance(K, L, rows):
    """HSIC of two Gram matrices on some of the samples, centred there."""
    centre = np.eye(len(rows)) - 1 / len(rows)
    return np.sum(centre @ K[np.ix_(rows, rows)] @ centre * L[np.ix_(rows, rows)])


def class_parts(K, y):
    """<K, H l_c l_c' H> of each class c, with l_c its indicator over the root of its size.

    l_c l_c' is the part of the delta kernel that tells class c from the rest.
    """
    parts = []
    for label in np.unique(y):
        indicator = (np.asarray(y) == label).astype(float)
        part = np.outer(indicator, indicator) / indicator.sum()
        parts.append(hsic(centre(K), centre(part)))
    return np.array(parts)
