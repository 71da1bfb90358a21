"""Languages of the parallel sets: name, family and scripts, by ISO 639-3 code.

Codes and names are those of ISO 639-3 (``ber`` and ``kur`` stand for several languages, ``kzj`` was merged into ``dtp``
in 2016). Families are the top level of Glottolog; ``branch`` names the well-known branch in the two largest families
that have one. Chavacano, a creole, is with the language that most of its words come from, as in Glottolog. Scripts are
Unicode's, as in the sentences: the first one has most letters (a test counts them); Japanese is Han with kana.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FACTS = Path(__file__).parent / "languages.tsv"
ENGLISH = "eng"


@dataclass(frozen=True)
class Language:
    """A language; ``scripts`` most used first, ``branch`` "" where none is named."""

    code: str
    name: str
    family: str
    branch: str
    scripts: tuple[str, ...]

    @property
    def script(self) -> str:
        """The scripts in words."""
        return " and ".join(self.scripts)

    @property
    def kin(self) -> str:
        """Branch, or family where there is none."""
        return self.branch or self.family


@cache
def languages() -> Mapping[str, Language]:
    """Languages by code, in the order of codes."""
    with _FACTS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {
            row["code"]: Language(
                row["code"], row["name"], row["family"], row["branch"], tuple(row["scripts"].split(", "))
            )
            for row in rows
        }


def name_of(code: str) -> str:
    """The name of a language or of English."""
    return "English" if code == ENGLISH else languages()[code].name
