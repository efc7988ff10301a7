"""The Euler equations in one dimension as people write them.

Arrays in an object, five-point WENO reconstruction of the primitive variables, the HLLC Riemann
solver and three Runge-Kutta stages.
"""

from __future__ import annotations

import numpy as np

GHOST = 3
RHO, MOM, ENER = 0, 1, 2
SMALL = 1e-12


class Gas:
    """A gamma law and what follows from it."""

    def __init__(self, gamma=1.4):
        self.gamma = gamma

    def pressure(self, rho, e):
        return (self.gamma - 1.0) * rho * e

    def internal(self, rho, p):
        return p / ((self.gamma - 1.0) * rho)

    def sound(self, rho, p):
        return np.sqrt(self.gamma * p / rho)


class Grid:
    """A row of cells with ghost cells on both sides."""

    def __init__(self, nx, xmin=0.0, xmax=1.0):
        self.nx = nx
        self.ng = GHOST
        self.dx = (xmax - xmin) / nx
        self.lo = self.ng
        self.hi = self.ng + nx - 1
        self.n = nx + 2 * self.ng
        self.x = xmin + (np.arange(self.n) - self.ng + 0.5) * self.dx

    def scratch(self):
        return np.zeros((self.n, 3))


class Fluid:
    """The conserved variables on a grid, and what is computed from them."""

    def __init__(self, grid, gas):
        self.grid = grid
        self.gas = gas
        self.U = grid.scratch()
        self.t = 0.0

    def start(self, left, right, split):
        g = self.grid
        inside = g.x < split
        rho = np.where(inside, left[0], right[0])
        u = np.where(inside, left[1], right[1])
        p = np.where(inside, left[2], right[2])
        self.U[:, RHO] = rho
        self.U[:, MOM] = rho * u
        self.U[:, ENER] = rho * self.gas.internal(rho, p) + 0.5 * rho * u**2

    def fill(self, U):
        g = self.grid
        for k in range(g.ng):
            U[k, :] = U[g.lo, :]
            U[g.hi + 1 + k, :] = U[g.hi, :]

    def primitive(self, U):
        q = self.grid.scratch()
        q[:, 0] = U[:, RHO]
        q[:, 1] = U[:, MOM] / U[:, RHO]
        e = (U[:, ENER] - 0.5 * q[:, 0] * q[:, 1] ** 2) / q[:, 0]
        q[:, 2] = self.gas.pressure(q[:, 0], e)
        return q

    def conserved(self, q):
        U = np.zeros_like(q)
        U[:, RHO] = q[:, 0]
        U[:, MOM] = q[:, 0] * q[:, 1]
        e = self.gas.internal(q[:, 0], q[:, 2])
        U[:, ENER] = q[:, 0] * e + 0.5 * q[:, 0] * q[:, 1] ** 2
        return U

    def flux(self, q, U):
        F = np.zeros_like(U)
        F[:, RHO] = U[:, RHO] * q[:, 1]
        F[:, MOM] = U[:, MOM] * q[:, 1] + q[:, 2]
        F[:, ENER] = (U[:, ENER] + q[:, 2]) * q[:, 1]
        return F

    def step_size(self, cfl):
        q = self.primitive(self.U)
        c = self.gas.sound(q[:, 0], q[:, 2])
        return cfl * self.grid.dx / np.max(np.abs(q[:, 1]) + c)


def weno(v):
    """The values of `v` at the right face of each cell but the two at either end."""
    eps = 1e-6
    a, b, c, d, e = v[:-4], v[1:-3], v[2:-2], v[3:-1], v[4:]
    s0 = (2.0 * a - 7.0 * b + 11.0 * c) / 6.0
    s1 = (-b + 5.0 * c + 2.0 * d) / 6.0
    s2 = (2.0 * c + 5.0 * d - e) / 6.0
    b0 = 13.0 / 12.0 * (a - 2.0 * b + c) ** 2 + 0.25 * (a - 4.0 * b + 3.0 * c) ** 2
    b1 = 13.0 / 12.0 * (b - 2.0 * c + d) ** 2 + 0.25 * (b - d) ** 2
    b2 = 13.0 / 12.0 * (c - 2.0 * d + e) ** 2 + 0.25 * (3.0 * c - 4.0 * d + e) ** 2
    w0 = 0.1 / (eps + b0) ** 2
    w1 = 0.6 / (eps + b1) ** 2
    w2 = 0.3 / (eps + b2) ** 2
    return (w0 * s0 + w1 * s1 + w2 * s2) / (w0 + w1 + w2)


