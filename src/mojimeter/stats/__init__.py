"""What metrics and ratings share: estimates, resampling, paired differences, rank ranges."""

from mojimeter.stats.estimate import Estimate

__all__ = ["Estimate"]
