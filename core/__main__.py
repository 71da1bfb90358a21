"""The command ``blindspot``, in a checkout also ``python -m core``."""

import sys
from pathlib import Path

PYTHONS = "Python 3.11, 3.12 or 3.13"


def command() -> int:
    """Run the command line; returns the exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - older ones get one line, not a traceback
        return _fail("{} is Python {}.{}; expected {}".format(sys.executable, *sys.version_info[:2], PYTHONS))
    try:
        from blindspot.cli import main  # takes a second, in which people press Ctrl-C too

        return main()
    except KeyboardInterrupt:
        return _fail("interrupted")
    except ImportError as error:  # of the line above: main lets nothing out
        if "--debug" in sys.argv:
            raise
        what = str(error).strip().splitlines()[0]
        in_checkout = (Path(__file__).resolve().parents[1] / "requirements.txt").is_file()
        wanted = "-r requirements.txt" if in_checkout else "--force-reinstall blindspot"
        remedy = f"install the requirements: {sys.executable} -m pip install {wanted}"
        return _fail(f"a library is missing or broken: {what}; {remedy}")


def _fail(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(command())
