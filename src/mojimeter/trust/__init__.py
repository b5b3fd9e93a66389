"""Judging the judges: accuracy, sensitivity to emoji, validity, noise, correction by few good labels, bias.

Every module but ``sources`` is pure functions from tables and arrays to small results with ``to_dict()``; ``sources``
is the one that reads files and asks judges. Must not know the command line.
"""

from mojimeter.trust.accuracy import judge_accuracy
from mojimeter.trust.bias import length_bias, order_bias, self_preference
from mojimeter.trust.correct import prediction_powered_mean, saving_curve
from mojimeter.trust.noise import judge_noise
from mojimeter.trust.sensitivity import judge_sensitivity
from mojimeter.trust.validity import human_validity

__all__ = [
    "human_validity",
    "judge_accuracy",
    "judge_noise",
    "judge_sensitivity",
    "length_bias",
    "order_bias",
    "prediction_powered_mean",
    "saving_curve",
    "self_preference",
]
