#!/bin/sh
# What the machine must have before anything is installed: Python 3.11 to 3.14 that can make a virtual environment,
# and Java 17 or newer for Spark. Prints the Python to use on stdout. Whatever is missing or too old gets one line on
# stderr that names what was found, what is needed and what to install; the exit code is then 1.
#
# PYTHON=path       use this Python and no other
# JAVA_HOME=folder  use this Java and no other (Spark does the same)
set -u

python_candidates="python3.13 python3.12 python3.11 python3.14 python3 python"
python_needed="Python 3.11, 3.12, 3.13 or 3.14"
java_needed="JDK 17 or newer"

complain() {
    echo "halfcheck: $1" >&2
}

# The version of a Python as MAJOR.MINOR.MICRO; nothing when it does not run.
python_version() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null
}

python_version_fits() {
    case "$1" in
        3.11.* | 3.12.* | 3.13.* | 3.14.*) return 0 ;;
        *) return 1 ;;
    esac
}

python_makes_environments() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

# Prints the path of the first Python that fits, or complains once about what was found instead.
find_python() {
    found=""
    without_venv=""
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- $python_candidates
    fi
    for candidate in "$@"; do
        version=$(python_version "$candidate") || continue
        if ! python_version_fits "$version"; then
            found="$found${found:+, }$candidate is Python $version"
        elif ! python_makes_environments "$candidate"; then
            without_venv="${without_venv:-$candidate (Python $version)}"
        else
            command -v "$candidate"
            return 0
        fi
    done
    if [ -n "$without_venv" ]; then
        complain "$without_venv cannot make a virtual environment, the modules venv and ensurepip are needed: install them, e.g. apt-get install python3-venv"
    elif [ -n "${PYTHON:-}" ]; then
        complain "PYTHON=$PYTHON is not usable (${found:-it does not run}), $python_needed is needed: set PYTHON to such a Python or leave it unset"
    else
        complain "no usable Python (${found:-none on PATH}), $python_needed is needed: install it, e.g. apt-get install python3 python3-venv, or set PYTHON to its path"
    fi
    return 1
}

# The feature release of a Java: 17 for "17.0.15", 8 for "1.8.0_392"; nothing when it does not run.
java_release() {
    "$1" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1
}

check_java() {
    if [ -n "${JAVA_HOME:-}" ]; then
        java="$JAVA_HOME/bin/java"
        remedy="set JAVA_HOME to such a JDK or leave it unset"
    else
        java="java"
        remedy="install it, e.g. apt-get install openjdk-17-jdk-headless, or set JAVA_HOME to its folder"
    fi
    if ! command -v "$java" >/dev/null 2>&1; then
        if [ -n "${JAVA_HOME:-}" ]; then found="JAVA_HOME=$JAVA_HOME has no bin/java"; else found="no java on PATH"; fi
        complain "$found, $java_needed is needed: $remedy"
        return 1
    fi
    release=$(java_release "$java")
    if [ -z "$release" ]; then
        complain "$(command -v "$java") does not tell its version, $java_needed is needed: $remedy"
        return 1
    fi
    if [ "$release" -lt 17 ]; then
        complain "$(command -v "$java") is Java $release, $java_needed is needed: $remedy"
        return 1
    fi
}

status=0
find_python || status=1
check_java || status=1
exit "$status"
