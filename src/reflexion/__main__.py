"""Where the process begins: ``reflexion``, and ``python -m reflexion``.

Nothing is imported before Ctrl-C is seen to.
"""


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded ends as it does later, with 130 and without a traceback."""
    try:
        from reflexion.cli import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
