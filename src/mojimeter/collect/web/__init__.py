"""The pages that raters see: plain HTML forms over the store, and a few kilobytes of script that lose no rating.

Knows the store and the study's settings; must not know which system wrote what, nor import Pydantic, Typer, Polars or
the emoji table: the process that serves stays under 50 MB.
"""
