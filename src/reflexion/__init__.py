"""reflexion: documentation and code from local models, decided by code.

The command line (``reflexion``) is the public door; see ``docs/cli.md``. Importing this package does no work.
"""

__version__ = "0.1.0"
