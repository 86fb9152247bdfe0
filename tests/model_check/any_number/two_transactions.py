"""The instance of two transactions that the tests compare with one among others."""

from dataclasses import replace
from typing import Final

from model_check.instances import load_instance

TWO: Final = replace(load_instance("small"), name="two", mishaps=2, stray_ends=2)
