"""Checkers for your own methods, models, metrics, data sets, memories, schedules, optimisers.

Each checker exercises the thing on small examples, as a run would, and returns a list of problems:
sentences that say what is wrong and what to do. The list is empty if nothing is wrong.

    from scdn.check import check_method
    assert check_method(my_method) == []
"""

from scdn.check.dataset_checker import check_dataset
from scdn.check.memory_checker import check_memory
from scdn.check.method_checker import check_method
from scdn.check.metric_checker import check_metric
from scdn.check.model_checker import check_model
from scdn.check.optimizer_checker import check_optimizer
from scdn.check.schedule_checker import check_schedule

__all__ = [
    "check_dataset",
    "check_memory",
    "check_method",
    "check_metric",
    "check_model",
    "check_optimizer",
    "check_schedule",
]
