"""The options of every command that is a Spark job."""

from __future__ import annotations

from typing import Annotated

import typer

Master = Annotated[
    str,
    typer.Option(help="The Spark master: local[N], spark://HOST:PORT, yarn or k8s://URL; docs/cluster.md says how."),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", metavar="KEY=VALUE", help="A setting of Spark's, such as spark.driver.memory=4g; repeatable."
    ),
]