def reconstruct(q):
    """The states on the left and the right of each inner face."""
    left = np.zeros((q.shape[0] - 5, 3))
    right = np.zeros((q.shape[0] - 5, 3))
    for n in range(3):
        left[:, n] = weno(q[:-1, n])
        right[:, n] = weno(q[::-1, n][:-1])[::-1]
    left[:, 0] = np.maximum(left[:, 0], SMALL)
    left[:, 2] = np.maximum(left[:, 2], SMALL)
    right[:, 0] = np.maximum(right[:, 0], SMALL)
    right[:, 2] = np.maximum(right[:, 2], SMALL)
    return left, right


def star_state(q, U, s, sc):
    """The state between an outer wave of speed `s` and the contact of speed `sc`."""
    factor = q[:, 0] * (s - q[:, 1]) / (s - sc)
    out = np.zeros_like(U)
    out[:, RHO] = factor
    out[:, MOM] = factor * sc
    inner = sc + q[:, 2] / (q[:, 0] * (s - q[:, 1]))
    out[:, ENER] = factor * (U[:, ENER] / q[:, 0] + (sc - q[:, 1]) * inner)
    return out


def wave_speeds(gas, ql, qr):
    """The speeds of the left wave, the contact and the right wave, after Toro, section 10.5."""
    cl, cr = gas.sound(ql[:, 0], ql[:, 2]), gas.sound(qr[:, 0], qr[:, 2])
    rho, c = 0.5 * (ql[:, 0] + qr[:, 0]), 0.5 * (cl + cr)
    p = 0.5 * (ql[:, 2] + qr[:, 2]) - 0.5 * (qr[:, 1] - ql[:, 1]) * rho * c
    p = np.maximum(p, 0.0)
    factor = (gas.gamma + 1.0) / (2.0 * gas.gamma)
    kl = np.where(p > ql[:, 2], np.sqrt(1.0 + factor * np.abs(p / ql[:, 2] - 1.0) + SMALL), 1.0)
    kr = np.where(p > qr[:, 2], np.sqrt(1.0 + factor * np.abs(p / qr[:, 2] - 1.0) + SMALL), 1.0)
    sl = ql[:, 1] - cl * kl
    sr = qr[:, 1] + cr * kr
    ml = ql[:, 0] * (sl - ql[:, 1])
    mr = qr[:, 0] * (sr - qr[:, 1])
    sc = (qr[:, 2] - ql[:, 2] + ml * ql[:, 1] - mr * qr[:, 1]) / (ml - mr)
    return sl, sc, sr


def hllc(fluid, ql, qr):
    """The flux through each face."""
    Ul, Ur = fluid.conserved(ql), fluid.conserved(qr)
    Fl, Fr = fluid.flux(ql, Ul), fluid.flux(qr, Ur)
    sl, sc, sr = wave_speeds(fluid.gas, ql, qr)
    Fsl = Fl + sl[:, None] * (star_state(ql, Ul, sl, sc) - Ul)
    Fsr = Fr + sr[:, None] * (star_state(qr, Ur, sr, sc) - Ur)
    F = np.where((sl >= 0.0)[:, None], Fl, Fsl)
    F = np.where((sc < 0.0)[:, None], Fsr, F)
    F = np.where((sr <= 0.0)[:, None], Fr, F)
    return F


def rates(fluid, U):
    """dU/dt on the whole grid, zero in the ghost cells."""
    g = fluid.grid
    fluid.fill(U)
    q = fluid.primitive(U)
    ql, qr = reconstruct(q)
    F = hllc(fluid, ql, qr)
    out = g.scratch()
    out[g.lo : g.hi + 1, :] = -(F[1:, :] - F[:-1, :]) / g.dx
    return out


def advance(fluid, dt):
    """One step of the third-order method of Shu and Osher."""
    U0 = fluid.U.copy()
    k1 = rates(fluid, U0)
    U1 = U0 + dt * k1
    k2 = rates(fluid, U1)
    U2 = 0.75 * U0 + 0.25 * (U1 + dt * k2)
    k3 = rates(fluid, U2)
    fluid.U = (U0 + 2.0 * (U2 + dt * k3)) / 3.0
    fluid.t += dt


def misfit(left, right, seen, steps=3, cfl=0.5):
    """How far the density after some steps is from what was seen."""
    grid = Grid(len(seen))
    fluid = Fluid(grid, Gas(1.4))
    fluid.start(left, right, 0.5)
    for _ in range(steps):
        advance(fluid, fluid.step_size(cfl))
    rho = fluid.U[grid.lo : grid.hi + 1, RHO]
    return np.sum((rho - seen) ** 2) * grid.dx


def shock_tube():
    """Sod's shock tube, and a density that was seen at the end."""
    left, right = np.array([1.0, 0.1, 1.0]), np.array([0.125, 0.0, 0.1])
    return left, right, np.linspace(1.0, 0.2, 32)
