"""Chapters of another package than theorylab, for the tests of the core."""
