"""The softmax regressions under temperature-bias, vector and matrix scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Floats
from classify.calibration.labelled import Design, blocks


@dataclass(frozen=True, slots=True)
class DiagonalLoss:
    """The mean log loss of softmax(v * x + b), with a ridge on v - 1 and b, for Newton's method.

    Parameters are v and b one after the other (2K,).
    """

    plan: Design
    ridge: Floats
    """(2K,), on the scale of a sum over rows: the loss gains ridge/2 times the square."""

    def __call__(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient (2K,) and Hessian (2K, 2K)."""
        k, n = self.plan.x.shape
        v, b = theta[:k, None], theta[k:, None]
        away = theta - np.repeat([1.0, 0.0], k)
        linear = np.concatenate([self.plan.target_x, self.plan.target_mass])
        loss = 0.5 * float(self.ridge @ (away * away)) - float(linear @ theta)
        gradient, hessian = self.ridge * away - linear, np.diag(self.ridge)
        corner = np.zeros((2, 2, k))
        for block in blocks(n, 2 * k):
            x, w = self.plan.x[:, block], self.plan.weights[block]
            p, log_norm = _softmax(v * x + b)
            loss += float(w @ log_norm)
            both = np.concatenate([p * x, p])
            weighted = both * w
            gradient += weighted.sum(axis=1)
            hessian -= weighted @ both.T
            own = np.einsum("kn,kn->k", weighted[:k], x)
            corner += np.array(
                [[own, weighted[:k].sum(axis=1)], [0.0 * own, weighted[k:].sum(axis=1)]]
            )
        rows = np.arange(k, dtype=np.int64)
        hessian[rows, rows] += corner[0, 0]
        hessian[rows, rows + k] += corner[0, 1]
        hessian[rows + k, rows] += corner[0, 1]
        hessian[rows + k, rows + k] += corner[1, 1]
        return loss / self.plan.total, gradient / self.plan.total, hessian / self.plan.total


@dataclass(frozen=True, slots=True)
class MatrixLoss:
    """The mean log loss of softmax(W x + b), with a ridge towards a centre, for L-BFGS.

    Parameters are W row by row and then b (K*K + K,).
    """

    plan: Design
    target_products: Floats
    """(K, K), the sum over rows of weight * target_k * x_j."""
    ridge: Floats
    centre: Floats

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return loss and gradient."""
        k, n = self.plan.x.shape
        w_matrix, b = theta[: k * k].reshape(k, k), theta[k * k :, None]
        away = theta - self.centre
        linear = np.concatenate([self.target_products.ravel(), self.plan.target_mass])
        loss = 0.5 * float(self.ridge @ (away * away)) - float(linear @ theta)
        gradient = self.ridge * away - linear
        for block in blocks(n, k):
            x, w = self.plan.x[:, block], self.plan.weights[block]
            p, log_norm = _softmax(w_matrix @ x + b)
            loss += float(w @ log_norm)
            p *= w
            gradient[: k * k] += (p @ x.T).ravel()
            gradient[k * k :] += p.sum(axis=1)
        return loss / self.plan.total, gradient / self.plan.total


def _softmax(z: Floats) -> tuple[Floats, Floats]:
    """Return the softmax of (K, n) along the options, and the log of its norm; z is used up."""
    top = z.max(axis=0)
    z -= top
    np.exp(z, out=z)
    norm = z.sum(axis=0)
    z /= norm
    return z, top + np.log(norm)
