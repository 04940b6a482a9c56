"""The chapter's claims; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from theorylab.teacher_students.claims import kernels
from theorylab.teacher_students.claims import rates
from theorylab.teacher_students.claims import groups
from theorylab.teacher_students.claims import activations
from theorylab.teacher_students.claims import finite

__all__ = ["activations", "finite", "groups", "kernels", "rates"]
