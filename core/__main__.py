"""``python -m core``."""

import sys

if __name__ == "__main__":
    try:
        from core.cli import main  # takes a second, in which people press Ctrl-C too

        code = main()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)  # noqa: T201
        code = 1
    sys.exit(code)
