"""The provider and the posts of the tests of faults, here without faults."""

from __future__ import annotations

from tests.faults.conftest import posts, serve

__all__ = ["posts", "serve"]
