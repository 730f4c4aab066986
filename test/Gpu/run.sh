#!/usr/bin/env bash
# Runs what prepare.py made, on a machine with a GPU and its driver (or anywhere, for --target emulated-cuda): every
# program on its own mesh and on one rank, compared with what JAX computed, then timed.
#
#   bash run.sh [--seconds=S] [--transport=NAME] [--no-graphs] [--limit=S] [--out=DIR]
#
#   --seconds=S    time steps of each program for S seconds (1; 0: not at all)
#   --transport=T  auto (default), host, direct or nccl
#   --no-graphs    steps of one rank are not replayed from a CUDA graph
#   --limit=S      begin nothing after S seconds (420)
#   --out=DIR      where results.tsv, peers.tsv and table.md go (the current directory)
#
# First what the device gives to others: copies, launches, cuBLASLt where it is found.
#
# Needs bash, coreutils and what stands beside it. Exits 1 if a program failed or was not run.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=1 transport=auto limit=420 out=. graphs=()
for option in "$@"; do
  case $option in
  --seconds=*) seconds=${option#*=} ;;
  --transport=*) transport=${option#*=} ;;
  --no-graphs) graphs=("$option") ;;
  --limit=*) limit=${option#*=} ;;
  --out=*) out=${option#*=} ;;
  *)
    echo "unknown option $option" >&2
    exit 2
    ;;
  esac
done
mkdir -p "$out"
export LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
device="no GPU"
if command -v nvidia-smi >/dev/null; then
  device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1) || device=unknown
fi

SECONDS=0
timeout 40 "$here/gpu-peers" >"$out/peers.tsv" || echo "peers: exit code $?" >&2
cat "$out/peers.tsv"
equal=0 failed=0 skipped=0
: >"$out/results.tsv"
while IFS=$'\t' read -r name ranks mesh artifact case; do
  if ((SECONDS >= limit)); then
    skipped=$((skipped + 1))
    printf '%s\t%s\t%s\tSKIPPED\t\t\t\t\tno time left\n' "$name" "$ranks" "$mesh" >>"$out/results.tsv"
    continue
  fi
  line=$(timeout 40 "$here/gpu-runner" --transport="$transport" --seconds="$seconds" "${graphs[@]}" "$here/$artifact" "$here/$case" 2>&1)
  status=$?
  if ((status == 0)); then
    equal=$((equal + 1))
  else
    failed=$((failed + 1))
    if [[ $line != FAILED* && $line != DIFFERS* ]]; then
      line="FAILED"$'\t\t\t\t\t'"exit code $status ${line//$'\n'/ }"
    fi
  fi
  printf '%s\t%s\t%s\t%s\n' "$name" "$ranks" "$mesh" "$line" >>"$out/results.tsv"
  printf '%-30s %-18s %s\n' "$name" "$mesh" "$line"
done <"$here/index.tsv"

{
  echo "Device: $device. Date: $(date -u +%Y-%m-%d). Transport: $transport."
  echo
  echo "| program | mesh | ranks | result | largest difference | steps | median ms | least ms |"
  echo "|---|---|---|---|---|---|---|---|"
  while IFS=$'\t' read -r name ranks mesh verdict difference steps median least text; do
    echo "| $name | $mesh | $ranks | $verdict $text | $difference | $steps | $median | $least |"
  done <"$out/results.tsv"
  echo
  echo "| on the same device | | | |"
  echo "|---|---|---|---|"
  while IFS=$'\t' read -r name value unit text; do
    echo "| $name | $value | $unit | $text |"
  done <"$out/peers.tsv"
} >"$out/table.md"
echo "$equal equal, $failed failed, $skipped not run, ${SECONDS} s, on $device"
((failed + skipped == 0))
