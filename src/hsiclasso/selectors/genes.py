"""Selecting genes of an AnnData object, with the result written into it as scanpy does."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from hsiclasso.data import as_dataset, is_anndata, open_anndata
from hsiclasso.data.anndata_out import annotated_copy, gene_names
from hsiclasso.data.layout import quoted
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.auto import AUTO, inference
from hsiclasso.selectors.estimators import HSICLasso, LassoSelector

__all__ = ["save_genes", "select_genes"]

Array = np.ndarray[Any, Any]


def select_genes(
    adata: Any,
    target: Any,
    *,
    n_genes: int | Literal["auto"] | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    covariates: Any = None,
    key_added: str = "hsiclasso",
    selector: Any = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Select the genes that an annotation of the cells depends on.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells by genes, in memory or backed; also a view, which becomes an object of its own.
    target : str, list of str or array-like
        Column of `adata.obs`, such as the cell type, a gene, or a value for each cell.
    n_genes : int or "auto", default=None
        Number of genes; None is 20, or what `options` or `selector` say. ``"auto"`` finds it by
        tests, as in `HSICLasso`.
    layer : str, optional
        Layer to take the values from, in place of `adata.X`.
    use_raw : bool, default=False
        Whether to take the values and genes of `adata.raw`.
    covariates : str, list of str or Covariates, optional
        Columns of `adata.obs` whose influence is removed, such as the batch.
    key_added : str, default="hsiclasso"
        First part of the names of what is written.
    selector : HSICLasso, NOCCOLasso, EmbeddingLasso or ControlledSelection, optional
        A selector with its parameters, in place of `options`. It is not changed.
    copy : bool, default=False
        Whether to write into a copy, and return it.
    **options
        Parameters of `HSICLasso`, such as ``alpha``, ``penalty`` or ``missing``.

    Returns
    -------
    AnnData or None
        None, unless `copy` is True. This is written:

        - ``var["hsiclasso_selected"]``: whether a gene is selected.
        - ``var["hsiclasso_weight"]``: its weight, 0 if it is not selected.
        - ``var["hsiclasso_rank"]``: 1 for the largest weight, NaN if it is not selected.
        - ``var["hsiclasso_relevance"]``: dependence of the target on this gene alone.
        - ``var["hsiclasso_q_value"]``: level at which tests find a gene; only if there are tests.
        - ``uns["hsiclasso"]``: names, weights, parameters and the certificate.

        With `use_raw`, genes of `var` that are not in `raw` are not selected, and their relevance
        is NaN.

    Examples
    --------
    >>> select_genes(adata, "bulk_labels", n_genes=10, covariates="batch")  # doctest: +SKIP
    >>> adata.var["hsiclasso_rank"].nsmallest(3)  # doctest: +SKIP
    """
    _check_object(adata, copy)
    chosen = _selector(selector, n_genes, covariates, options)
    data = as_dataset(open_anndata(adata, layer=layer, raw=use_raw), target)
    chosen.fit(data.source, data.y)
    names = [str(name) for name in adata.var_names]
    columns = _columns(chosen, names, key_added)
    made = adata.copy() if copy else adata
    # one assignment, so that either all columns are there or none, and a view becomes an object
    made.var = made.var.assign(**columns)
    about = {"layer": layer, "use_raw": use_raw, "target": data.target}
    made.uns[key_added] = _summary(chosen, about)
    return made if copy else None


def save_genes(
    selector: LassoSelector,
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    about: Mapping[str, Any],
    key_added: str = "hsiclasso",
) -> None:
    """Write a copy of an ``.h5ad`` file with the result, as `select_genes` writes it.

    Parameters
    ----------
    selector : HSICLasso
        Fitted to the file.
    path, out : path-like
        The file, and the copy.
    about : mapping
        What the selector does not know: the names in `target`, the `layer`, and `use_raw`.
    key_added : str
        First part of the names of what is written.
    """
    columns = _columns(selector, gene_names(path), key_added)
    annotated_copy(path, out, columns, {key_added: _summary(selector, about)})


def _check_object(adata: Any, copy: bool) -> None:
    if not is_anndata(adata):
        raise InvalidInputError(
            f"adata is a {type(adata).__name__}, but the result is written into an AnnData object: "
            "read one with anndata.read_h5ad(file, backed='r'), or use HSICLasso().fit(file, ...)."
        )
    if copy and getattr(adata, "isbacked", False):
        raise InvalidInputError(
            "copy=True, but adata is backed by a file, and a copy would need another file: pass "
            "copy=False, which changes adata.var in memory only, or adata.to_memory()."
        )
    if not hasattr(adata.var, "assign"):
        raise InvalidInputError(
            f"adata.var is a {type(adata.var).__name__}, to which nothing can be added: pass "
            "adata.to_memory(), or use HSICLasso().fit(adata, ...)."
        )


