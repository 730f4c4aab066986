#!/usr/bin/env bash
# Says what is found on this machine, what is switched off, and why. Always
# exits with 0 unless something that the build needs is missing.
# usage: doctor.sh BUILD_DIR
set -euo pipefail

build=${1:-build}
llvm=/usr/lib/llvm-22
lacking=0

row() { printf '  %-12s %-8s %s\n' "$1" "$2" "$3"; }

# need NAME FILE PACKAGE COMMAND...: a row for something the build needs.
need() {
  local name=$1 file=$2 package=$3 version
  shift 3
  if [ -e "$file" ]; then
    version=$("$@" 2>/dev/null | head -n 1) || version=$file
    row "$name" found "$version"
  else
    row "$name" MISSING "Debian package $package (./run build installs it)"
    lacking=1
  fi
}

# may NAME COMMAND WHY: a row for something that helps where it is there.
may() {
  local path
  if path=$(command -v "$2"); then
    row "$1" found "$path"
  else
    row "$1" off "$3"
  fi
}

printf 'machine\n'
row cores "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)"
flags=$(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
for feature in avx2 fma avx512f; do
  case " $flags " in
  *" $feature "*) row "$feature" found "" ;;
  *) row "$feature" off "this processor does not have it; code is generated without" ;;
  esac
done
row memory "$(awk '/MemTotal/ {printf "%.0f GB", $2 / 1e6}' /proc/meminfo 2>/dev/null || true)" ""
row disk "$(df -h --output=avail . | tail -n 1 | tr -d ' ')" "free here; a build takes about 1 GB"

printf 'needed to build and test\n'
need clang /usr/bin/clang++-22 clang-22 clang++-22 --version
need lld "$llvm/bin/ld.lld" lld-22 "$llvm/bin/ld.lld" --version
need LLVM "$llvm/lib/cmake/llvm/LLVMConfig.cmake" llvm-22-dev "$llvm/bin/llvm-config" --version
need MLIR "$llvm/lib/cmake/mlir/MLIRConfig.cmake" libmlir-22-dev echo "$llvm/lib/cmake/mlir"
need mlir-tblgen "$llvm/bin/mlir-tblgen" mlir-22-tools echo "$llvm/bin/mlir-tblgen"
need FileCheck "$llvm/bin/FileCheck" llvm-22-tools echo "$llvm/bin/FileCheck"
need lit "$llvm/bin/lit" llvm-22-tools "$llvm/bin/lit" --version
need cmake /usr/bin/cmake cmake cmake --version
need ninja /usr/bin/ninja ninja-build ninja --version
need GoogleTest /usr/include/gtest/gtest.h libgtest-dev echo /usr/include/gtest
need zlib /usr/include/zlib.h zlib1g-dev echo /usr/include/zlib.h
need libsodium /usr/include/sodium.h libsodium-dev echo /usr/include/sodium.h
need python /usr/bin/python3 python3 python3 --version

printf 'used where it is there\n'
may ccache ccache "rebuilds are slower (Debian package ccache)"
may shellcheck shellcheck "the check of the shell scripts is not run"
if python3 -c 'import jax' 2>/dev/null; then
  row jax found "$(python3 -c 'import jax; print(jax.__version__)')"
else
  row jax off "models cannot be exported anew; the stored ones run without it"
fi
may clang-format clang-format-22 "the check of the format is not run (Debian package clang-format-22)"
may clang-tidy clang-tidy-22 "./run test tidy installs it"
suite=${SHARDC_STABLEHLO_TESTS:-../shared/stablehlo-tests}
if [ -d "$suite/data" ]; then
  row stablehlo found "$suite"
else
  row stablehlo off "StableHLO's own test programs; ./run test stablehlo says where from"
fi

printf 'targets and transports\n'
row cpu on "code for the processor; ranks are threads, or processes (--processes=N)"
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
  row cuda on "driver found; --device=cuda"
else
  row cuda off "no driver; --device=emulated-cuda runs kernels on the host"
fi
may "Open MPI" mpicc.openmpi "Debian packages openmpi-bin and libopenmpi-dev; --transport=mpi needs it, or MPICH"
may MPICH mpicc.mpich "Debian packages mpich and libmpich-dev"
if ldconfig -p 2>/dev/null | grep -q 'libnccl\.so\.2'; then
  row nccl on "library found; --transport=nccl"
else
  row nccl off "no libnccl.so.2; ranks on GPUs of one process need none"
fi

printf 'this tree\n'
if [ -x "$build/bin/shard-run" ]; then
  row tools built "$build/bin"
else
  row tools none "./run build makes them"
fi
if ((lacking)); then
  printf 'something that the build needs is missing: ./run build installs it\n'
  exit 1
fi
printf 'everything that the build needs is here\n'
