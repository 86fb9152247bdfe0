"""Guided walks: populations of weighted walks that are split near violations, and what they say of their shares."""

from pathlib import Path

from model_check.cache_folder import let_numba_keep_its_code

let_numba_keep_its_code(Path(__file__).parent)
