"""Pure functions from tables to numbers."""
