"""What chunks of columns must be, whoever cuts them."""

from __future__ import annotations

import numpy as np


def assert_cover(chunks, n_features):
    """Assert that adjacent chunks cover all columns, in order."""
    assert [chunk.start for chunk in chunks[1:]] == [chunk.stop for chunk in chunks[:-1]]
    assert (chunks[0].start, chunks[-1].stop) == (0, n_features)


def assert_loads(source, size, array, letter="x"):
    """Assert that chunks of a size cover an array, and load its columns with their names."""
    chunks = source.chunks(size)
    assert_cover(chunks, array.shape[1])
    for chunk in chunks:
        part = source.load(chunk)
        assert part.in_memory
        assert [part.name(k) for k in range(part.n_features)] == [
            f"{letter}{j}" for j in range(chunk.start, chunk.stop)
        ]
        np.testing.assert_array_equal(part.block(slice(None)), array[:, chunk])
