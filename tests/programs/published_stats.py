"""Likelihoods and inference, written as people publish them."""

import numpy as np

from .registry import sample


def rbf_covariance(kernel_params, x, xp):
    output_scale = np.exp(kernel_params[0])
    lengthscales = np.exp(kernel_params[1:])
    diffs = np.expand_dims(x / lengthscales, 1) - np.expand_dims(xp / lengthscales, 0)
    return output_scale * np.exp(-0.5 * np.sum(diffs**2, axis=2))


def mvn_logpdf(x, mean, cov):
    L = np.linalg.cholesky(cov)
    z = np.linalg.solve(L, x - mean)
    logdet = 2.0 * np.sum(np.log(np.diag(L)))
    return -0.5 * (len(x) * np.log(2 * np.pi) + logdet + z @ z)


def make_gp_funs(cov_func, num_cov_params):
    def unpack_kernel_params(params):
        mean = params[0]
        cov_params = params[2 : 2 + num_cov_params]
        noise_scale = np.exp(params[1]) + 0.0001
        return mean, cov_params, noise_scale

    def predict(params, x, y, xstar):
        mean, cov_params, noise_scale = unpack_kernel_params(params)
        cov_f_f = cov_func(cov_params, xstar, xstar)
        cov_y_f = cov_func(cov_params, x, xstar)
        cov_y_y = cov_func(cov_params, x, x) + noise_scale * np.eye(len(y))
        pred_mean = mean + np.dot(np.linalg.solve(cov_y_y, cov_y_f).T, y - mean)
        pred_cov = cov_f_f - np.dot(np.linalg.solve(cov_y_y, cov_y_f).T, cov_y_f)
        return pred_mean, pred_cov

    def log_marginal_likelihood(params, x, y):
        mean, cov_params, noise_scale = unpack_kernel_params(params)
        cov_y_y = cov_func(cov_params, x, x) + noise_scale * np.eye(len(y))
        prior_mean = mean * np.ones(len(y))
        return mvn_logpdf(y, prior_mean, cov_y_y)

    return 2 + num_cov_params, predict, log_marginal_likelihood


num_params, gp_predict, gp_log_likelihood = make_gp_funs(rbf_covariance, 3)

sample(
    gp_log_likelihood,
    lambda r: (0.3 * r.standard_normal(5), r.standard_normal((5, 2)), r.standard_normal(5)),
    ("params", "x", "y"),
)
sample(
    gp_predict,
    lambda r: (
        0.3 * r.standard_normal(5),
        r.standard_normal((4, 2)),
        r.standard_normal(4),
        r.standard_normal((2, 2)),
    ),
    ("params", "x"),
)


def gp_objective_closure(params, x, y):
    """The whole model is built where it is used."""
    _, _, log_marginal_likelihood = make_gp_funs(rbf_covariance, 2)
    objective = lambda p: -log_marginal_likelihood(p, x, y)  # noqa: E731
    return objective(params)


sample(
    gp_objective_closure,
    lambda r: (0.3 * r.standard_normal(4), r.standard_normal((4, 1)), r.standard_normal(4)),
    ("params", "x", "y"),
)


def logsumexp(x, axis=None):
    shift = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(shift, axis) + np.log(np.sum(np.exp(x - shift), axis=axis))


def build_gmm(num_components, D):
    def unpack_params(params):
        normalized_log_proportions = params["log proportions"] - logsumexp(
            params["log proportions"], 0
        )
        return normalized_log_proportions, params["means"], params["lower triangles"]

    def log_density(data, mean, chol):
        z = np.linalg.solve(chol, (data - mean).T)
        logdet = np.sum(np.log(np.abs(np.diag(chol))))
        return -0.5 * np.sum(z**2, axis=0) - logdet - 0.5 * D * np.log(2 * np.pi)

    def gmm_log_likelihood(params, data):
        cluster_lls = []
        for log_proportion, mean, chol in zip(*unpack_params(params)):  # noqa: B905
            cluster_lls.append(log_proportion + log_density(data, mean, chol))
        cluster_lls = np.vstack(cluster_lls)
        return np.sum(logsumexp(cluster_lls, axis=0))

    return gmm_log_likelihood


gmm_log_likelihood = build_gmm(3, 2)


