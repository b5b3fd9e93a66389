"""The engine for a cluster: Ray Data maps the same function over the same items; there is no logic of its own here.

Raw files and the work folder must lie where every node sees them under the same path. Knows neither posts nor labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from mojimeter.build.stream import Item
from mojimeter.errors import MissingExtraError, MojimeterError

CPUS: Final = 0.5  # of a task: two whole ones stalled on two cores (Ray counts its own actors too)


class RayEngine:
    """Maps by Ray Data.

    Args:
        address: of a running cluster; None joins one that is there (``RAY_ADDRESS``) or starts one on this machine.

    Raises:
        MissingExtraError: Ray is not installed.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
            import ray.data
        except ImportError:
            raise MissingExtraError("Ray", "ray", "--engine ray") from None
        self._ray: Any = ray
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level="error")
        ray.data.DataContext.get_current().enable_progress_bars = False

    def map(self, function: Callable[[Item], int], items: Sequence[Item]) -> Iterator[int]:
        """Yields what the function returns, in any order.

        Raises:
            MojimeterError: the function's own.
        """
        if not items:
            return

        def apply(row: dict[str, Any]) -> dict[str, int]:
            return {"result": function(items[row["id"]])}

        data = self._ray.data.range(len(items), override_num_blocks=len(items)).map(apply, num_cpus=CPUS)
        try:
            for row in data.iter_rows():
                yield int(row["result"])
        except Exception as error:
            own = _own_error(error)
            if own is None:
                raise
            raise own from None


def _own_error(error: BaseException | None) -> MojimeterError | None:
    """The error that our function raised, out of what Ray wrapped it in."""
    seen = 0
    while error is not None and seen < 10:
        if isinstance(error, MojimeterError):
            return type(error)(str(error)) if type(error).__name__.startswith("RayTaskError") else error
        error = getattr(error, "cause", None) or error.__cause__
        seen += 1
    return None
