"""The parts of this project that workers of a cluster get: its packages as they are here, and compiled kernels.

Numba keeps compiled kernels beside their sources, named by line and processor and checked against the hash of the
source; the machine code of an instance is a file of its own. A worker with another processor compiles for itself.
"""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from model_check.explicit.code_generation.compile import compile_machine, kernel_cache
from model_check.world import NO_FAULTS, Profile, World
from spec.constants import Instance
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

FOLDER = "halfcheck-project"
"""Where an executor unpacks it, below its working directory."""

WORKERS_ENVIRONMENT = {"PYTHONPATH": f"./{FOLDER}", "HALFCHECK_CACHE": f"./{FOLDER}/kernels", "POLARS_MAX_THREADS": "1"}

_PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = ("document", "files", "fuzz", "halfcheck", "model_check", "reference", "spark_trace_analysis", "spec")
_SUFFIXES = {".py", ".toml", ".json", ".nbi", ".nbc"}


def walk_kernels(*instances: Instance) -> tuple[Path, ...]:
    """The files of the compiled walks of some instances, as far as this machine has them."""
    return tuple(path for instance in instances for path in _walk_kernels(instance))


def _walk_kernels(instance: Instance) -> tuple[Path, ...]:
    world = World(Profile.versions()[0], NO_FAULTS, instance)
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, world.constants)
    folder = kernel_cache()
    module = compiled.module.__name__
    found = folder.glob(f"__pycache__/{module}.*.nb[ic]")
    texts = () if compiled.text_file is None else (compiled.text_file,)
    return folder / f"{module}.py", folder / f"steps_{compiled.native.name}.o", *texts, *sorted(found)


def pack(archive: Path, kernels: Iterable[Path] = ()) -> None:
    """Write the packages, and kernels in a folder of their own, into a new ``.zip``."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for path in _sources():
            packed.write(path, path.relative_to(_PROJECT))
        for path in kernels:
            inside = f"__pycache__/{path.name}" if path.parent.name == "__pycache__" else path.name
            packed.write(path, f"kernels/{inside}")


def _sources() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from sorted(path for path in (_PROJECT / package).rglob("*") if path.suffix in _SUFFIXES)
