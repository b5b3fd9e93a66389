"""Benchmarks: speed as ratios against a peer measured in the same run, and figures too slow for tests."""
