"""What a record of a store is to a transaction, read by machine code: what reading and auditing stores share."""
