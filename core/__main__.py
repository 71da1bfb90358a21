"""``python -m core``."""

import sys

PYTHONS = "Python 3.11, 3.12 or 3.13"

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - older ones get one line, not a traceback
        sys.exit("error: {} is Python {}.{}; expected {}".format(sys.executable, *sys.version_info[:2], PYTHONS))
    try:
        from blindspot.cli import main  # takes a second, in which people press Ctrl-C too

        code = main()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)  # noqa: T201
        code = 1
    except ImportError as error:  # of the line above: main lets nothing out
        if "--debug" in sys.argv:
            raise
        what = str(error).strip().splitlines()[0]
        remedy = f"install the requirements: {sys.executable} -m pip install -r requirements.txt"
        print(f"error: a library is missing or broken: {what}; {remedy}", file=sys.stderr)  # noqa: T201
        code = 1
    sys.exit(code)
