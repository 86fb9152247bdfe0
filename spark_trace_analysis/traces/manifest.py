"""The manifest of a folder of simulated traces: ``_manifest.json`` beside the Parquet files.

From its parameters alone every trace can be made again; from its checksums a changed byte is found.
"""

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from files.content import read_json
from files.reading import read_bytes
from files.remote_path import Location
from files.writing import create_whole
from model_check.instances import load_instance
from model_check.walks.choices import GUIDED
from model_check.world import NO_FAULTS, QUIET, Environment, Profile, World
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.tables.traces import EVENTS_TABLE
from spark_trace_analysis.traces.run_layout import MANIFEST, manifest_of
from spark_trace_analysis.traces.schema import SCHEMA_VERSION
from spec.constants import Instance

RECORDED = "recorded"
SPECIFICATION = "specification"
UNIFORM = "uniform"
SOURCES_OF_WALKS = ("spec", "model_check")


@dataclass(frozen=True)
class Parameters:
    """All that a simulation depends on, beside the project's sources.

    The traces are `of` the specification, or another source of events that there is. Steps are chosen in one of the
    ways ``model_check.walks.choices.CHOICES``, or ``GUIDED``. For recorded traces the file's name stands for their
    environment.
    """

    world: World
    seed: int
    traces: int
    steps: int
    choice: str = UNIFORM
    of: str = SPECIFICATION
    file: str = ""

    @classmethod
    def of_recorded(cls, file: str, profile: Profile, traces: int) -> "Parameters":
        """Those of the traces of a file, whose settings stand beside them."""
        world = World(profile, NO_FAULTS, replace(load_instance("tiny"), name=RECORDED))
        return cls(world, seed=0, traces=traces, steps=1, of=RECORDED, file=file)

    @property
    def profile(self) -> Profile:
        """The profile of the world."""
        return self.world.profile

    @property
    def faults(self) -> tuple[str, ...]:
        """The environment as manifests and commands name it, sorted by name."""
        return (self.file,) if self.file else tuple(sorted(self.world.environment))

    @property
    def environment_name(self) -> str:
        """The faults joined by commas, or ``quiet``. Guided walks, which are no sample, have a name of their own."""
        name = ",".join(self.faults) or QUIET
        return f"{name} ({self.choice})" if self.choice == GUIDED else name

    @property
    def options(self) -> str:
        """The options with which a command is asked about the world, its faults sorted by name."""
        return self.world.under(Environment(self.faults)).options

    @property
    def command(self) -> str:
        """The command that makes these traces, but for its ``--out``."""
        return f"halfcheck simulate --traces {self.traces}{self._options}"

    def command_of(self, number: int) -> str:
        """The command that makes one of these traces again, and prints it, without the others."""
        return f"halfcheck simulate --trace {number}{self._options}"

    @property
    def _options(self) -> str:
        of = f" --of {self.of}" if self.of != SPECIFICATION else ""
        faults = f" --faults {','.join(self.faults)}" if self.faults else ""
        choice = f" --choice {self.choice}" if self.choice != UNIFORM else ""
        return (
            f"{of} --profile {self.profile}{faults} --instance {self.world.instance.name} --steps {self.steps}{choice}"
            f" --seed {self.seed}"
        )

    @property
    def partition(self) -> str:
        """The folder of the run below a directory of many: by its profile, and by a name that no other run has."""
        digest = hashlib.sha256(json.dumps(self.to_json()).encode()).hexdigest()[:8]
        name = f"{Path(self.world.instance.name).stem}-{self.choice}-{digest}"
        return EVENTS_TABLE.folder(profile=self.profile.name, run=name)

    def to_json(self) -> dict[str, Any]:
        """The parameters as plain data, the world by its names."""
        names = {"profile": self.profile.name, "environment": self.faults, "instance": self.world.instance.name}
        return names | {name: getattr(self, name) for name in ("seed", "traces", "steps", "choice", "of")}


@dataclass(frozen=True)
class ManifestFile:
    """One Parquet file of the manifest: whole traces, in order."""

    name: str
    first: int
    traces: int
    events: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """One simulated run.

    Attributes
    ----------
    halfcheck, commit
        The version that made it, and the checkout's commit if it was one.
    source
        The fingerprint of the sources on which the traces depend.
    """

    schema_version: int
    halfcheck: str
    commit: str
    source: str
    parameters: Parameters
    events: int
    files: tuple[ManifestFile, ...]
    checksum: str


@dataclass(frozen=True)
class TraceRun:
    """A folder of traces and its manifest."""

    folder: Location
    manifest: Manifest

    @property
    def parameters(self) -> Parameters:
        """The parameters that made the traces."""
        return self.manifest.parameters


