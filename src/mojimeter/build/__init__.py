"""Raw posts -> a balanced benchmark: clean, drop duplicates, label, balance, audit, write with a card and a recipe.

Importing this package is cheap; ``run.build_benchmark`` does the work.
"""
