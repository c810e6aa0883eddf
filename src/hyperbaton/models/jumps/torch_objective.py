"""The objective of PAIR and SEQUENCE in PyTorch, on a CPU or a GPU, with the core's feature lists and optimum.

This file needs only NumPy and PyTorch. The features of all lists (see `TorchLists`) are a sparse binary matrix M of lists ×
features:

    sums of lists = M · w                gradient by w = Mᵀ · (gradient by sums)

Both products are gathers: the rows of M, and those of Mᵀ, are split into pieces of at most 32 entries, padded to a few
widths, so that pieces of one width form a rectangle whose gathered values are added along one side. Every sum has a fixed
order. Between the two products, sentences of one length form a batch, and running sums give all jumps.

Sentences are grouped in blocks with about the same number of features. The rectangles of a block stay on the device while
there is room; the others are rebuilt in every pass, from lists that may be in mapped files, so that no text is too large.
The lists of the next block are copied to a GPU while it multiplies those of the current one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from hyperbaton.base.arrays import Array

N_CONSTANTS = 8
NEVER = np.iinfo(np.int64).max
N_DISTANCES = 3
_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32)
# Values gathered at once: limits memory.
_GATHERED = 1 << 25
# Approximate number of features of a block. It must be the same on every machine, since sums of blocks are rounded.
_BLOCK = 1 << 26
# Vectors of weights that L-BFGS needs on the device besides its steps, and bytes needed while a block is built.
_VECTORS = 10
_MAKING = 72 * _BLOCK
# Threads that read lists from files or memory for a GPU.
_READERS = 4


class TorchLists(NamedTuple):
    """Features of sentences, sorted by length; the layout of the core's `JumpLists`.

    For each sentence of n words: the unary features of CP 0 … n for o = 0 and 1; of NP 1 … n + 1 for o = 0 and 1; the
    binary features of (CP, NP), row by row. `next[s]` has the NP of CP 0 … n of sentence s, 0 where there is none.
    """

    lengths: Array  # (n_sentences,), increasing
    counts: Array | Tensor  # (n_lists,): features of each list
    ids: Array | Tensor  # (Σ counts,); may be a mapped file
    next: Array  # (Σ (n + 1),)
    n_features: int
    # (Σ (n + 1)): when BOS and each word is visited, NEVER for unvisited words; for models over the remaining words.
    when: Array | None = None


class SparseSums:
    """A sparse binary matrix as rectangles of indices; multiplies a dense matrix from the left.

    A row of more than 32 entries is split into full pieces of 32, whose sums are added by another such matrix, and a
    remainder.
    """

    def __init__(self, counts: Tensor, columns: Tensor, n_columns: int) -> None:
        """`columns` are those of the entries, row by row, `counts` entries in each row."""
        device = columns.device
        counts = counts.long()
        self.n_rows, self.n_columns = len(counts), n_columns
        starts = torch.cumsum(counts, 0) - counts
        widest = _WIDTHS[-1]
        n_whole, rest = counts // widest, counts % widest
        self.rests: list[tuple[Tensor, Tensor]] = []  # rows, and the columns of their remainders
        narrower = 0
        for width in _WIDTHS:
            rows = torch.nonzero((rest > narrower) & (rest <= width)).flatten()
            first = starts[rows] + n_whole[rows] * widest
            for part in _parts(len(rows), width):
                self.rests.append((rows[part], self._rectangle(first[part], rest[rows[part]], width, columns)))
            narrower = width
        self.long_rows = torch.nonzero(n_whole).flatten()
        self.pieces: list[Tensor] = []  # columns of the full pieces of all long rows
        if len(self.long_rows):
            n_pieces = n_whole[self.long_rows]
            total = int(n_pieces.sum())
            before = torch.repeat_interleave(torch.cumsum(n_pieces, 0) - n_pieces, n_pieces)
            nth = torch.arange(total, device=device) - before
            first = torch.repeat_interleave(starts[self.long_rows], n_pieces) + nth * widest
            for part in _parts(total, widest):
                self.pieces.append(self._rectangle(first[part], torch.full_like(first[part], widest), widest, columns))
            self.of_pieces = SparseSums(n_pieces, torch.arange(total, device=device, dtype=torch.int32), total)

    def _rectangle(self, first: Tensor, n: Tensor, width: int, columns: Tensor) -> Tensor:
        within = torch.arange(width, device=columns.device)
        where = (first[:, None] + within).clamp_(max=len(columns) - 1)
        # After the last entry comes the padding row, which is zero.
        return columns[where].to(torch.int32).masked_fill_(within >= n[:, None], self.n_columns)

    @property
    def n_bytes(self) -> int:
        """The memory of the indices."""
        total: int = self.of_pieces.n_bytes if self.pieces else 0
        total += sum(rows.nbytes + index.nbytes for rows, index in self.rests)
        total += sum(index.nbytes for index in self.pieces)
        return total

    def __call__(self, dense: Tensor) -> Tensor:
        """(n_columns, planes) → (n_rows, planes)."""
        padded = torch.cat([dense, dense.new_zeros(1, dense.shape[1])])
        result = dense.new_zeros(self.n_rows, dense.shape[1])
        for rows, index in self.rests:
            result[rows] = _gathered_sums(padded, index)
        if self.pieces:
            sums = torch.cat([_gathered_sums(padded, index) for index in self.pieces])
            result[self.long_rows] += self.of_pieces(sums)
        return result


def _parts(n: int, width: int) -> list[slice]:
    """Rows of a rectangle, in groups small enough to limit memory."""
    most = max(1, _GATHERED // width)
    return [slice(begin, min(begin + most, n)) for begin in range(0, n, most)]


def _gathered_sums(padded: Tensor, index: Tensor) -> Tensor:
    return torch.index_select(padded, 0, index.flatten()).view(*index.shape, -1).sum(1)


class _Matrices(NamedTuple):
    """M of a block, and Mᵀ without the rows of absent features."""

    sums: SparseSums
    features: Tensor  # of the rows of `transposed`
    transposed: SparseSums

    @classmethod
    def of(cls, counts: Tensor, ids: Tensor, n_features: int) -> _Matrices:
        sums = SparseSums(counts, ids, n_features)
        by_feature, order = torch.sort(ids, stable=True)
        features, n_of = torch.unique_consecutive(by_feature, return_counts=True)
        del by_feature
        numbers = torch.arange(len(counts), device=ids.device, dtype=torch.int32)
        of_list = torch.repeat_interleave(numbers, counts.long())[order]
        return cls(sums, features.long(), SparseSums(n_of, of_list, len(counts)))

    @property
    def n_bytes(self) -> int:
        total: int = self.sums.n_bytes + self.features.nbytes + self.transposed.n_bytes
        return total


@dataclass
class _Batch:
    """Sentences of n words: their lists are [begin, end) of those of their block."""

    n: int
    size: int
    begin: int
    end: int
    true: Tensor  # (n_jumps,): place of each jump made among the size · (n + 1)² jumps
    rows: Tensor  # (n_jumps,): its row among size · (n + 1)
    when: Tensor | None  # (size, n + 1): as in Lists

    def excluded(self) -> Tensor | None:
        """Whether NP is already visited at CP, (size, CP, NP), in rows of visited CPs; None if nothing is excluded."""
        if self.when is None:
            return None
        here = self.when[:, :, None]
        following = torch.cat([self.when[:, 1:], torch.full_like(self.when[:, :1], NEVER)], 1)
        return (following[:, None] <= here) & (here != NEVER)


@dataclass
class _Block:
    """Sentences whose lists are multiplied together."""

    counts: Array | Tensor
    ids: Array | Tensor
    batches: list[_Batch]
    kept: _Matrices | None = None


class _Sender:
    """Provides the lists of blocks, counts and features, on the device; those of the next block are copied ahead."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.staged: dict[torch.dtype, Tensor] = {}  # pinned memory

    def each(self, blocks: list[_Block]) -> Iterator[tuple[Tensor, Tensor]]:
        """The lists of each block."""
        if self.device.type != "cuda":
            for block in blocks:
                yield _tensor(block.counts).to(self.device), _tensor(block.ids).to(self.device)
            return
        stream = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        with ThreadPoolExecutor(1) as sender, ThreadPoolExecutor(_READERS) as readers:
            coming = None
            for block in blocks:
                ready, coming = coming, sender.submit(self._send, block, stream, readers)
                if ready is not None:
                    yield self._received(*ready.result())
            if coming is not None:
                yield self._received(*coming.result())

    def _send(self, block: _Block, stream: torch.cuda.Stream, readers: ThreadPoolExecutor) -> tuple[Tensor, Tensor]:
        with torch.cuda.stream(stream):
            counts = self._staged(block.counts, readers).to(self.device, non_blocking=True)
            ids = self._staged(block.ids, readers).to(self.device, non_blocking=True)
            stream.synchronize()
        return counts, ids

    def _staged(self, array: Array | Tensor, readers: ThreadPoolExecutor) -> Tensor:
        """Copy the values to pinned memory, which is reused for the next block."""
        if isinstance(array, Tensor):
            return array
        dtype, n = _tensor(array[:0]).dtype, len(array)
        room = self.staged.get(dtype)
        if room is None or len(room) < n:
            room = self.staged[dtype] = torch.empty(n, dtype=dtype, pin_memory=True)
        target = room.numpy().view(array.dtype)
        cuts = [n * at // _READERS for at in range(_READERS + 1)]
        parts = [slice(begin, end) for begin, end in pairwise(cuts)]
        list(readers.map(lambda part: np.copyto(target[part], array[part]), parts))
        return room[:n]

    @staticmethod
    def _received(counts: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Mark tensors of another stream, whose memory must not be reused before this stream is done with them."""
        for tensor in (counts, ids):
            tensor.record_stream(torch.cuda.current_stream(tensor.device))
        return counts, ids


def _tensor(array: Array | Tensor) -> Tensor:
    if isinstance(array, Tensor):
        return array
    plain = np.array(array)  # PyTorch cannot take a mapped file
    return torch.from_numpy(plain.view(np.int32) if plain.dtype == np.uint32 else plain)


class TorchObjective:
    """−Σ log P(NP | CP) over all jumps, and its gradient.

    `room`: bytes of device memory for matrices; None for no limit.
    """

    def __init__(
        self,
        lists: TorchLists,
        planes: int,
        device: str = "cpu",
        dtype: torch.dtype = torch.float64,
        *,
        room: int | None = None,
        block: int = _BLOCK,
    ) -> None:
        if planes not in (1, 3):
            raise ValueError("a feature has one weight or three")
        self.planes, self.device, self.dtype = planes, torch.device(device), dtype
        self.n_features, self.room = lists.n_features, room
        self.sender = _Sender(self.device)
        self.blocks = list(self._cut(lists, block))
        lengths = {batch.n for block in self.blocks for batch in block.batches}
        self.grids = {n: _grid(n, self.device) for n in lengths}

    def _cut(self, lists: TorchLists, largest: int) -> Iterator[_Block]:
        """Group sentences of one length into batches, and batches into blocks."""
        counts, ids = lists.counts, lists.ids
        batches: list[_Batch] = []
        first = first_id = begin = end = n_ids = 0
        lengths, sizes = np.unique(lists.lengths, return_counts=True)
        for n, size in zip(lengths.tolist(), sizes.tolist(), strict=True):
            side = n + 1
            # A batch has about as many numbers as a gather.
            most = max(1, _GATHERED // (4 * side * side * self.planes))
            for start in range(0, size, most):
                part = min(most, size - start)
                n_lists = part * (4 * side + side * side)
                n_more = int(counts[end : end + n_lists].sum())
                if batches and n_ids + n_more > largest:
                    yield _Block(counts[begin:end], ids[first_id : first_id + n_ids], batches)
                    batches, begin, first_id, n_ids = [], end, first_id + n_ids, 0
                following = np.asarray(lists.next[first : first + part * side])
                jumping = np.flatnonzero(following)
                place = jumping * side + following[jumping] - 1
                when = None if lists.when is None else lists.when[first : first + part * side].reshape(part, side)
                true, rows = (torch.from_numpy(x).to(self.device) for x in (place, jumping))
                visits = None if when is None else torch.from_numpy(when).to(self.device)
                batches.append(_Batch(n, part, end - begin, end - begin + n_lists, true, rows, visits))
                end, first, n_ids = end + n_lists, first + part * side, n_ids + n_more
        yield _Block(counts[begin:end], ids[first_id : first_id + n_ids], batches)

    def _multiplied(self) -> Iterator[tuple[_Block, _Matrices]]:
        """The blocks with their matrices: cached, or built now, and cached if there is room."""
        lists = self.sender.each([block for block in self.blocks if block.kept is None])
        for block in self.blocks:
            if block.kept is None:
                made = _Matrices.of(*next(lists), self.n_features)
                if self.room is None or made.n_bytes <= self.room:
                    block.kept = made
                    self.room = None if self.room is None else self.room - made.n_bytes
            else:
                made = block.kept
            yield block, made
            self._return_memory()

    def _return_memory(self) -> None:
        """Release cached memory: PyTorch keeps freed memory for arrays of the same size, but blocks differ in size."""
        if self.device.type == "cuda" and self.room is not None:
            unused = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
            if unused > _MAKING:
                torch.cuda.empty_cache()

    def __call__(self, weights: Tensor) -> tuple[float, Tensor]:
        """The sum, and its gradient; weights of shape (n_features, planes), constants first."""
        losses = []

        def slope_of(batch: _Batch, sums: Tensor) -> Tensor:
            logprobs = self._logprobs(batch, weights, sums)
            losses.append(-logprobs.reshape(-1)[batch.true].sum())
            slope = torch.zeros_like(logprobs).view(-1, batch.n + 1)
            slope[batch.rows] = torch.exp(logprobs.view(-1, batch.n + 1)[batch.rows])
            slope.view(-1)[batch.true] -= 1
            return slope.view_as(logprobs)

        gradient = self._gradient(slope_of, weights)
        return float(torch.stack(losses).double().sum()), gradient

    def logprobs(self, weights: Tensor) -> Iterator[tuple[_Batch, Tensor]]:
        """log P(NP | CP) of all jumps, batch by batch: (size, CP, NP)."""
        for block, matrices in self._multiplied():
            sums = matrices.sums(weights)
            for batch in block.batches:
                yield batch, self._logprobs(batch, weights, sums)

    def curvature(self) -> Tensor:
        """An estimate of the Hessian's diagonal: that of each weight on its own if all jumps are equally likely."""

        def flat(batch: _Batch, sums: Tensor) -> Tensor:
            side, excluded = batch.n + 1, batch.excluded()
            part = torch.full((batch.size, side, side), 1 / max(1, batch.n), dtype=self.dtype, device=self.device)
            if excluded is not None:
                part[:] = 1 / (side - excluded.sum(2, keepdim=True))
                part.masked_fill_(excluded, 0)
            values = torch.zeros(batch.size * side, side, dtype=self.dtype, device=self.device)
            values[batch.rows] = (part * (1 - part)).view(-1, side)[batch.rows]
            return values.view(batch.size, side, -1).masked_fill(self.grids[batch.n][2], 0)

        result = self._gradient(flat, None)
        if self.planes == 3:
            result[:, 1] *= 2
        return result

    def _gradient(self, slope_of: Callable[[_Batch, Tensor], Tensor], weights: Tensor | None) -> Tensor:
        """From derivatives with respect to the scores (size, CP, NP) of each batch to those with respect to the weights.

        `slope_of` gets the sums of lists of the batch's block at the weights, if there are weights.
        """
        gradient = torch.zeros(self.n_features, self.planes, dtype=self.dtype, device=self.device)
        constants = torch.zeros(2, N_DISTANCES, self.planes, dtype=self.dtype, device=self.device)
        for block, matrices in self._multiplied():
            sums = gradient[:0] if weights is None else matrices.sums(weights)
            derivatives = torch.empty(matrices.sums.n_rows, self.planes, dtype=self.dtype, device=self.device)
            for batch in block.batches:
                side = batch.n + 1
                out = derivatives[batch.begin : batch.end].view(batch.size, 4 * side + side * side, self.planes)
                self._back_to_lists(batch, slope_of(batch, sums), out, constants)
            # Each feature occurs once, so every sum has a fixed order.
            gradient[matrices.features] += matrices.transposed(derivatives)
        gradient[:2] += constants.sum(1)
        gradient[2:N_CONSTANTS] += constants.reshape(-1, self.planes)
        return gradient

    def _back_to_lists(self, batch: _Batch, slope: Tensor, out: Tensor, constants: Tensor) -> None:
        """Derivatives with respect to the sums of lists, into `out`, and with respect to the constants, added."""
        side = batch.n + 1
        back, distance, own = self.grids[batch.n]
        cells = self._back(slope, back, own)
        out[:, 4 * side :] = cells.reshape(batch.size, side * side, self.planes)
        for o in (0, 1):
            here = cells * ((back == o) & ~own)[..., None]
            out[:, o : 2 * side : 2] = here.sum(2)
            out[:, 2 * side + o : 4 * side : 2] = here.sum(1)
            total = here.sum(0)
            for d in range(N_DISTANCES):
                constants[o, d] += (total * (distance == d)[..., None]).sum((0, 1))

    def _logprobs(self, batch: _Batch, weights: Tensor, sums: Tensor) -> Tensor:
        """(size, CP, NP): normalised over all but the CP, or over the remaining words."""
        scores, excluded = self._scores(batch, weights, sums), batch.excluded()
        return torch.log_softmax(scores if excluded is None else scores.masked_fill(excluded, -torch.inf), 2)

    def _scores(self, batch: _Batch, weights: Tensor, sums: Tensor) -> Tensor:
        """(size, CP, NP): eq. 1, or eq. 2 by running sums away from the CP and from the NP."""
        side = batch.n + 1
        back, distance, own = self.grids[batch.n]
        mine = sums[batch.begin : batch.end].view(batch.size, 4 * side + side * side, self.planes)
        left = mine[:, : 2 * side].view(batch.size, side, 1, 2, self.planes)
        right = mine[:, 2 * side : 4 * side].view(batch.size, 1, side, 2, self.planes)
        fixed = weights[:2, None] + weights[2:N_CONSTANTS].view(2, N_DISTANCES, self.planes)
        both = left + right
        cells = mine[:, 4 * side :].view(batch.size, side, side, self.planes) + fixed[back, distance]
        cells = cells + torch.where(back.bool()[..., None], both[..., 1, :], both[..., 0, :])
        if self.planes == 1:
            return cells[..., 0].masked_fill(own, -torch.inf)
        ahead, behind = (back == 0) & ~own, back == 1
        a, b, c = cells.unbind(-1)
        runs = _before(a * ahead, 2) * ahead + _after(a * behind, 2) * behind
        runs += _after(c * ahead, 1) * ahead + _before(c * behind, 1) * behind
        return (2 * b + runs).masked_fill(own, -torch.inf)

    def _back(self, slope: Tensor, back: Tensor, own: Tensor) -> Tensor:
        """Derivatives with respect to cells: each running sum in reverse."""
        if self.planes == 1:
            return slope[..., None]
        ahead, behind = (back == 0) & ~own, back == 1
        forward, backward = slope * ahead, slope * behind
        a = _after(forward, 2) * ahead + _before(backward, 2) * behind
        c = _before(forward, 1) * ahead + _after(backward, 1) * behind
        return torch.stack([a, 2 * slope, c], -1)


def _grid(n: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """o, d and whether NP is the CP, of all jumps (CP, NP) of a sentence of n words."""
    i, j = torch.arange(n + 1, device=device)[:, None], torch.arange(1, n + 2, device=device)[None]
    distance = (i - j).abs()
    return (i > j).long(), (distance > 1).long() + (distance > 5).long(), i == j


def _before(values: Tensor, dim: int) -> Tensor:
    """The sum of all values before each one."""
    return torch.cumsum(values, dim) - values


def _after(values: Tensor, dim: int) -> Tensor:
    """The sum of all values after each one."""
    return values.sum(dim, keepdim=True) - torch.cumsum(values, dim)


def free_room(n_weights: int, n_steps: int, device: str) -> int | None:
    """The GPU memory that L-BFGS leaves for matrices; None on a CPU, which has no separate memory."""
    if torch.device(device).type != "cuda":
        return None
    free: int = torch.cuda.mem_get_info(device)[0]
    return max(0, free - (8 * _VECTORS + 2 * 4 * n_steps) * n_weights - _MAKING)
