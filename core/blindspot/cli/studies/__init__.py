"""Commands on studies over many runs."""
