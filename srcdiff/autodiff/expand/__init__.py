"""A template at a call: the adjoint statements or the tangent of the call."""
