"""The run folder: settings, signature, resume, compare."""
