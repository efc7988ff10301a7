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
        r.standard_normal((4, 3)), r.standard_normal(3), np.array([0.1, 0.2, 6.0]), 1.5, 0.01, 0.001,
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


sample(bundle_adjustment, _scene, "params")


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
    tolerance=1e-5,
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
    lambda r: (2.3, np.array([0.0, 0.0, 0.0, 1.0, 2.1, 3.0, 4.0, 4.0, 4.0]), r.standard_normal(6), 2),
    ("x", "c"),
)


def conv2d(input, weights):
    """As in a benchmark collection: one window at a time over all channels."""
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float64)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet_basicblock(input, conv1, conv2, conv3):
    padded = np.zeros((input.shape[0], input.shape[1] + 2, input.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(input, conv1)
    x = batchnorm2d(padded)
    x = np.maximum(x, 0)

    x = conv2d(x, conv2)
    x = batchnorm2d(x)
    x = np.maximum(x, 0)
    x = conv2d(x, conv3)
    x = batchnorm2d(x)
    return np.maximum(x + input, 0)


sample(
    resnet_basicblock,
    lambda r: (
        r.standard_normal((4, 2, 2, 2)),
        r.standard_normal((1, 1, 2, 2)),
        r.standard_normal((3, 3, 2, 2)),
        r.standard_normal((1, 1, 2, 2)),
    ),
    ("input", "conv1", "conv2", "conv3"),
    tolerance=1e-4,
)


def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def lenet5(input, conv1, conv1bias, fc1w, fc1b, fc2w, fc2b, N):
    x = np.maximum(conv2d(input, conv1) + conv1bias, 0)
    x = maxpool2d(x)
    x = np.reshape(x, (N, -1))
    x = np.maximum(x @ fc1w + fc1b, 0)
    return x @ fc2w + fc2b


sample(
    lenet5,
    lambda r: (
        r.standard_normal((2, 5, 5, 1)),
        r.standard_normal((2, 2, 1, 2)),
        r.standard_normal(2),
        r.standard_normal((8, 3)),
        r.standard_normal(3),
        r.standard_normal((3, 2)),
        r.standard_normal(2),
        2,
    ),
    ("input", "conv1", "conv1bias", "fc1w", "fc1b", "fc2w", "fc2b"),
)


def im2col_convolution(x, w, b, stride=1, pad=1):
    N, C, H, W = x.shape
    F, _, KH, KW = w.shape
    xp = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), mode="constant")
    OH = (H + 2 * pad - KH) // stride + 1
    OW = (W + 2 * pad - KW) // stride + 1
    cols = np.zeros((N, C, KH, KW, OH, OW))
    for i in range(KH):
        for j in range(KW):
            cols[:, :, i, j] = xp[:, :, i : i + stride * OH : stride, j : j + stride * OW : stride]
    cols = cols.transpose(0, 4, 5, 1, 2, 3).reshape(N * OH * OW, -1)
    out = cols @ w.reshape(F, -1).T + b
    return out.reshape(N, OH, OW, F).transpose(0, 3, 1, 2)


sample(
    im2col_convolution,
    lambda r: (r.standard_normal((2, 2, 4, 4)), r.standard_normal((3, 2, 3, 3)), r.standard_normal(3), 2),
    ("x", "w", "b"),
)


def windows_convolution(x, w):
    patches = np.lib.stride_tricks.sliding_window_view(x, w.shape)
    return np.einsum("ijkl,kl->ij", patches, w)


sample(
    windows_convolution,
    lambda r: (r.standard_normal((5, 5)), r.standard_normal((2, 3))),
    ("x", "w"),
)


def gaussian_blur(image, sigma, radius=2):
    t = np.arange(-radius, radius + 1)
    k = np.exp(-(t**2) / (2 * sigma**2))
    k /= k.sum()
    padded = np.pad(image, radius, mode="edge")
    rows = sum(k[i] * padded[i : i + image.shape[0], :] for i in range(len(k)))
    return sum(k[i] * rows[:, i : i + image.shape[1]] for i in range(len(k)))


sample(gaussian_blur, lambda r: (r.random((4, 5)), 1.2), ("image", "sigma"))


