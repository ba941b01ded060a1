"""One suite for everything that says it is Ollama: the double, the embedded engine and a real Ollama 0.17.4.

An expectation is a test that takes the fixture ``subject``; it is written once, as the real server answers, and runs
against all of them. Where the double or the engine differs on purpose, `differences.py` says so by name.
"""
