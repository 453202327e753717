"""The reading pages, for the static site and for the server: the same views, templates, style and search index."""
