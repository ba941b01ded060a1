"""``python -m reflexion`` is ``reflexion``."""

from reflexion.cli import main

if __name__ == "__main__":
    main()
