"""``make broker-conf``: generated files, as Java and RocketMQ read them and as this project does.

What is compared are the keys and values of ``java.util.Properties``, and the fields of the configurations that
``MixAll#properties2Object`` fills, release by release. The exit code is 0 where nothing differs, 255 where something
does, 150 where Maven or Java fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from conformance.releases.jars import fetched_jars, release_called
from files.writing import write_whole
from real_brokers.broker_conf.generated_files import generated_files
from real_brokers.broker_conf.java_side import JavaSetting, ask_java, differences, java_version, own_settings
from real_brokers.command_line import exit_code_after
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASES: Final = ("4.9.7", "5.1.0", "5.3.3", "5.5.1")
RESULTS: Final = Path(__file__).parents[2] / "benchmarks" / "broker_conf" / "RESULTS.md"
VECTORS: Final = Path(__file__).with_name("mixall_vectors.json")
_FILES, _SEED, _SHOWN = 5_000, 1, 20
_MOST_VECTORS: Final = 400
_CONFIGURATIONS: Final = (
    "common.BrokerConfig", "remoting.netty.NettyServerConfig", "remoting.netty.NettyClientConfig",
    "store.config.MessageStoreConfig",
)  # fmt: skip
_OF_AUTHENTICATION: Final = "auth.config.AuthConfig"
_SINCE: Final = release_numbers("5.3.0")

_HEAD: Final = """# Generated broker.conf files, as Java reads them

`make broker-conf` makes {files:,} files by seed {seed} (escapes, encodings, ends of lines, blanks, continued lines,
values of all kinds), has each read by `java.util.Properties` ({java}) and by
`MixAll#properties2Object` of real releases, and compares every key, every value, and every field with a setter.

| read by | files | of these not loaded | settings | fields with a setter | of these changed | differences | seconds |
|---|---|---|---|---|---|---|---|
"""


def _configurations(release: str) -> list[str]:
    named = (*_CONFIGURATIONS, *((_OF_AUTHENTICATION,) if release_numbers(release) >= _SINCE else ()))
    return [f"org.apache.rocketmq.{name}" for name in named]


def compare(files: Sequence[bytes], release: str | None) -> tuple[str, list[str], list[Any]]:
    """A row of the page, the differences, and what MixAll made of each setting with a field."""
    begun = perf_counter()
    classpath = f"{fetched_jars(release_called(release))}/*" if release else ""
    answers = ask_java(files, classpath, _configurations(release) if release else ())
    different = [
        f"{release or 'Properties'}: {one}: {file[:200]!r}"
        for file, answer in zip(files, answers, strict=True)
        for one in differences(file, answer, release)
    ]
    settings = [setting for answer in answers for setting in answer or ()]
    fields = [setting for setting in settings if setting.after is not None]
    changed = sum(setting.after != setting.before for setting in fields)
    unloaded = sum(own_settings(file) is None for file in files)
    row = (
        f"| {f'MixAll of {release}' if release else 'Properties'} | {len(files):,} | {unloaded} | {len(settings):,} | "
        f"{len(fields):,} | {changed:,} | {len(different)} | {perf_counter() - begun:.0f} |"
    )
    return row, different, fields


def vectors(release: str, fields: Sequence[JavaSetting]) -> list[list[str | None]]:
    """Test vectors of MixAll, each case once: release, key, value, and the field; null where nothing was set."""
    cases = {(one.key, one.value): one.after if one.after != one.before else None for one in fields}
    chosen = sorted(cases, key=lambda case: crc32(repr(case).encode()))[: _MOST_VECTORS // len(RELEASES)]
    return [[release, key, value, cases[key, value]] for key, value in sorted(chosen)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and write the page and the vectors."""
    parser = argparse.ArgumentParser(
        prog="python -m real_brokers.broker_conf",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="?", type=int, default=_FILES, help=f"how many files ({_FILES})")
    parser.add_argument("seed", nargs="?", type=int, default=_SEED, help=f"of the generator ({_SEED})")
    options = parser.parse_args(arguments)
    return exit_code_after(lambda: _compare_all(options.files, options.seed))


def _compare_all(count: int, seed: int) -> int:
    files = generated_files(count, seed)
    rows: list[str] = []
    all_different: list[str] = []
    cases: list[list[str | None]] = []
    for release in (None, *RELEASES):
        row, different, fields = compare(files, release)
        print(row, flush=True)
        rows.append(row)
        all_different += different
        if release:
            cases += vectors(release, fields)
    java = java_version()
    for one in all_different[:_SHOWN]:
        print(one)
    if (count, seed) == (_FILES, _SEED) and not all_different:
        write_whole(RESULTS, _HEAD.format(files=count, seed=seed, java=java) + "\n".join(rows) + "\n")
        lines = ",\n".join(json.dumps(case) for case in cases)
        write_whole(VECTORS, f"[\n{lines}\n]\n")
    return 255 if all_different else 0


if __name__ == "__main__":
    sys.exit(main())
