"""Images, geometry and cameras."""

import numpy as np

from .registry import sample


def rodrigues(r):
    theta = np.linalg.norm(r)
    if theta < 1e-12:
        return np.eye(3)
    k = r / theta
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * (K @ K)


def project_points(points, rvec, tvec, f, k1, k2):
    R = rodrigues(rvec)
    cam = points @ R.T + tvec
    p = -cam[:, :2] / cam[:, 2, np.newaxis]
    n = np.sum(p**2, axis=1)
    distortion = 1 + k1 * n + k2 * n**2
    return p * (distortion * f)[:, np.newaxis]


sample(
    project_points,
    lambda r: (
        r.standard_normal((4, 3)),
        r.standard_normal(3),
        np.array([0.1, 0.2, 6.0]),
        1.5,
        0.01,
        0.001,
    ),
    ("points", "rvec", "tvec", "f", "k1", "k2"),
)


def rotate(points, rot_vecs):
    """Rotate points by given rotation vectors."""
    theta = np.linalg.norm(rot_vecs, axis=1)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        v = rot_vecs / theta
        v = np.nan_to_num(v)
    dot = np.sum(points * v, axis=1)[:, np.newaxis]
    cos_theta = np.cos(theta)
    sin_theta = np.sin(theta)
    return cos_theta * points + sin_theta * np.cross(v, points) + dot * (1 - cos_theta) * v


def bundle_adjustment(params, n_cameras, n_points, camera_indices, point_indices, points_2d):
    camera_params = params[: n_cameras * 9].reshape((n_cameras, 9))
    points_3d = params[n_cameras * 9 :].reshape((n_points, 3))
    cams = camera_params[camera_indices]
    points_proj = rotate(points_3d[point_indices], cams[:, :3])
    points_proj += cams[:, 3:6]
    points_proj = -points_proj[:, :2] / points_proj[:, 2, np.newaxis]
    f = cams[:, 6]
    k1 = cams[:, 7]
    k2 = cams[:, 8]
    n = np.sum(points_proj**2, axis=1)
    r = 1 + k1 * n + k2 * n**2
    points_proj *= (r * f)[:, np.newaxis]
    return (points_proj - points_2d).ravel()


def _scene(r):
    cameras = np.hstack(
        [r.standard_normal((2, 3)), np.array([[0.1, 0.2, 7.0]] * 2), 1 + 0.1 * r.random((2, 3))]
    )
    points = r.standard_normal((3, 3))
    return (
        np.concatenate([cameras.ravel(), points.ravel()]),
        2,
        3,
        np.array([0, 0, 1, 1]),
        np.array([0, 1, 1, 2]),
        r.standard_normal((4, 2)),
    )


# What the rule of `np.cross` gives may be a view of a part, and is added to: refused when nested.
sample(bundle_adjustment, _scene, "params", order2=False)


def quat_mult(q1, q2):
    w1, x1, y1, z1 = q1
    w2, x2, y2, z2 = q2
    w = w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2
    x = w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2
    y = w1 * y2 + y1 * w2 + z1 * x2 - x1 * z2
    z = w1 * z2 + z1 * w2 + x1 * y2 - y1 * x2
    return w, x, y, z


def quat_conjugate(q):
    w, x, y, z = q
    return (w, -x, -y, -z)


def quat_rotate(q, v):
    q = q / np.sqrt(np.dot(q, q))
    q2 = (0.0,) + tuple(v)
    return np.array(quat_mult(quat_mult(q, q2), quat_conjugate(q))[1:])


sample(quat_rotate, lambda r: (r.standard_normal(4), r.standard_normal(3)), ("q", "v"))


def dh_matrix(theta, d, a, alpha):
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def forward_kinematics(joints, links):
    T = np.eye(4)
    for q, (d, a, alpha) in zip(joints, links):  # noqa: B905
        T = T.dot(dh_matrix(q, d, a, alpha))
    return T[:3, 3]


sample(
    forward_kinematics,
    lambda r: (r.standard_normal(3), [(0.3, 0.0, np.pi / 2), (0.0, 0.5, 0.0), (0.0, 0.4, 0.1)]),
    "joints",
)


def inverse_kinematics(target, lengths, angles, steps=3):
    """Damped least squares with the Jacobian of a planar arm."""
    for _ in range(steps):
        cum = np.cumsum(angles)
        xy = np.array([np.sum(lengths * np.cos(cum)), np.sum(lengths * np.sin(cum))])
        J = np.zeros((2, len(angles)))
        for i in range(len(angles)):
            J[0, i] = -np.sum(lengths[i:] * np.sin(cum[i:]))
            J[1, i] = np.sum(lengths[i:] * np.cos(cum[i:]))
        err = target - xy
        angles = angles + J.T @ np.linalg.solve(J @ J.T + 0.01 * np.eye(2), err)
    return angles


sample(
    inverse_kinematics,
    lambda r: (np.array([1.0, 1.2]), np.array([1.0, 0.8, 0.5]), r.standard_normal(3)),
    ("target", "lengths", "angles"),
)


def de_casteljau(control, t):
    points = [p for p in control]
    n = len(points)
    for r in range(1, n):
        for i in range(n - r):
            points[i] = (1 - t) * points[i] + t * points[i + 1]
    return points[0]


sample(de_casteljau, lambda r: (r.standard_normal((4, 2)), 0.3), ("control", "t"))


def b_spline_basis(x, k, i, t):
    if k == 0:
        return 1.0 if t[i] <= x < t[i + 1] else 0.0
    if t[i + k] == t[i]:
        c1 = 0.0
    else:
        c1 = (x - t[i]) / (t[i + k] - t[i]) * b_spline_basis(x, k - 1, i, t)
    if t[i + k + 1] == t[i + 1]:
        c2 = 0.0
    else:
        c2 = (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * b_spline_basis(x, k - 1, i + 1, t)
    return c1 + c2


def bspline(x, t, c, k):
    n = len(t) - k - 1
    return sum(c[i] * b_spline_basis(x, k, i, t) for i in range(n))


sample(
    bspline,
    lambda r: (
        2.3,
        np.array([0.0, 0.0, 0.0, 1.0, 2.1, 3.0, 4.0, 4.0, 4.0]),
        r.standard_normal(6),
        2,
    ),
    ("x", "c"),
)
