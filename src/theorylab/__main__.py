"""``python -m theorylab`` is the ``theorylab`` command."""

from theorylab.cli import main

main()
