"""Benchmarks: one file a question. README.md holds the figures and how to run them again."""
