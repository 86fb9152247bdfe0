"""What is shipped runs where there is nothing else of this project, and compiles nothing again."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from model_check.instances import load_instance
from model_check.walks.walk import Walker
from model_check.world import World
from spark_trace_analysis.cluster.session import WORKERS_ENVIRONMENT, pack, walk_kernels

WALK = """
import model_check
from model_check.walks.walk import Walker
from model_check.world import World
print(model_check.__file__)
print(len(Walker(World.of("5.3.3")).walk(7, 0, 3, 5)["trace"]))
"""


@pytest.mark.untraced
def test_a_worker_walks_by_what_was_shipped_and_compiles_nothing(tmp_path: Path) -> None:
    events = len(Walker(World.of("5.3.3")).walk(7, 0, 3, 5)["trace"])
    pack(tmp_path / "project.zip", walk_kernels(load_instance("tiny")))
    place = tmp_path / WORKERS_ENVIRONMENT["PYTHONPATH"]
    with zipfile.ZipFile(tmp_path / "project.zip") as packed:
        packed.extractall(place)
    kernels = {path: path.stat().st_mtime_ns for path in (place / "kernels").rglob("*.*")}
    assert {path.suffix for path in kernels} == {".py", ".o", ".nbi", ".nbc", ".pickle"}

    environment = {**os.environ, **WORKERS_ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        (sys.executable, "-c", WALK), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    file, number = ran.stdout.split()
    assert Path(file).is_relative_to(place)
    assert int(number) == events
    assert {path: path.stat().st_mtime_ns for path in (place / "kernels").rglob("*.*")} == kernels


def test_neither_stores_nor_bytecode_travel(tmp_path: Path) -> None:
    pack(tmp_path / "project.zip")
    with zipfile.ZipFile(tmp_path / "project.zip") as packed:
        names = packed.namelist()
    assert {name.split("/")[0] for name in names} == {
        "document",
        "files",
        "fuzz",
        "halfcheck",
        "model_check",
        "reference",
        "spark_trace_analysis",
        "spec",
        "traffic",
    }
    assert {"spec/instances/tiny.toml", "model_check/walks/walk.py", "halfcheck/__init__.py"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc")]
