#!/bin/sh
# Builds .venv from requirements.lock and puts the project into it, editable. Does nothing when the stamp in .venv says
# that this lock file, in this folder, is installed already; the stamp is written last, so that an interrupted run is
# done again and a damaged .venv is built anew.
set -eu

cd "$(dirname "$0")/.."
venv=.venv
stamp=$venv/.installed

# The interpreter behind whatever was found: inside an activated .venv, that would be the one about to be replaced.
found=$(setup/check_machine.sh)
python=$("$found" -c 'import sys; print(sys._base_executable)')

# Everything that decides what is in .venv, the folder first.
installed_key() {
    pwd
    cksum requirements.lock pyproject.toml setup/install.sh
    "$venv/bin/python" -c 'import sys; print(sys.version)'
}

# Was an environment finished once, in this folder (its scripts name their interpreter in full), does it run, with pip,
# and is it of the Python that PYTHON asks for (if it asks)?
environment_is_sound() {
    [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$(pwd)" ] || return 1
    "$venv/bin/python" -c 'import pip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || return 1
    [ -z "${PYTHON:-}" ] || [ "$("$python" -c "$sys_version")" = "$("$venv/bin/python" -c "$sys_version")" ]
}
sys_version='import sys; print(sys.version)'

if environment_is_sound; then
    if [ "$(installed_key)" = "$(cat "$stamp")" ]; then
        exit 0
    fi
    rm -f "$stamp"
else
    rm -rf "$venv"
    "$python" -m venv "$venv"
fi

started=$(date +%s)
echo "halfcheck: installing the locked packages into $venv (once, a minute or two)" >&2

# The installer and the build backend come first, from the same lock file and checked against the same hashes.
awk '/^[^ #]/ { wanted = /^(uv|setuptools)==/ } wanted' requirements.lock > "$venv/bootstrap.lock"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
    --require-hashes --requirement "$venv/bootstrap.lock"

# uv does not read pip's settings; whoever told pip of a mirror or a certificate should not have to say it again.
# (`pip config list`, because `pip config get` misses the machine-wide file in some versions.)
pip_setting() {
    "$venv/bin/python" -m pip --disable-pip-version-check config list | sed -n "s/^global\.$1='\(.*\)'\$/\1/p"
}
index=${PIP_INDEX_URL:-$(pip_setting index-url)}
if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
    export UV_DEFAULT_INDEX="$index"
fi
certificate=${PIP_CERT:-$(pip_setting cert)}
if [ -n "$certificate" ] && [ -z "${SSL_CERT_FILE:-}" ]; then
    export SSL_CERT_FILE="$certificate"
fi
export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-180}"

"$venv/bin/uv" pip sync --quiet --python "$venv/bin/python" --no-build-isolation --require-hashes requirements.lock
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-build-isolation --no-deps --editable .

installed_key > "$stamp"
echo "halfcheck: installed in $(($(date +%s) - started)) s" >&2
