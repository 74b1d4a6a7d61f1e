"""Panels that answer in a page without a server."""
