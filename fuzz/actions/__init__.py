"""What the lockstep does for each action: one record an action, in the file that is named like its chapter."""
