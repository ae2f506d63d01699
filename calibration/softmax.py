"""The softmax regressions under temperature-bias, vector and matrix scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Floats
from classify.calibration.labelled import Design, blocks


@dataclass(frozen=True, slots=True)
class SharedSlopeLoss:
    """The mean log loss of softmax(beta * x + b), for Newton's method.

    Parameters are beta and b one after the other (1 + K,).
    """

    plan: Design

    def __call__(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient (1 + K,) and Hessian (1 + K, 1 + K)."""
        k, n = self.plan.x.shape
        beta, b = float(theta[0]), theta[1:]
        goal = float(self.plan.target_x.sum())
        loss = -beta * goal - float(self.plan.target_mass @ b)
        mass, crossed, products = np.zeros(k), np.zeros(k), np.zeros((k, k))
        first = second = 0.0
        for block in blocks(n, k):
            x, root = self.plan.x[:, block], np.sqrt(self.plan.weights[block])
            p, log_norm = _softmax(beta * x + b[:, None])
            loss += float(root @ (root * log_norm))
            # With the root of the weights in each factor, half of the product gives the other half.
            p *= root
            products += p @ p.T
            mass += p @ root
            crossed -= p @ (mean := np.einsum("kn,kn->n", p, x))
            second -= float(mean @ mean)
            first += float(root @ mean)
            p *= x
            crossed += p @ root
            second += float(np.einsum("kn,kn->n", p, x) @ root)
        hessian = np.empty((k + 1, k + 1))
        hessian[0, 0], hessian[0, 1:], hessian[1:, 0] = second, crossed, crossed
        hessian[1:, 1:] = np.diag(mass) - products
        gradient = np.append(first - goal, mass - self.plan.target_mass)
        return loss / self.plan.total, gradient / self.plan.total, hessian / self.plan.total


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
    """The mean log loss of softmax(M x), with a ridge towards a centre, for gradients alone.

    Parameters are the rows of M (K, d) one after the other; the last row of x is all ones, so the
    last column of M holds the biases.
    """

    x: Floats
    """(d, n)."""
    weights: Floats
    target_x: Floats
    """(K, d), the sum over rows of weight * target_k * x_j."""
    ridge: Floats
    """(K, d), on the scale of a sum over rows."""
    centre: Floats
    """(K, d)."""

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return loss and gradient."""
        matrix = theta.reshape(self.centre.shape)
        away = matrix - self.centre
        loss = 0.5 * float((self.ridge * away * away).sum()) - float((self.target_x * matrix).sum())
        gradient = self.ridge * away - self.target_x
        for block in blocks(len(self.weights), len(self.x)):
            x, w = self.x[:, block], self.weights[block]
            p, log_norm = _softmax(matrix @ x)
            loss += float(w @ log_norm)
            p *= w
            gradient += p @ x.T
        total = float(self.target_x[:, -1].sum())
        return loss / total, gradient.ravel() / total

    def curvature(self, theta: Floats) -> Floats:
        """Return the Hessian, estimated from evenly spaced rows where there are very many."""
        k, d = self.centre.shape
        # Thirty rows per parameter give it to a tenth or so; fewer cost more steps than they save.
        every = max(1, len(self.weights) // (30 * k * d))
        x, w = self.x[:, ::every], self.weights[::every]
        p, _ = _softmax(theta.reshape(k, d) @ x)
        hessian = np.zeros((k * d, k * d))
        for block in blocks(len(w), k * d):
            part = p[:, block] * w[block]
            products = (p[:, None, block] * x[None, :, block]).reshape(k * d, -1)
            hessian -= (products * w[block]) @ products.T
            for option in range(k):
                own = slice(option * d, (option + 1) * d)
                hessian[own, own] += (x[:, block] * part[option]) @ x[:, block].T
        total = float(self.target_x[:, -1].sum())
        result: Floats = hessian / w.sum() + np.diag(self.ridge.ravel()) / total
        return result


def _softmax(z: Floats) -> tuple[Floats, Floats]:
    """Return the softmax of (K, n) along the options, and the log of its norm; z is used up."""
    top = z.max(axis=0)
    z -= top
    np.exp(z, out=z)
    norm = z.sum(axis=0)
    z /= norm
    return z, top + np.log(norm)
