from . import weights
