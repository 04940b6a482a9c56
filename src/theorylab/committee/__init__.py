"""Committees of hidden units that learn online: spectra, order parameters and their flow."""

from theorylab.committee.model import Committee
from theorylab.committee.phases import PlateauState
from theorylab.committee.spectrum import Spectrum
from theorylab.committee.trajectory import Statistics, Trajectory

__all__ = ["Committee", "PlateauState", "Spectrum", "Statistics", "Trajectory"]
