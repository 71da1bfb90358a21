"""MkDocs hook: contents and generated pages of ``blindspot.documentation``, formulas as MathML, pictures."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml import converter
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY_FILE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:core|assets|tests|pages)/[^)#]+|[A-Z]+\.\w+)\)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
BLOCK_MATH = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
PICTURE = re.compile(r"!\[([^\]]*)\]\(((?:\.\./)*images/[\w-]+)\.png\)")
INLINE_MATH = re.compile(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    sys.path.insert(0, str(ROOT))  # not at import: MkDocs takes the path back after it has loaded a hook
    from blindspot.documentation.contents import CONTENTS

    config.nav = [{section: [{title: path} for title, path in pages.items()]} for section, pages in CONTENTS.items()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from blindspot.documentation.generated import makers

    for path, make in makers().items():
        files.append(File.generated(config, path, content=make()))
    for picture in [*(ROOT / "assets" / "screenshots").glob("*.png"), *(ROOT / "assets").glob("*.svg")]:
        files.append(File.generated(config, f"images/{picture.name}", abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    markdown = PICTURE.sub(r"![\1](\2.png#only-light)![\1](\2-dark.png#only-dark)", markdown)
    parts = CODE.split(REPOSITORY_FILE.sub(r"\1 (`\2`)", markdown))  # what is not part of the site
    return "".join(part if i % 2 else _math(part) for i, part in enumerate(parts))


def _math(text: str) -> str:
    text = BLOCK_MATH.sub(lambda m: "\n\n" + converter.convert(m[1].strip(), display="block") + "\n\n", text)
    return INLINE_MATH.sub(lambda m: f"<span>{converter.convert(m[1])}</span>", text)
