"""The same recipe on a cluster of two nodes: the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

from mojimeter.build.ray_engine import RayEngine
from mojimeter.build.run import Job, build_benchmark
from mojimeter.errors import InputError
from tests.build.support import made_posts, write_jsonl


@pytest.fixture(scope="module")
def engine() -> Iterator[RayEngine]:
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    yield RayEngine(cluster.address)
    ray.shutdown()
    cluster.shutdown()


def test_two_nodes_give_the_bytes_of_one_process(engine: RayEngine, tmp_path: Path) -> None:
    import ray

    assert len([node for node in ray.nodes() if node["Alive"]]) == 2
    raw = write_jsonl(tmp_path / "raw.jsonl", made_posts(500))
    here = build_benchmark(Job((str(raw),), str(tmp_path / "here.jsonl"), judge="none"))
    there = build_benchmark(
        Job((str(raw),), str(tmp_path / "there.jsonl"), judge="none", block_bytes=6000), engine=engine
    )
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()
    assert here["posts"] == there["posts"]


def test_an_error_on_a_node_is_the_same_sentence(engine: RayEngine, tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("id,words\n1,a\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no column 'text'") as caught:
        build_benchmark(Job((str(raw),), str(tmp_path / "out.csv"), judge="none"), engine=engine)
    assert "\n" not in str(caught.value)
