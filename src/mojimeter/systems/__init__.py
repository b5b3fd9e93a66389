"""What is ranked: language models, baselines, prompts, reply -> emoji."""
