"""How the memory of a selection is shared out."""

from __future__ import annotations

from dataclasses import dataclass

from hsiclasso._memory import free_bytes, in_words, swap_bytes
from hsiclasso.errors import InvalidInputError

__all__ = ["Budget"]

#: Most bytes of a chunk, of the columns that are held, of scaled columns, and of factors. More
#: would not make a selection faster.
_CHUNK, _HELD, _COLUMNS, _FACTORS = (size * 2**20 for size in (32, 256, 512, 512))
#: Fewest bytes of a chunk, and its share of a limit.
_LEAST_CHUNK, _PARTS = 2**20, 64
#: Number of chunks that are read ahead of those that threads work on.
AHEAD = 1
#: A chunk takes this many times its size while it is decoded.
_DECODING = 2
#: Bytes that a thread works in, and bytes of the solver and of small objects.
_THREAD_BYTES, _SMALL = 48 * 2**20, 64 * 2**20
#: Least bytes of a cache, and most rows of factors that are kept beside the caches.
_SMALL_CACHE, _KEPT_ROWS = 32 * 2**20, 2048
#: Bytes of the results of one feature.
_RESULT = 64
#: Fewest columns that must fit.
_LEAST_COLUMNS = 8


@dataclass(frozen=True)
class Budget:
    """Sizes in bytes of what a selection keeps in memory, beside the table and the target."""

    #: A chunk of columns that is read at once from a table that is not in memory.
    chunk: int = _CHUNK
    #: Columns that may be selected, held while chunks are read.
    held: int = _HELD
    #: Columns on the scale of their kernels.
    columns: int = _COLUMNS
    #: Factors of columns.
    factors: int = _FACTORS
    #: Number of threads.
    n_threads: int = 1
    #: Rows of all features in a scan of pairs, before caches of columns and factors are filled;
    #: None for half of the memory that is free then.
    stacked: int | None = None

    @classmethod
    def within(
        cls, limit: int | None, n_samples: int, n_features: int, n_threads: int, table: int = 0
    ) -> Budget:
        """Share out a number of bytes; by default half of the memory that is free.

        A table that is yet to be loaded takes `table` bytes of it, at most half. The size of a
        chunk depends on `limit` only: a pass that is continued elsewhere has the same chunks. If
        there is little memory, there are fewer threads.

        Raises
        ------
        InvalidInputError
            If not even a few columns would fit; without a limit, in all memory that is free.
        """
        total = (free_bytes() - table) // 2 if limit is None else limit - table
        chunk = _CHUNK if limit is None else min(_CHUNK, max(limit // _PARTS, _LEAST_CHUNK))
        least = 8 * _LEAST_COLUMNS * 8 * n_samples
        fixed = _SMALL + _RESULT * n_features
        each = _THREAD_BYTES + _DECODING * chunk
        rest = total - fixed - (AHEAD + 1) * _DECODING * chunk - each
        if rest < least and limit is None:
            _check_free(n_samples, n_features, least + table)
            rest = least  # there is no limit to keep, and it may still fit
        elif rest < least:
            needed = _least_limit(fixed + _THREAD_BYTES + least, 2 if table else 1)
            raise InvalidInputError(
                f"memory_limit={in_words(total + table)} is too little for {n_samples:,} samples "
                f"and {n_features:,} features: allow {in_words(needed)} or more."
            )
        # threads may take half of what is left, columns and factors share the other half
        more = min(n_threads - 1, rest // 2 // each)
        rest -= more * each
        return cls(
            chunk,
            min(_HELD, rest // 3),
            min(_COLUMNS, rest // 4),
            min(_FACTORS, rest // 3),
            1 + int(more),
            None if limit is None else int(rest // 4 + rest // 3),
        )

    def bound(self, n_samples: int, n_features: int) -> int:
        """Return the most bytes that are in use at once, beside the table and the target.

        A small table needs less than what is allowed.
        """
        table = 8 * n_samples * n_features
        chunks = _DECODING * min((self.n_threads + AHEAD + 1) * self.chunk, table)
        columns = min(self.columns, max(_SMALL_CACHE, table // 8))
        factors = min(self.factors, max(2 * _SMALL_CACHE, table // 8) + _KEPT_ROWS * 8 * n_samples)
        kept = min(self.held, table) + columns + factors
        return chunks + kept + self.n_threads * _THREAD_BYTES + _SMALL + _RESULT * n_features


def _check_free(n_samples: int, n_features: int, beside: int) -> None:
    """Raise if results and `beside` bytes do not fit in all memory that is free."""
    needed, free = beside + _RESULT * n_features, free_bytes() + swap_bytes()
    if needed > free:
        raise InvalidInputError(
            f"{in_words(free)} of memory are free, but a selection from {n_samples:,} samples and "
            f"{n_features:,} features needs {in_words(needed)} or more: use a machine with more "
            "memory, or leave out columns. With memory_limit it begins in any case."
        )


def _least_limit(beside: int, times: int) -> float:
    """Return the least limit of which one of `times` equal parts is enough for a selection.

    The table takes the other parts. The selection needs `beside` bytes and a few chunks, whose
    size grows with the limit.
    """
    chunks = _DECODING * (AHEAD + 2)
    return min(times * (beside + chunks * _CHUNK), beside / (1 / times - chunks / _PARTS))
