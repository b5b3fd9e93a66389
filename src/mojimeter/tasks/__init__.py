"""The wiring: one Inspect task per file."""
