"""Texts: read from a column of a table, and turned into features."""
