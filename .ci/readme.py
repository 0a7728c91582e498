"""The README for package indexes, where a link that is relative to the checkout leads nowhere."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^]]*\])\((?!https?:)(?P<path>[^)\s]*)\)")


def with_addresses(text: str, repository: str, version: str) -> str:
    """Return a page whose links lead to a version in a repository."""

    def link(found: re.Match[str]) -> str:
        place = "raw" if found["image"] else "blob"
        path = "README.md" * found["path"].startswith("#") + found["path"]
        return f"{found['image']}{found['text']}({repository}/{place}/v{version}/{path})"

    return LINK.sub(link, text)


class Readme(MetadataHookInterface):
    """Add the README to the metadata, with addresses once [project.urls] has one."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if repository := metadata.get("urls", {}).get("Homepage"):
            text = with_addresses(text, repository.rstrip("/"), metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
