"""news-digest: a short daily digest of the feeds you follow, told once."""

__version__ = "0.1.0"
