"""HSIC Lasso on targets and columns of many kinds: see `experiments.any_data.__main__`."""
