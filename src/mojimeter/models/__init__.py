"""What computes: the in-process llama.cpp provider and the sentence encoder."""
