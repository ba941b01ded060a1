"""The commands, a noun a file: parse, run, map the outcome to an exit code. ``cli.py`` gives them their names.

Heavy imports happen inside the command that needs them, so that ``reflexion --help`` is instant.
"""
