"""The claims of the chapter; importing the package registers them."""

from theorylab.scaling_laws.claims import descent, kernels, linear, plateau, real, specialised

__all__ = ["descent", "kernels", "linear", "plateau", "real", "specialised"]
