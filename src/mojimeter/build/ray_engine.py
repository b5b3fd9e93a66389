"""The engine for a cluster: Ray Data maps the same function over the same items; there is no logic of its own here.

Raw files and the work folder must lie where every node sees them under the same path. Knows neither posts nor labels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from mojimeter.build.stream import Item
from mojimeter.errors import InputError, MissingExtraError, MojimeterError

CPUS: Final = 0.5  # of a task: two whole ones stalled on two cores (Ray counts its own actors too)


class RayEngine:
    """Maps by Ray Data.

    Args:
        address: of a running cluster; None joins one that is there (``RAY_ADDRESS``) or starts one on this machine.

    Raises:
        MissingExtraError: Ray is not installed.
    """

    def __init__(self, address: str | None = None) -> None:
        # Ray would tell its makers about each run
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
            import ray.data
        except ImportError:
            raise MissingExtraError("Ray", "ray", "--engine ray") from None
        self._ray: Any = ray
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level="error")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False

    def map(self, function: Callable[[Item], int], items: Sequence[Item]) -> Iterator[int]:
        """Yields what the function returns, in any order.

        Raises:
            MojimeterError: the function's own, the first that comes back.
        """
        if not items:
            return

        def apply(row: dict[str, Any]) -> dict[str, Any]:
            # an error of ours comes back as data: what Ray makes of a raised one differs between its versions
            try:
                return {"result": function(items[row["id"]]), "error": "", "code": 0}
            except MojimeterError as error:
                return {"result": 0, "error": str(error), "code": error.exit_code}

        data = self._ray.data.range(len(items), override_num_blocks=len(items)).map(apply, num_cpus=CPUS)
        for row in data.iter_rows():
            if row["error"]:
                raise (InputError if row["code"] == InputError.exit_code else MojimeterError)(row["error"])
            yield int(row["result"])
