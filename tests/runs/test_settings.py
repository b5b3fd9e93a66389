"""What is wrong with a run is said before anything is asked or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mojimeter.errors import InputError
from mojimeter.runs.settings import RecommendSettings, Run


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"equality": "same"}, "no equality 'same'; expected code-points, exact"),
        ({"judges": ("baseline/none",)}, "no judge 'baseline/none'"),
        ({"judges": ("someone",)}, "no judge 'someone'"),
        ({"append": "all"}, "append is 'all'"),
        ({"n": "6"}, "n is '6'"),
    ],
)
def test_a_wrong_setting_is_found_before_a_call_is_paid_for(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    posts = tmp_path / "posts.csv"
    posts.write_text("id,text\n1,good 🎉\n", encoding="utf-8")
    right = {"posts": str(posts), "systems": ("openai-api/fake/writer",), "judges": ("openai-api/fake/labeller",)}
    Run(RecommendSettings(**right))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=says):
        Run(RecommendSettings(**(right | wrong)))
