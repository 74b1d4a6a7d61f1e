"""Scripts behind the Makefile's targets; no part of the installed package."""
