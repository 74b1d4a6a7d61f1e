"""The package's page: README.md, whose links lead to the repository. hatchling calls it
(pyproject.toml)."""

import runpy
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PackagePage(MetadataHookInterface):
    """A page outside the repository has no files beside it: links and pictures need
    whole addresses."""

    def update(self, metadata: dict) -> None:
        """Put the text into the metadata."""
        absolute = runpy.run_path(str(Path(self.root, "tools", "links.py")))["absolute"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        page = absolute(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
