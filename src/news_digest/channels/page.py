"""A static site of all digests, for a browser on this machine or any web server (extra ``web``)."""

from __future__ import annotations

from news_digest.channels import Target
from news_digest.channels.archive import Archive
from news_digest.channels.feed import Heading, public_url
from news_digest.channels.folder import Folder, PublicDisk
from news_digest.channels.options import Options
from news_digest.model import Digest, Receipt
from news_digest.ports import Clock

__all__ = ["PageChannel", "open_page"]


class PageChannel:
    """Keeps the digest in an archive and brings the site that is made of it up to date; again changes nothing."""

    def __init__(self, archive: Archive, folder: Folder, heading: Heading, *, name: str, clock: Clock) -> None:
        self.name = name
        self._archive = archive
        self._folder = folder
        self._heading = heading
        self._clock = clock

    def deliver(self, digest: Digest) -> Receipt:
        """Write the pages that change."""
        from news_digest.channels.site.build import build  # noqa: PLC0415 - an extra

        self._archive.put(digest)
        count = len(build(self._archive, self._folder, self._heading))
        return Receipt(self.name, at=self._clock(), detail=f"{self._folder.path}: {count or 'no'} files changed")


def open_page(target: Target) -> PageChannel:
    """Return the channel ``page``; needs ``folder``; takes ``archive``, ``url``, ``title`` and ``language``."""
    options = Options(target)
    folder = Folder(options.text("folder", required=True), disk=PublicDisk())
    archive = Archive(options.text("archive", target.archive, required=True))
    title, language = options.text("title", "News digest"), options.text("language", "en")
    heading = Heading(title, public_url(options, target.name), language)
    options.done()
    return PageChannel(archive, folder, heading, name=target.name, clock=target.clock)