def _selector(selector: Any, n_genes: Any, covariates: Any, options: Mapping[str, Any]) -> Any:
    """Return a selector with all that the user asks for."""
    if selector is not None and options:
        raise InvalidInputError(
            f"selector and {quoted(list(options))} both give parameters: set them on the selector."
        )
    given: dict[str, Any] = dict(options)
    if covariates is not None:
        given["covariates"] = [covariates] if isinstance(covariates, str) else covariates
    if n_genes is not None:
        given["n_features_to_select"] = n_genes
    if isinstance(selector, inference().ControlledSelection):
        return _controlled(selector, given)
    if selector is not None and not isinstance(selector, LassoSelector):
        raise InvalidInputError(
            f"selector={selector!r} gives genes no weights: pass HSICLasso, NOCCOLasso, "
            "EmbeddingLasso or ControlledSelection, or fit it to the AnnData object itself."
        )
    if selector is not None:
        return clone(selector).set_params(**given)
    if given.get("alpha") is None:
        given.setdefault("n_features_to_select", 20)
    return HSICLasso(**given)


def _controlled(selector: Any, given: dict[str, Any]) -> Any:
    """Return a `ControlledSelection` with parameters of the selector within it."""
    number = given.pop("n_features_to_select", AUTO)
    if number != AUTO:
        raise InvalidInputError(
            f"n_genes={number}, but ControlledSelection finds out how many genes there are by "
            "tests: leave n_genes out, or pass its selector alone."
        )
    inner = HSICLasso() if selector.selector is None else clone(selector.selector)
    return clone(selector).set_params(selector=inner.set_params(**given))


def _columns(selector: LassoSelector, names: Sequence[str], key: str) -> dict[str, Array]:
    """Return the columns of `var` for genes of these names."""
    place = {str(name): j for j, name in enumerate(selector.feature_names_in_)}
    known = np.array([place.get(name, -1) for name in names])
    absent = sorted(set(selector.feature_names_in_[selector.selected_]) - set(names))
    if absent:
        warnings.warn(
            f"{len(absent)} of the selected genes are in raw only, not in var ({quoted(absent)}): "
            f"uns[{key!r}]['names'] lists all that are selected.",
            UserWarning,
            stacklevel=3,
        )
    rank = np.full(selector.n_features_in_, np.nan)
    for number, feature in enumerate(selector.result_.features, start=1):
        rank[[place[name] for name in feature.columns]] = number
    fields = {
        "selected": (~np.isnan(rank), False),
        "weight": (selector.coef_, 0.0),
        "rank": (rank, np.nan),
        "relevance": (selector.relevance_, np.nan),
    }
    if hasattr(selector, "q_values_"):
        fields["q_value"] = (selector.q_values_, np.nan)
    return {
        f"{key}_{name}": np.where(known < 0, fill, values[known])
        for name, (values, fill) in fields.items()
    }


def _summary(selector: LassoSelector, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `uns` gets: only what anndata can write to a file."""
    from hsiclasso import __version__

    result = selector.result_
    method, data, solution = result.method, result.data, result.solution
    params = {
        "target": ", ".join(about["target"]) or "values",
        "matrix": "raw" if about.get("use_raw") else about.get("layer") or "X",
        "method": method.name,
        "kind_of_target": method.target,
        "penalty": method.penalty,
        "solver": method.solver,
        "covariates": np.array(method.covariates, dtype=object),
        "n_samples": data.n_samples,
        "n_dropped": data.n_dropped,
        "n_requested": solution.n_requested or len(result.features),
    }
    proof = result.certificate
    return {
        "params": params,
        "names": np.array(result.names, dtype=object),
        "weights": np.array([feature.weight for feature in result.features]),
        "relevance": np.array([feature.relevance for feature in result.features]),
        "alpha": float(solution.alpha),
        "status": solution.status,
        "message": solution.message,
        "certificate": {
            "kkt_residual": float(proof.kkt_residual),
            "duality_gap": float(proof.duality_gap),
            "gram_error": float(solution.gram_error),
        },
        "version": __version__,
    }
