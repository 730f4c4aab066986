#!/usr/bin/env bash
# Installs a wheel into an empty venv of a bare Debian 12, which has neither LLVM
# nor this tree, and runs a quick tier of tests there: without JAX, then with JAX,
# and with triton and torch (a wheel for CPUs that SHARDC_TORCH_WHEEL names), each imported before and after.
#
#   check_wheel.sh WHEEL [FOLDER]
#
# As root. The Debian is made by debootstrap in FOLDER (default: a temporary one,
# removed at the end), and used again if it is there. Packages of Python come from
# where pip takes them on this machine, for this machine's Python, which has to be
# Debian 12's version (3.11).
set -euo pipefail

wheel=$(realpath "$1")
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${2:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mirror=${SHARDC_DEBIAN_MIRROR:-http://deb.debian.org/debian}

if [ ! -x "$folder/usr/bin/python3" ]; then
  debootstrap --variant=minbase --include=python3,python3-venv bookworm "$folder" "$mirror" >"$folder.log" 2>&1 ||
    { tail -5 "$folder.log" && exit 1; }
  rm -f "$folder.log"
fi
packages="$folder/packages"
rm -rf "$packages" "$folder/v" "$folder/tree" "$folder/scratch"
mkdir -p "$packages" "$folder/tree/test/Python" "$folder/scratch"
download=("${PYTHON:-python3}" -m pip download --quiet --disable-pip-version-check --dest "$packages")
"${download[@]}" numpy jax ml_dtypes
"${download[@]}" --no-deps triton || echo "triton cannot be had here: it is left out"
# What PyPI has of torch brings gigabytes of CUDA: a wheel for CPUs, where one is named.
[ -z "${SHARDC_TORCH_WHEEL:-}" ] || "${download[@]}" "$SHARDC_TORCH_WHEEL"
cp "$wheel" "$packages"
cp "$tree"/test/Python/{arrays,calls,no_jax,specs}.py "$tree/test/Python/Inputs/beside.py" "$folder/tree/test/Python"
cp "$tree"/python/examples/{train,unet}.py "$tree/test/Jax/asked.py" "$folder/tree"
cp "$tree/VERSION" "$folder/tree"

# A process of its own sees the Debian alone, with /proc, and no network but the
# way to itself (SIOCSIFFLAGS, IFF_UP), by which ranks in processes meet.
# shellcheck disable=SC2016 # expanded by the shell in there
unshare --mount --net --fork --kill-child bash -euc '
  mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc"
  python3 -c "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh14x\", b\"lo\", 1))"
  exec chroot "$0" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root bash -euc "
    [ ! -e /usr/lib/llvm-22 ]
    python3 -m venv /v
    install() { /v/bin/pip install --quiet --no-index --find-links /packages \"\$@\"; }
    install shardc
    cd /tree/test/Python
    export TMPDIR=/scratch
    /v/bin/python arrays.py
    /v/bin/python calls.py
    /v/bin/python no_jax.py
    install ml_dtypes jax
    /v/bin/python specs.py
    # The plugin, found by its entry point: a script of JAX, with one variable and without.
    /v/bin/python /tree/asked.py
    JAX_PLATFORMS=shardc SHARDC_DEVICES=8 /v/bin/python /tree/train.py
    SHARDC_DEVICES=8 /v/bin/python /tree/train.py
    [ ! -e /packages/triton-*.whl ] || install triton
    [ ! -e /packages/torch-*.whl ] || install torch
    /v/bin/python beside.py
    /v/bin/shard-run --version | tail -1"
' "$folder"
echo "$wheel: good on a bare Debian 12"
