"""Reading feeds: everything from an address to entries and stories."""
