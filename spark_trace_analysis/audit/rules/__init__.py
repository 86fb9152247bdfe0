"""What a store's records say of a transaction, one history at a time."""
