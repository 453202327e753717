"""The reading page on this machine: ``news-digest serve`` (extra ``web``)."""
