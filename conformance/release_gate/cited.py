"""The project's citations of RocketMQ's classes and methods: by rules, the broker, the catalogue, switches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.rules_page import rules
from model_check.defects.catalogue import catalogue
from model_check.switches import switch_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OF_THE_JDK: Final = frozenset(
    {"ConcurrentHashMap", "HashMap", "InetSocketAddress", "MappedByteBuffer", "RejectedExecutionException"}
)
"""Classes that docstrings name besides RocketMQ's own."""

OF_DLEDGER: Final = frozenset({"DLedgerConfig", "DLedgerEntryCoder", "MmapFileList"})
"""Those of DLedger, whose releases have numbers of their own."""

OF_THE_GRPC_CLIENTS: Final = frozenset({"TransactionChecker"})
"""Those of rocketmq-clients, whose releases have numbers of their own, too."""


@dataclass(frozen=True, slots=True)
class Speakers:
    """Who speaks of a class or method."""

    specification: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    """Those of releases, as it is what their readers model."""


@cache
def cited() -> Mapping[str, Speakers]:
    """The speakers of each ``Class`` or ``Class#method``.

    A defect speaks of what its entry names as `java`, and of what a rule names in whose docstring its id stands.
    """
    found: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for (java_class, method), mentions in rules().items():
        if java_class not in OF_THE_JDK | OF_DLEDGER | OF_THE_GRPC_CLIENTS:
            of_name = found[name_of(java_class, method)]
            for mention in mentions:
                module = Path(mention.path).stem
                package = "specification" if mention.path.startswith("spec/") else "reference"
                of_name[package][f"{module}.{mention.name}" if mention.name else module] = None
                of_name["catalogue"].update(dict.fromkeys(mention.defects))
    for identifier, defect in catalogue().items():
        for name in defect.java:
            found[name]["catalogue"][identifier] = None
    for record in switch_records().values():
        if record.kind == "version":
            for name in record.java:
                found[name]["switches"][record.name] = None
    return {
        name: Speakers(**{who: tuple(sorted(names)) for who, names in found[name].items()}) for name in sorted(found)
    }


def name_of(java_class: str, method: str) -> str:
    """``Class`` or ``Class#method``."""
    return f"{java_class}#{method}" if method else java_class


def of_defect(identifier: str) -> Iterable[str]:
    """The names that a defect cites."""
    return [name for name, speakers in cited().items() if identifier in speakers.catalogue]
