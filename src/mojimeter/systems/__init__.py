"""What is ranked: language models, baselines, prompts, reply -> emoji."""

from mojimeter.systems.reply import FLAGS, Reply, read_replies, read_reply

__all__ = ["FLAGS", "Reply", "read_replies", "read_reply"]