def make_manifest(
    parameters: Parameters, files: tuple[ManifestFile, ...], packages: Sequence[str] = SOURCES_OF_WALKS
) -> Manifest:
    """Describe a finished run; ``checksum`` is the SHA-256 of the files' own, in order."""
    return Manifest(
        schema_version=SCHEMA_VERSION,
        halfcheck=product_version(),
        commit=commit(),
        source=source_fingerprint(parameters.world.instance, packages),
        parameters=parameters,
        events=sum(file.events for file in files),
        files=files,
        checksum=hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest(),
    )


def write_manifest(folder: Location, manifest: Manifest) -> bool:
    """Write ``_manifest.json`` into a folder that has none; says whether it was written."""
    content = asdict(manifest) | {"parameters": manifest.parameters.to_json()}
    return create_whole(folder / MANIFEST, json.dumps(content, indent=2) + "\n")


def parameters_of(content: Mapping[str, Any]) -> Parameters:
    """Parameters from the plain data of ``Parameters.to_json``.

    Raises
    ------
    KeyError, TypeError
        A key is missing or unknown.
    ModelCheckError
        The profile, a fault or the instance is unknown.
    """
    others = dict(content)
    profile, faults, instance = Profile.of(others.pop("profile")), others.pop("environment"), others.pop("instance")
    if others.get("of") == RECORDED:
        return Parameters.of_recorded(faults[0], profile, others["traces"])
    return Parameters(World.of(profile, map(str, faults), load_instance(instance)), **others)


def other_parameter(there: Parameters, asked: Parameters) -> str | None:
    """Say in words which parameter of two runs is the first to differ; None if they are the same run."""
    wanted = asked.to_json()
    for name, first in there.to_json().items():
        if first != wanted[name]:
            return f"{name} {first}, asked for {wanted[name]}"
    return None


def read_manifest(folder: Location) -> Manifest:
    """Read and check the manifest of a folder.

    Raises
    ------
    BadTracesError
        It is missing, is no JSON, lacks a key, or has another schema version.
    ModelCheckError
        As ``parameters_of``.
    """
    path = manifest_of(folder)
    try:
        content = read_json(path)
    except FileNotFoundError:
        message = f"{folder}: there is no {MANIFEST} in it; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message) from None
    except (OSError, ValueError) as failure:
        raise BadTracesError(str(failure)) from None
    found = content.get("schema_version") if isinstance(content, dict) else None
    if found != SCHEMA_VERSION:
        message = f"{path}: schema version {found}, this halfcheck reads version {SCHEMA_VERSION}; simulate again"
        raise BadTracesError(message)
    try:
        made = Manifest(
            **{field.name: content[field.name] for field in fields(Manifest)}
            | {
                "parameters": parameters_of(content["parameters"]),
                "files": tuple(ManifestFile(**file) for file in content["files"]),
            }
        )
    except (KeyError, TypeError) as failure:
        message = f"{path}: a key is missing or unknown ({failure}); simulate again"
        raise BadTracesError(message) from None
    return made


def product_version() -> str:
    """The installed version of the project; ``0+unknown`` when it runs without having been installed."""
    try:
        return version("halfcheck")
    except PackageNotFoundError:
        return "0+unknown"


@cache
def commit() -> str:
    """The checkout's commit, with ``-dirty`` behind it where files differ from it; ``unknown`` outside of one."""
    with suppress(OSError):
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],  # noqa: S607 (the user's own git)
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0:
            return asked.stdout.strip()
    return "unknown"


def source_fingerprint(instance: Instance | None = None, packages: Sequence[str] = SOURCES_OF_WALKS) -> str:
    """Sixteen hexadecimal digits that change with the sources of some packages, or with an instance's own file.

    By them traces of an older specification differ from new ones.
    """
    digest = hashlib.sha256()
    file = Path("" if instance is None else instance.name)
    if file.suffix == ".toml" and file.is_file():
        digest.update(read_bytes(file))
    for package in packages:
        found = find_spec(package)
        for root in () if found is None else found.submodule_search_locations or ():
            for path in sorted(Path(root).rglob("*")):
                if path.suffix in {".py", ".toml"}:
                    digest.update(path.relative_to(root).as_posix().encode() + b"\0" + read_bytes(path) + b"\0")
    return digest.hexdigest()[:16]


def to_json(run: TraceRun) -> dict[str, Any]:
    """Give the facts of a run as plain data, as ``simulate --json`` prints them."""
    return run.parameters.to_json() | {
        "out": str(run.folder),
        "events": run.manifest.events,
        "files": len(run.manifest.files),
        "bytes": sum(file.size_bytes for file in run.manifest.files),
        "checksum": run.manifest.checksum,
    }
