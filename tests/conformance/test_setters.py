"""The keys of a release are read in its bytecode: of classes that the JDK's compiler has made."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.errors import ReleaseGateError
from conformance.release_gate.digests import Classes
from conformance.release_gate.recorded import KEYS, different_keys, read_keys, write_keys
from conformance.release_gate.setters import keys_of

SOURCE = """
package org.apache.rocketmq.broker;

import java.util.Properties;

class MixAll { static void properties2Object(Properties p, Object o) {} }

enum Role { ASYNC_MASTER, SLAVE }

enum Kind { OFF, ON; static Kind valueOf(int number) { return OFF; } }

class Identity {
    private String name = "broker-a";
    public void setName(String name) { this.name = name; }
}

class BrokerConfig extends Identity {
    private long transactionTimeOut = 6 * 1000;
    private int threads = Runtime.getRuntime().availableProcessors() > 4 ? 4 : 1;
    private int port = 8888;
    private boolean enabled = true;
    private double ratio = 0.75;
    private Integer boxed = Integer.valueOf(7);
    private Role role = Role.ASYNC_MASTER;
    private Kind kind = Kind.OFF;
    private String dLegerGroup;
    private int unset;
    public void setTransactionTimeOut(long value) { transactionTimeOut = value; }
    public void setThreads(int value) { threads = value; }
    public void setPort(int value) { port = value; }
    public void setEnabled(boolean value) { enabled = value; }
    public void setRatio(double value) { ratio = value; }
    public void setBoxed(Integer value) { boxed = value; }
    public void setRole(Role value) { role = value; }
    public void setRole(String value) { role = Role.valueOf(value); }
    public void setKind(int value) { kind = Kind.valueOf(value); }
    public void setKind(String value) { kind = Kind.valueOf(value); }
    public void setdLegerGroup(String value) { dLegerGroup = value; }
    public void setUnset(int value) { unset = value; }
    public void setList(java.util.List<String> value) { }
    void setHidden(int value) { unset = value; }
    public void setNothing() { }
    public String settle(String value) { return value; }
}

class OtherConfig { public void setForeign(int value) { } }

class BrokerStartup {
    static void start(Properties properties) {
        BrokerConfig config = new BrokerConfig();
        config.setPort(10911);
        MixAll.properties2Object(properties, config);
        config.setUnset(5);
    }
    static void properties2SystemEnv(Properties properties) {
        System.setProperty("rocketmq.namesrv.domain", properties.getProperty("rmqAddressServerDomain", "x.y"));
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Classes:
    folder = tmp_path_factory.mktemp("setters")
    (folder / "Startup.java").write_text(SOURCE)
    subprocess.run(["javac", "-d", folder / "made", folder / "Startup.java"], check=True)
    return Classes([_jar(folder)])


def _jar(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder / "made"), "zip", folder / "made"))


def test_each_public_setter_of_a_class_that_startup_fills_is_a_key_with_its_type_and_default(classes: Classes) -> None:
    assert keys_of(classes) == {
        "boxed": "int",
        "dLegerGroup": "String",
        "enabled": "boolean true",
        "kind": "OFF|ON|int OFF",
        "name": "String broker-a",
        "port": "int 10911",
        "ratio": "double 0.75",
        "rmqAddressServerDomain": "String",
        "role": "ASYNC_MASTER|SLAVE ASYNC_MASTER",
        "threads": "int",
        "transactionTimeOut": "long 6000",
        "unset": "int 0",
    }


def test_what_is_written_is_read_again_and_a_difference_is_a_sentence(tmp_path: Path) -> None:
    keys = {"5.4.0": {"a": "int 1", "b": "String"}, "5.5.0": {"a": "int 2"}, "5.5.1": {"a": "long 2", "b": "String x"}}
    write_keys(keys, tmp_path / "keys.json")
    assert read_keys(tmp_path / "keys.json") == keys
    assert different_keys(keys, {"5.5.0": {"b": "String"}, "5.6.0": {"c": "int"}}) == [
        "the key a of 5.5.0 is not there, and kept as int 2",
        "the key b of 5.5.0 is String, and kept as not there",
    ]


def test_the_table_is_as_the_gate_writes_it(tmp_path: Path) -> None:
    write_keys(read_keys(), tmp_path / "keys.json")
    assert (tmp_path / "keys.json").read_text() == KEYS.read_text()
    (tmp_path / "keys.json").write_text("[]")
    with pytest.raises(ReleaseGateError, match=r"keys\.json: can't be read .* ARGS=--update writes it anew"):
        read_keys(tmp_path / "keys.json")