sample(
    gmm_log_likelihood,
    lambda r: (
        {
            "log proportions": r.standard_normal(3),
            "means": r.standard_normal((3, 2)),
            "lower triangles": 0.3 * r.standard_normal((3, 2, 2)) + np.eye(2),
        },
        r.standard_normal((6, 2)),
    ),
    ("params", "data"),
)


def hmm_log_likelihood(log_pi, log_A, emission, observations):
    T, K = len(observations), len(log_pi)
    log_B = np.log(emission)
    alpha = np.zeros((T, K))
    alpha[0] = log_pi + log_B[:, observations[0]]
    for t in range(1, T):
        for j in range(K):
            alpha[t, j] = logsumexp(alpha[t - 1] + log_A[:, j], axis=0)
            alpha[t, j] += log_B[j, observations[t]]
    return logsumexp(alpha[-1], axis=0)


sample(
    hmm_log_likelihood,
    lambda r: (
        r.standard_normal(3),
        r.standard_normal((3, 3)),
        0.2 + r.random((3, 4)),
        np.array([0, 3, 1, 1, 2]),
    ),
    ("log_pi", "log_A", "emission"),
)


def hmm_scaled_forward(pi, A, B, obs):
    alpha = pi * B[:, obs[0]]
    scales = [alpha.sum()]
    alpha = alpha / scales[0]
    for o in obs[1:]:
        alpha = (alpha @ A) * B[:, o]
        scales.append(alpha.sum())
        alpha /= scales[-1]
    return sum(np.log(s) for s in scales)


sample(
    hmm_scaled_forward,
    lambda r: (
        r.dirichlet(np.ones(3)),
        r.dirichlet(np.ones(3), 3),
        r.dirichlet(np.ones(4), 3),
        [0, 3, 1, 1, 2],
    ),
    ("pi", "A", "B"),
)


def baum_welch_step(pi, A, B, obs):
    """Expected transitions by the backward and forward recursions."""
    T, K = len(obs), A.shape[0]
    alpha = np.zeros((T, K))
    beta = np.ones((T, K))
    alpha[0] = pi * B[:, obs[0]]
    for t in range(1, T):
        alpha[t] = np.dot(alpha[t - 1], A) * B[:, obs[t]]
    for t in reversed(range(T - 1)):
        beta[t] = np.dot(A, B[:, obs[t + 1]] * beta[t + 1])
    xi = np.zeros((K, K))
    for t in range(T - 1):
        joint = alpha[t][:, None] * A * B[:, obs[t + 1]] * beta[t + 1]
        xi += joint / joint.sum()
    return xi / xi.sum(axis=1, keepdims=True)


sample(
    baum_welch_step,
    lambda r: (
        r.dirichlet(np.ones(2)),
        r.dirichlet(np.ones(2), 2),
        r.dirichlet(np.ones(3), 2),
        np.array([0, 1, 1, 2]),
    ),
    ("A", "B"),
)


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = x0
        self.P = P0
        self.log_likelihood = 0.0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = np.linalg.solve(S.T, self.H @ self.P.T).T
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        self.log_likelihood -= 0.5 * (
            y @ np.linalg.solve(S, y) + np.linalg.slogdet(2 * np.pi * S)[1]
        )


def kalman_log_likelihood(F, q, r, measurements):
    kf = KalmanFilter(
        F,
        np.array([[1.0, 0.0]]),
        np.exp(q) * np.eye(2),
        np.exp(r) * np.eye(1),
        np.zeros(2),
        np.eye(2),
    )
    for z in measurements:
        kf.predict()
        kf.update(z)
    return kf.log_likelihood


sample(
    kalman_log_likelihood,
    lambda r: (np.array([[1.0, 0.1], [0.0, 1.0]]), -1.0, -0.5, r.standard_normal((3, 1))),
    ("F", "q", "r", "measurements"),
)


def black_box_elbo(params, samples, logprob):
    D = len(params) // 2
    mean, log_std = params[:D], params[D:]
    gaussian_entropy = 0.5 * D * (1.0 + np.log(2 * np.pi)) + np.sum(log_std)
    draws = samples * np.exp(log_std) + mean
    return -(gaussian_entropy + np.mean(logprob(draws)))


def funnel_log_density(x):
    mu, log_sigma = x[:, 0], x[:, 1]
    sigma_density = -0.5 * (log_sigma / 1.35) ** 2 - np.log(1.35 * np.sqrt(2 * np.pi))
    mu_density = -0.5 * (mu / np.exp(log_sigma)) ** 2 - log_sigma
    return sigma_density + mu_density


