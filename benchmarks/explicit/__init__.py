"""How fast the explicit search is, beside Stateright and TLC."""
