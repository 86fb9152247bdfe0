"""The pipeline on a folder, on an S3 server and on HDFS: what it costs, and what kills leave of it."""
