"""Plain, slow versions of the learners, step by step as in the papers, on dense matrices."""

from __future__ import annotations

import numpy as np

MASK = (1 << 64) - 1


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def combine(seed, value):
    return mix((seed * 0x9E3779B97F4A7C15 + value + 1) & MASK)


class Random:
    def __init__(self, seed):
        self.seed, self.n = seed, 0

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = (combine(self.seed, self.n) >> 32) * i >> 32
            self.n += 1
            items[i - 1], items[j] = items[j], items[i - 1]


class Visits:
    """A random order fixed once; each pass walks runs of 16 active rows of it, the runs in random order."""

    def __init__(self, n, seed):
        self.random, self.active = Random(seed), list(range(n))
        self.random.shuffle(self.active)

    def walk(self, visit):
        runs = [self.active[at : at + 16] for at in range(0, len(self.active), 16)]
        turns = list(range(len(runs)))
        self.random.shuffle(turns)
        kept = {turn: [i for i in runs[turn] if visit(i)] for turn in turns}
        self.active = [i for turn in range(len(runs)) for i in kept[turn]]


def psl(rows, labels, delta, step, n_passes, seed=0, average=False):
    """NI11 Table 2; returns weights (features, classes) and the mean loss of each pass."""
    random, order = Random(seed), list(range(len(rows)))
    weights = np.zeros((rows.shape[1], len(delta)))
    total, losses, n_visits = np.zeros_like(weights), [], 0
    for _ in range(n_passes):
        random.shuffle(order)
        loss = 0.0
        for n in order:
            scores = np.zeros(len(delta))
            for feature in np.flatnonzero(rows[n]):  # in this order: what a tie is depends on the last bit
                scores = scores + rows[n, feature] * weights[feature]
            candidates = delta[labels[n]] + scores
            best = int(np.argmax(candidates))
            own = scores[labels[n]]
            if own < candidates[best]:
                loss += candidates[best] - own
                weights[:, labels[n]] += step * rows[n]
                weights[:, best] -= step * rows[n]
            total += weights
            n_visits += 1
        losses.append(loss / len(rows))
    return (total / n_visits if average else weights), losses


def dual_weights(rows, labels, alpha, variance):
    """AL14 eq. 10."""
    return variance * rows.T @ (np.eye(alpha.shape[1])[labels] - alpha)


def dual(rows, labels, alpha, variance):
    """AL14 eq. 9."""
    weights = dual_weights(rows, labels, alpha, variance)
    return (weights**2).sum() / (2 * variance) + (alpha * np.log(alpha)).sum()


def primal(rows, labels, weights, variance):
    """AL14 eq. 6."""
    scores = rows @ weights
    top = scores.max(axis=1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return (weights**2).sum() / (2 * variance) - logs[np.arange(len(rows)), labels].sum()


def dual_eg(rows, labels, n_classes, variance, epsilon, initial, max_trials, n_passes, seed=0):
    """AL14 Algorithm 1 with D computed again for every trial; returns α, D by pass and the active rows by pass."""
    n = len(rows)
    alpha = np.full((n, n_classes), initial / (n_classes - 1))
    alpha[np.arange(n), labels] = 1 - initial
    visits = Visits(n, seed)
    values, sizes = [], []

    def visit(i):
        scores = rows[i] @ dual_weights(rows, labels, alpha, variance)
        gradient = 1 + np.log(alpha[i]) + scores[labels[i]] - scores
        if gradient.max() - gradient.min() <= epsilon:
            return False
        eta, before = 0.5, dual(rows, labels, alpha, variance)
        for _ in range(max_trials):
            power = alpha[i] * np.exp(-eta * (gradient - gradient.min()))
            trial = alpha.copy()
            trial[i] = power / power.sum()
            if dual(rows, labels, trial, variance) - before <= 1e-14:
                alpha[i] = trial[i]
                break
            eta /= 2
        return True

    for _ in range(n_passes):
        if not visits.active:
            break
        sizes.append(len(visits.active))
        visits.walk(visit)
        values.append(dual(rows, labels, alpha, variance))
    return alpha, values, sizes
