"""Data files of installed packages, read in place without importing the package."""

from __future__ import annotations

import importlib.util
from importlib import resources

from blindspot.errors import BlindspotError, reinstall


def text_of(package: str, *path: str) -> str:
    """A UTF-8 text file inside an installed package.

    The package's own code is not run: importing gensim alone takes longer than all work on its two files.

    Raises:
        ModuleNotFoundError: the package is not installed.
        BlindspotError: the package has no such file.
    """
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"the package {package} is not installed", name=package)
    file = resources.files(importlib.util.module_from_spec(spec)).joinpath(*path)
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise BlindspotError(
            f"the package {package} has no file {'/'.join(path)}",
            expected="the version that is tested",
            remedy=reinstall(package),
        ) from error


def frequent_words(n: int) -> list[str]:
    """The ``n`` most frequent English words of wordfreq, most frequent first."""
    import wordfreq

    return wordfreq.top_n_list("en", n)
