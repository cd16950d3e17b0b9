"""Progress of a fit for the callbacks of scikit-learn, which it has from version 1.9 on.

A stage of the fit is a task of the estimator, and hundredths of it are its tasks in turn.
"""

from __future__ import annotations

from typing import Any

from hsiclasso.dependence import Progress

try:
    from sklearn import callback
except ImportError:  # scikit-learn before 1.9
    callback = None

__all__ = ["CallbackSupport", "Followed"]

# not `object`: that cannot come before other bases
CallbackSupport: Any = (
    type("CallbackSupport", (), {}) if callback is None else callback.CallbackSupportMixin
)

#: Most tasks of a stage.
_STEPS = 100


class Followed:
    """Tells the callbacks of an estimator, if it has any, how far its fit is.

    Use it as a context manager around the fit, and as its progress function within.
    """

    def __init__(self, estimator: Any, progress: Progress | None) -> None:
        self._estimator, self._progress = estimator, progress
        self._context: Any = None
        self._stage: Any = None
        self._steps = 0

    def __enter__(self) -> Progress | None:
        if not getattr(self._estimator, "_skl_callbacks", None):
            return self._progress
        self._context = self._estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(estimator=self._estimator)
        return self

    def __exit__(self, *error: object) -> None:
        if self._context is None:
            return
        # a decorator of `fit` would be one more caller between a warning and the user
        take_down = callback.with_callbacks(lambda estimator: None)
        try:
            if error[0] is None:
                self._leave()
                self._context.call_on_fit_task_end(estimator=self._estimator)
        finally:
            take_down(self._estimator)

    def __call__(self, name: str, done: int, total: int) -> None:
        """Report a stage, units done and units in all."""
        if self._progress is not None:
            self._progress(name, done, total)
        if self._stage is None or self._stage.task_name != name:
            self._leave()
            self._stage = self._context.subcontext(name, max_subtasks=min(total, _STEPS))
            self._stage.call_on_fit_task_begin(estimator=self._estimator)
            self._steps = 0
        steps = min(total, _STEPS) * min(done, total) // max(total, 1)
        for _ in range(self._steps, steps):
            step = self._stage.subcontext(name)
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
        self._steps = max(self._steps, steps)

    def _leave(self) -> None:
        """End the current stage."""
        if self._stage is not None:
            self._stage.call_on_fit_task_end(estimator=self._estimator)
            self._stage = None
