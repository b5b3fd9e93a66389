"""What is ranked: language models, baselines, prompts, reply -> emoji."""

from mojimeter.systems.baselines import BASELINES, Baseline, get_baseline
from mojimeter.systems.reply import FLAGS, Reply, read_replies, read_reply

__all__ = ["BASELINES", "FLAGS", "Baseline", "Reply", "get_baseline", "read_replies", "read_reply"]
