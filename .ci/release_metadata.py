"""Metadata of a release: addresses of the project, and its README with absolute ones.

A package index shows README without the repository beside it. Set BLINDSPOT_REPOSITORY to the repository's address when
you build what you publish; without it there are no addresses, and README is as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r'(\]\(|src="|srcset=")(?!https?://|#|mailto:)')


class ReleaseMetadata(MetadataHookInterface):
    """Hook of hatchling, for all builds."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme`` and ``urls`` in place."""
        readme = (Path(self.root) / "README.md").read_text("utf-8")
        repository = os.environ.get("BLINDSPOT_REPOSITORY", "").rstrip("/")
        metadata["urls"] = {}
        if repository:
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/blob/main/docs/index.md",
                "Changelog": f"{repository}/blob/main/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
            readme = absolute(readme, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def absolute(readme: str, repository: str) -> str:
    """A README whose links and pictures lead into the repository."""

    def address(found: re.Match[str]) -> str:
        is_picture = found[1] != "]("
        return f"{found[1]}{repository}/{'raw' if is_picture else 'blob'}/main/"

    return _LINK.sub(address, readme)
