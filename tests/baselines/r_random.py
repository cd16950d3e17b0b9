"""Random numbers of R, for figures that are printed with a seed.

R scrambles the seed with a linear congruential generator, draws with the Mersenne Twister, and
inverts the normal distribution on 53 bits from two draws. Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

_WORD = 2**32


class R:
    """What `set.seed(seed)` begins."""

    def __init__(self, seed):
        words = np.empty(50 + 625, dtype=np.uint32)
        for place in range(words.size):
            seed = (69069 * seed + 1) % _WORD
            words[place] = seed
        self._twister = np.random.MT19937()
        key = {"key": words[51:], "pos": 624}
        self._twister.state = {"bit_generator": "MT19937", "state": key}

    def runif(self, n):
        return self._twister.random_raw(n) * 2.3283064365386963e-10

    def rnorm(self, n):
        draws, big = self.runif(2 * n), 134217728
        return ndtri((np.floor(big * draws[::2]) + draws[1::2]) / big)
