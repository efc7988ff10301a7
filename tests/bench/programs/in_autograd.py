"""The programs for HIPS autograd: those of `arrays`."""

from __future__ import annotations

import autograd.numpy as anp


class Namespace:
    """`autograd.numpy`, with what `arrays` asks for beside."""

    amax = staticmethod(anp.max)
    constant = staticmethod(anp.asarray)

    def __getattr__(self, name):
        return getattr(anp, name)

    @staticmethod
    def relu(x):
        return anp.maximum(x, 0.0)

    @staticmethod
    def diagonal(x):
        places = anp.arange(x.shape[0])
        return x[places, places]

    @staticmethod
    def reversed(x):
        return x[::-1]

    @staticmethod
    def interior(whole, inside):
        """The inside in a frame, which is built from the last axis to the first."""
        for axis in range(whole.ndim - 1, -1, -1):
            around = (slice(1, -1),) * axis
            low, high = whole[(*around, slice(0, 1))], whole[(*around, slice(-1, None))]
            inside = anp.concatenate([low, inside, high], axis=axis)
        return inside


XP = Namespace()
