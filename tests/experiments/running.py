"""A study from its tasks to its results."""

from experiments.runner import Failure, Request, Study, plan, run
from experiments.tidy import TidyFile


def done(study: Study, request: Request, file: TidyFile, jobs: int) -> list[Failure]:
    """Do what a study lacks, and return what failed."""
    return run(plan(study, request, file), file, jobs)
