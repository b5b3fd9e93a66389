"""What Inspect AI loads to know our provider and task by name (the ``inspect_ai`` entry point).

It must stay cheap: Inspect imports it whenever it looks up any name.
"""

from __future__ import annotations

from inspect_ai.model import ModelAPI, modelapi

from mojimeter.tasks.disambiguate import disambiguate
from mojimeter.tasks.recommend import recommend

__all__ = ["disambiguate", "local", "recommend"]


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """Models in this process, as ``local/smollm2-135m`` or ``local/<path>.gguf``."""
    from mojimeter.models.local import LocalAPI

    return LocalAPI
