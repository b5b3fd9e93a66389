"""Collecting ratings from people: a study folder, its database, and the web app that raters see.

Knows the shape of the table of ratings and the font room; knows no model and no metric.
"""
