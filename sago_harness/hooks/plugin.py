"""Loads the project into the host, once: request type, filter, metrics, model.

The host's own tables are imported first: registering a model before they are filled would
hide every built-in one.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import lm_eval.api.metrics
import lm_eval.filters
import lm_eval.models  # noqa: F401
from lm_eval.api.group import Group
from lm_eval.api.registry import filter_registry, model_registry
from lm_eval.tasks import TaskManager

from sago_harness.hooks import metrics, requests
from sago_harness.hooks.spec import TaskSpec


@cache
def load() -> None:
    """Register everything; later calls do nothing."""
    requests.install()
    metrics.register()
    if "sago" not in filter_registry:
        filter_registry.register("sago", target="sago_harness.hooks.filters:DistanceFilter")
    if "sago-hf" not in model_registry:
        model_registry.register("sago-hf", target="sago_harness.backends.sago_hf:SagoHF")
    _share_log()
    _let_wildcards_match_groups()


def _share_log() -> None:
    """Stand below the host's logger: its handlers and its level are ours, each line said once.

    Copied handlers would say a line twice where the root logger has handlers of its own,
    since the host's does not pass its lines on and ours would.
    """
    ours = logging.getLogger("sago_harness")
    ours.parent = logging.getLogger("lm_eval")
    ours.setLevel(ours.level)  # the level that the old parent gave is forgotten


def _let_wildcards_match_groups() -> None:
    """Let ``sago_*`` name a group and its members in one call.

    The host refuses a task that it got twice, once by name and once through a group, so
    that every wildcard over both fails. A host without this check is left alone.
    """
    check = getattr(TaskManager, "_check_duplicates", None)
    if check is None:
        return

    def without_members(built: list[Any]) -> None:
        grouped = {
            task.task_name
            for item in built
            if isinstance(item, Group)
            for task in item.get_all_tasks()
            if _is_ours(task)
        }
        check([item for item in built if not (_is_ours(item) and item.task_name in grouped)])

    TaskManager._check_duplicates = staticmethod(without_members)


def _is_ours(item: Any) -> bool:
    """Tell a sago task by what only it has: importing its class here would go in a circle."""
    return isinstance(getattr(item, "spec", None), TaskSpec)
