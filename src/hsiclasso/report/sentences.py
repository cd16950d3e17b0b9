"""What a selection says, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from hsiclasso.plots.drawing import shorten
from hsiclasso.selectors.result import SelectionResult

__all__ = ["certificate_words", "found_words", "notes_of"]

#: Names that a sentence lists.
_NAMED = 3
#: What dependence on each kind of target means to a reader.
_TELLS = {
    "classes": "that differ between the classes of {y}",
    "labels": "that go together with the labels {y}",
    "survival": "that go together with survival ({y})",
    "affinity": "that go together with the similarities between the samples",
    "graph": "that go together with the links between the samples",
    "objects": "that go together with the target",
}
_ELSE = "on whose values {y} depends"


def found_words(result: SelectionResult, target: str) -> list[str]:
    """Say what was found, in a few sentences.

    Parameters
    ----------
    result : SelectionResult
    target : str
        What the target is called.
    """
    count, data = len(result.features), result.data
    tells = _TELLS.get(result.method.target, _ELSE).format(y=target)
    base = f"on {data.n_samples:,} samples with {data.n_columns:,} columns"
    if not count:
        return [f"Nothing was selected {base}: no feature was found {tells}."]
    said = [
        f"{_number(count, 'feature')} {tells} {'was' if count == 1 else 'were'} selected {base}."
    ]
    said += _heaviest(result)
    alike = sum(len(cluster.members) for cluster in result.clusters)
    if alike:
        said.append(
            f"{_number(alike, 'more feature')} {'says' if alike == 1 else 'say'} nearly the same "
            "as one of these and "
            f"{'was' if alike == 1 else 'were'} left out; the samples cannot tell which of them "
            "matters."
        )
    if result.validation is not None:
        said.append(result.validation.message)
    return [*said, _how_sure(result)]


def _heaviest(result: SelectionResult) -> list[str]:
    """Name the features of the largest weights."""
    features = result.features
    first = [f for f in features if f.share > 0][:_NAMED]
    names = _listed([f.name for f in first or features[:_NAMED]])
    if len(features) == 1:
        return [f"It is {names}."]
    if len(features) <= _NAMED:
        return [f"They are {_listed([f.name for f in features])}."]
    if not first:
        return []
    sizes = [abs(f.weight) for f in features]
    if sizes != sorted(sizes, reverse=True):  # Embedding Lasso has another order
        return [f"{names} are the most important: they would be dropped last."]
    verb, share = "weighs" if len(first) == 1 else "weigh", sum(f.share for f in first)
    return [f"{names} {verb} most: {share:.0%} of all weight."]


def _how_sure(result: SelectionResult) -> str:
    """Say what a selection promises, and what it does not."""
    control = result.error_control
    if control is not None:
        return (
            f"Tests found these: on average at most {control.level:.0%} of what such tests find is "
            "false. Dependence does not say what is cause and what is effect."
        )
    return (
        "The number of features was not found by tests: the last ones may have been selected by "
        "chance. Dependence does not say what is cause and what is effect."
    )


def _listed(names: Sequence[str]) -> str:
    """Join names as people do.

    Examples
    --------
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    short = [shorten(name, 40) for name in names]
    return short[0] if len(short) == 1 else f"{', '.join(short[:-1])} and {short[-1]}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def certificate_words(result: SelectionResult) -> list[str]:
    """Say what the certificate proves, in plain words, and its numbers."""
    proof, columns = result.certificate, result.data.n_columns
    if result.status == "STALLED":
        first = (
            "The computation stopped before the best weights were reached, because rounding errors "
            "prevented further progress: take the weights as approximate."
        )
    else:
        first = (
            f"The weights are the best ones: for this penalty, no other weights of the {columns:,} "
            "columns explain the target better. This was checked, not assumed."
        )
    what = "column" if result.interactions is None else "kernel"
    numbers = (
        f"The largest violation of the conditions of an optimum is {proof.kkt_residual:.1e} of "
        f"the largest relevance, the relative duality gap {proof.duality_gap:.1e}. Redundancies "
        f"of {_number(proof.n_candidates, what)} had to be computed; bounds settle the others. "
        f"The error of a Gram matrix is at most {result.solution.gram_error:.1e}."
    )
    last = (
        "The certificate is about the computation. It does not say that other samples would give "
        "the same features."
    )
    parts = [first, result.message, numbers, last]
    if result.interactions is not None:
        parts.insert(2, result.interactions.message)
    return parts


def notes_of(result: SelectionResult) -> list[str]:
    """Return what a reader should be warned of."""
    data, solution = result.data, result.solution
    filled = [f.name for f in result.features if f.origin == "filled"]
    notes = []
    if result.status == "STALLED":
        notes.append("The computation stopped before the optimum: the weights are approximate.")
    if solution.n_requested is not None and len(result.features) < solution.n_requested:
        asked = _number(solution.n_requested, "feature")
        notes.append(f"{asked} were asked for, and {len(result.features)} selected.")
    if filled:
        notes.append(
            f"{_number(len(filled), 'feature')} of weight 0 make up the number that was asked for: "
            f"{_some(filled)}. They depend on the target, but add nothing to the others."
        )
    if data.n_dropped:
        notes.append(
            f"{_number(data.n_dropped, 'sample')} without a target or of weight 0 not used."
        )
    if data.constant:
        count = _number(len(data.constant), "feature")
        notes.append(f"{count} with only one value left out: {_some(data.constant)}.")
    if data.few_observed:
        count = _number(len(data.few_observed), "feature")
        notes.append(f"{count} with too many missing values left out: {_some(data.few_observed)}.")
    if result.interactions is not None and not result.interactions.complete:
        notes.append("Some pairs of features were not compared in full: see the certificate.")
    return notes


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(shorten(name, 40) for name in names[:5]) + more