def bilateral_filter(img, sigma_s, sigma_r, radius=1):
    H, W = img.shape
    out = np.zeros((H, W))
    for y in range(H):
        for x in range(W):
            y0, y1 = max(0, y - radius), min(H, y + radius + 1)
            x0, x1 = max(0, x - radius), min(W, x + radius + 1)
            patch = img[y0:y1, x0:x1]
            yy, xx = np.mgrid[y0:y1, x0:x1]
            g = np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * sigma_s**2))
            h = np.exp(-((patch - img[y, x]) ** 2) / (2 * sigma_r**2))
            out[y, x] = np.sum(g * h * patch) / np.sum(g * h)
    return out


sample(bilateral_filter, lambda r: (r.random((3, 3)), 1.0, 0.5), ("img", "sigma_s", "sigma_r"))


def horn_schunck(im1, im2, alpha, n_iter):
    fx = 0.5 * (np.gradient(im1, axis=1) + np.gradient(im2, axis=1))
    fy = 0.5 * (np.gradient(im1, axis=0) + np.gradient(im2, axis=0))
    ft = im2 - im1
    u = np.zeros(im1.shape)
    v = np.zeros(im1.shape)

    def average(a):
        p = np.pad(a, 1, mode="edge")
        return (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4

    for _ in range(n_iter):
        u_avg, v_avg = average(u), average(v)
        der = (fx * u_avg + fy * v_avg + ft) / (alpha**2 + fx**2 + fy**2)
        u = u_avg - fx * der
        v = v_avg - fy * der
    return u, v


sample(
    horn_schunck,
    lambda r: (r.random((4, 4)), r.random((4, 4)), 0.8, 3),
    ("im1", "im2", "alpha"),
)


def bilinear_sample(image, xs, ys):
    x0 = np.clip(np.floor(xs).astype(int), 0, image.shape[1] - 2)
    y0 = np.clip(np.floor(ys).astype(int), 0, image.shape[0] - 2)
    dx, dy = xs - x0, ys - y0
    top = (1 - dx) * image[y0, x0] + dx * image[y0, x0 + 1]
    bottom = (1 - dx) * image[y0 + 1, x0] + dx * image[y0 + 1, x0 + 1]
    return (1 - dy) * top + dy * bottom


sample(
    bilinear_sample,
    lambda r: (r.random((4, 5)), 0.1 + 3.5 * r.random((2, 3)), 0.1 + 2.5 * r.random((2, 3))),
    ("image", "xs", "ys"),
)


def total_variation(image, noisy, lam, eps=1e-3):
    dx = image[1:, :-1] - image[:-1, :-1]
    dy = image[:-1, 1:] - image[:-1, :-1]
    return np.sum((image - noisy) ** 2) + lam * np.sqrt(dx**2 + dy**2 + eps).sum()


sample(total_variation, lambda r: (r.random((3, 4)), r.random((3, 4)), 0.3), ("image", "lam"))


def sobel_edges(image):
    gx = np.zeros_like(image)
    gy = np.zeros_like(image)
    Kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            window = image[i - 1 : i + 2, j - 1 : j + 2]
            gx[i, j] = (window * Kx).sum()
            gy[i, j] = (window * Kx.T).sum()
    magnitude = np.hypot(gx, gy)
    return magnitude / (1e-3 + magnitude.max())


sample(sobel_edges, lambda r: (r.random((4, 5)),))


def signed_distance(p, radius, center):
    return np.linalg.norm(p - center, axis=-1) - radius


def ray_march(origin, directions, radius, center, max_steps=8, eps=1e-3):
    """All rays at once; those that hit or left are masked."""
    t = np.zeros(len(directions))
    active = np.ones(len(directions), dtype=bool)
    steps = 0
    while np.any(active) and steps < max_steps:
        points = origin + t[:, None] * directions
        d = signed_distance(points, radius, center)
        t[active] += d[active]
        active = active & (np.abs(d) > eps) & (t < 10.0)
        steps += 1
    hit = t < 10.0
    return np.where(hit, t, 0.0)


sample(
    ray_march,
    lambda r: (
        np.array([0.0, 0.0, -3.0]),
        np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 0.99], [0.0, 0.9, 0.3]]),
        1.0,
        np.array([0.1, 0.05, 0.0]),
    ),
    ("origin", "radius", "center"),
    tolerance=1e-4,
)
