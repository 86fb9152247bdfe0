"""Any number of transactions: whether one among others does all that one of many can do."""
