"""Records and transactions of a split or bucket as columns, for an audit in stages, and the files that hold them."""
