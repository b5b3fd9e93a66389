"""What labels: five label sets, LLM judge with votes, student judge, verifier."""
