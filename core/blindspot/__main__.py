"""The command ``blindspot``, in a checkout also ``python -m blindspot``."""

import sys

PYTHONS = "Python 3.11, 3.12 or 3.13"


def command() -> int:
    """Run the command line; returns the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - older ones get one line, not a traceback
        return _fail("{} is Python {}.{}; expected {}".format(sys.executable, *sys.version_info[:2], PYTHONS))
    try:
        from blindspot.cli import main

        return main()
    except KeyboardInterrupt:
        return _fail("interrupted")
    except ImportError as error:  # of the command line itself: main lets nothing out
        if "--debug" in sys.argv:
            raise
        from blindspot.errors import damaged

        return _fail(str(damaged(error)))


def _fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(command())
