"""The lockstep's records of actions: one record an action, in the file that is named like its chapter."""
