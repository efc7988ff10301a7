"""Where rays of light meet behind a lens: the function whose gradient is shipped."""

import numpy as np

GLASS, SCREEN = 1.5, 3.0


def surface(shape, y):
    """Where the back of the lens is at the height `y`, and its slope there."""
    a, b, c = shape
    s = y * y
    return s * (a + s * (b + s * c)), 2.0 * y * (a + s * (2.0 * b + 3.0 * s * c))


def at_screen(shape, y):
    """Where rays that come in parallel, through the flat front, meet the screen (Snell's law)."""
    z, slope = surface(shape, y)
    inside = np.arctan(slope)
    outside = np.arcsin(GLASS * np.sin(inside))
    return y + (SCREEN - z) * np.tan(outside - inside)


def blur(shape, y):
    """The mean square distance of the rays from the middle of the screen."""
    return np.mean(at_screen(shape, y) ** 2)


example = (np.zeros(3), np.linspace(-1.0, 1.0, 9))