sample(
    black_box_elbo,
    lambda r: (0.5 * r.standard_normal(4), r.standard_normal((6, 2)), funnel_log_density),
    "params",
)


def poisson_regression(beta, X, counts, offset=None):
    eta = X @ beta
    if offset is not None:
        eta += offset
    rate = np.exp(eta)
    return np.sum(rate - counts * eta)


sample(
    poisson_regression,
    lambda r: (
        0.3 * r.standard_normal(3),
        r.standard_normal((6, 3)),
        r.poisson(2.0, 6),
        np.ones(6),
    ),
    ("beta", "X"),
)


def bayesian_linear_regression(weights, log_noise, X, y, alpha=1.0):
    def log_prior(w):
        return -0.5 * alpha * np.sum(w**2)

    def log_lik(w):
        resid = y - (X @ w[1:] + w[0])
        return -0.5 * np.sum(resid**2) / np.exp(2 * log_noise) - len(y) * log_noise

    return log_prior(weights) + log_lik(weights)


sample(
    bayesian_linear_regression,
    lambda r: (r.standard_normal(3), 0.2, r.standard_normal((6, 2)), r.standard_normal(6)),
    ("weights", "log_noise"),
)


def gmm_em_steps(X, means, variances, weights, n_iter=3):
    N, D = X.shape
    K = len(weights)
    for _ in range(n_iter):
        resp = np.zeros((N, K))
        for k in range(K):
            diff = X - means[k]
            resp[:, k] = weights[k] * np.exp(-0.5 * np.sum(diff**2 / variances[k], axis=1))
            resp[:, k] /= np.sqrt(np.prod(variances[k]))
        resp /= resp.sum(axis=1, keepdims=True)
        Nk = resp.sum(axis=0)
        means = (resp.T @ X) / Nk[:, None]
        variances = np.array([(resp[:, k] @ (X - means[k]) ** 2) / Nk[k] + 1e-3 for k in range(K)])
        weights = Nk / N
    return means, variances, weights


sample(
    gmm_em_steps,
    lambda r: (
        r.standard_normal((6, 2)),
        r.standard_normal((2, 2)),
        0.5 + r.random((2, 2)),
        np.array([0.4, 0.6]),
    ),
    ("X", "means"),
)


def importance_weighted_bound(mu, rho, eps, x):
    sigma = np.log1p(np.exp(rho))
    z = mu + sigma * eps
    log_q = -0.5 * eps**2 - np.log(sigma)
    log_p = -0.5 * z**2 - 0.5 * (x[None, :] - z) ** 2 / 0.25
    log_w = np.sum(log_p - log_q, axis=1)
    return logsumexp(log_w) - np.log(len(log_w))


sample(
    importance_weighted_bound,
    lambda r: (
        r.standard_normal(3),
        r.standard_normal(3),
        r.standard_normal((5, 3)),
        r.standard_normal(3),
    ),
    ("mu", "rho"),
)


def planar_flow(params, z):
    log_det = np.zeros(len(z))
    for w, u, b in params:
        activation = np.tanh(z @ w + b)
        psi = (1 - activation**2)[:, None] * w
        log_det += np.log(np.abs(1 + psi @ u) + 1e-9)
        z = z + activation[:, None] * u
    return np.mean(-0.5 * np.sum(z**2, axis=1) + log_det)


sample(
    planar_flow,
    lambda r: (
        [(r.standard_normal(2), r.standard_normal(2), r.standard_normal()) for _ in range(3)],
        r.standard_normal((4, 2)),
    ),
    ("params", "z"),
)


def hmc_leapfrog(q, p, grad_potential, step=0.1, n_steps=5):
    q, p = np.copy(q), np.copy(p)
    p -= step * grad_potential(q) / 2
    for _ in range(n_steps - 1):
        q += step * p
        p -= step * grad_potential(q)
    q += step * p
    p -= step * grad_potential(q) / 2
    return q, -p


def banana_gradient(q):
    x, y = q
    return np.array([x + 2 * x * (x**2 - y), y - x**2])


sample(
    hmc_leapfrog,
    lambda r: (r.standard_normal(2), r.standard_normal(2), banana_gradient),
    ("q", "p"),
)
