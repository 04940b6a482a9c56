"""A chapter that cannot be imported."""

import a_library_that_nobody_has  # noqa: F401
