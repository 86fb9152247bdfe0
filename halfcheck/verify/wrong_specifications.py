"""Specifications that are wrong about a real store: each must be refused, or an explained store would say nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.golden_stores import golden_store
from files.reading import read_text
from html_report.data import RefusedSpecification
from model_check.errors import EvaluationError
from model_check.world import Profile
from reference.format.broker_conf import NAME, read_broker_conf
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class WrongSpecification:
    """A golden store, and a specification that is wrong about it as `claim` says.

    Attributes
    ----------
    specification
        A profile, with switches that are turned as `halfcheck diff` takes them.
    setting
        ``key=value`` of broker.conf, where another value than the store's own is asked for; the store's file sets the
        key, too.
    """

    version: str
    scenario: str
    specification: str
    claim: str
    setting: str = ""


WRONG_SPECIFICATIONS: Final = (
    WrongSpecification("5.3.3", "five", "4.9.7", "each END_TRANSACTION writes an op message of its own, as before 5.1"),
    WrongSpecification("4.9.7", "five", "5.3.3", "op messages are written in batches, as from 5.1 on"),
    WrongSpecification("4.5.1", "forever", "4.9.7", "a half that is discarded is kept aside, as from 4.5.2 on"),
    WrongSpecification(
        "5.3.3", "immunity", "5.3.3+heeds_settled_originals", "B01 is repaired: the copy of a settled half is passed"
    ),
    WrongSpecification("4.9.7", "forever", "4.9.7", "a half has 14 checks, not 15", "transactionCheckMax=14"),
    WrongSpecification("4.9.7", "forever", "4.9.7", "a half has 16 checks, not 15", "transactionCheckMax=16"),
    WrongSpecification(
        "5.3.3", "forever", "5.3.3", "a round begins every two minutes, not every second",
        "transactionCheckInterval=120000",
    ),
)  # fmt: skip
"""Those on the page; each breaks another rule, or the same one from the other side."""


def refused_specification(wrong: WrongSpecification, folder: Path) -> RefusedSpecification:
    """Hold a store against a specification that is wrong about it.

    A broker.conf with the other setting is written into the folder, so that the command can name it.

    Raises
    ------
    EvaluationError
        It is not refused, or only by a search that was cut short.
    """
    store = golden_store(wrong.version, wrong.scenario)
    command = f"halfcheck diff conformance/golden/{store.name} spec:{wrong.specification}"
    conf = None
    if wrong.setting:
        path = _broker_conf(
            store.path / NAME, wrong.setting, folder / f"{store.name.replace('/', '-')}-{wrong.setting}"
        )
        conf = read_broker_conf(path)
        command += f" --broker-conf {path}"
    profile = Profile.of(wrong.specification)
    trace = audit_store(store.path, question=StoreQuestion(profiles=(profile,), conf=conf)).trace
    found = None if trace.verdict is None else trace.verdict.divergence
    if trace.accepted is not False or not trace.is_complete or found is None:
        message = f"{store.name} must be refused where {wrong.claim}, but is {trace.sentence()}: {command}"
        raise EvaluationError(message)
    return RefusedSpecification(store.name, profile, wrong.setting, wrong.claim, found, command)


def _broker_conf(own: Path, setting: str, folder: Path) -> Path:
    """Write a store's broker.conf with one setting replaced."""
    key = setting.partition("=")[0]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    text = read_text(own)
    path.write_text(re.sub(rf"^{key}=.*$", setting, text, flags=re.MULTILINE), encoding="utf-8")
    return path
