# Shell functions that .ci/run and .ci/test share; to be sourced.

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 DEBIAN_FRONTEND=noninteractive

say() {
  printf '\n== %s (%s s)\n' "$*" "$SECONDS"
}

# need_debian PATH PACKAGE...: install Debian packages unless PATH, which they bring, is there.
need_debian() {
  local path=$1
  shift
  if [ -e "$path" ]; then
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
  fi
  if ! command -v apt-get >/dev/null; then
    echo "$path is missing, and this is no Debian: install $* by hand" >&2
    return 1
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -qq --yes --no-install-recommends "$@" >/dev/null
}

# make_venv FOLDER: make a virtual environment unless it is there and works.
make_venv() {
  local python=${PYTHON:-python3}
  if ! command -v "$python" >/dev/null; then
    need_debian "/usr/bin/$python" python3 python3-venv
  fi
  # Debian's python3 has venv but not ensurepip, which comes with python3-venv.
  if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    need_debian /nonexistent python3-venv
  fi
  if ! [ -x "$1/bin/pip" ] || ! "$1/bin/python" -c '' 2>/dev/null; then
    "$python" -m venv --clear "$1"
  fi
}
