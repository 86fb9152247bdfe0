"""Records and transactions of a split or bucket as columns, for the audit by Spark, and the files that hold them."""
