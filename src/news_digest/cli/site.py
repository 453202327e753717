"""``news-digest site``: make the static site of the archive."""

from __future__ import annotations

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of

__all__ = ["site_command"]


@click.command("site")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--url", default="", help="Where the folder will be served, for the links of its feeds.")
@click.option("--title", default="News digest", show_default=True, help="What the site calls itself.")
@config_option
@json_option
def site_command(folder: str, url: str, title: str, config_file: str | None, *, as_json: bool) -> None:
    """Make a static site of all digests in FOLDER: pages, archive, search, feeds. Only what changed is written.

    It works from the disk and on any web server. The channel `page` does the same after each run.

    \b
    Examples:
      news-digest site ~/digests
      news-digest site /var/www/news --url https://news.example.org/
    """
    from news_digest.channels.archive import Archive  # noqa: PLC0415
    from news_digest.channels.feed import Heading  # noqa: PLC0415
    from news_digest.channels.folder import Folder, PublicDisk  # noqa: PLC0415
    from news_digest.channels.site.build import build  # noqa: PLC0415

    settings = settings_of(config_file)
    heading = Heading(title, url if not url or url.endswith("/") else f"{url}/", settings.config.text("style.language"))
    written = build(Archive(settings.places.archive), Folder(folder, disk=PublicDisk()), heading)
    if as_json:
        print_json({"folder": folder, "written": written})
    else:
        click.echo(f"{folder}: {len(written) or 'no'} files changed; open {folder}/index.html", err=True)
