"""Images and convolutions."""

import numpy as np

from .registry import sample


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
    lambda r: (
        r.standard_normal((2, 2, 4, 4)),
        r.standard_normal((3, 2, 3, 3)),
        r.standard_normal(3),
        2,
    ),
    ("x", "w", "b"),
)


def windows_convolution(x, w):
    patches = np.lib.stride_tricks.sliding_window_view(x, w.shape)
    return np.einsum("ijkl,kl->ij", patches, w)


sample(
    windows_convolution,
    lambda r: (r.standard_normal((4, 5)), r.standard_normal((2, 3))),
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
    horn_schunck, lambda r: (r.random((4, 5)), r.random((4, 5)), 0.8, 2), ("im1", "im2", "alpha")
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
    magnitude = np.sqrt(gx**2 + gy**2 + 1e-6)
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
)
