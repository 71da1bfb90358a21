"""README as a package index shows it: every link and picture has an address, and leads to a file that there is."""

from __future__ import annotations

import importlib.util
import re

from blindspot.settings import ROOT


def test_links_and_pictures_of_a_release_are_absolute() -> None:
    spec = importlib.util.spec_from_file_location("release_metadata", ROOT / ".ci" / "release_metadata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    readme = module.absolute((ROOT / "README.md").read_text("utf-8"), "https://example.org/o/r")
    addresses = re.findall(r'(?:\]\(|src="|srcset=")([^)"]+)', readme)
    assert len(addresses) > 10
    for address in addresses:
        assert address.startswith(("https://", "#")), address
        if address.startswith("https://example.org"):
            path = address.removeprefix("https://example.org/o/r/").split("#")[0]
            kind, branch, name = path.split("/", 2)
            assert (kind, branch) == ("raw" if name.endswith((".png", ".webp")) else "blob", "main")
            assert (ROOT / name).exists(), name
