"""The static edition: every notebook as a page that needs no kernel and no network.
`make book` builds it."""
