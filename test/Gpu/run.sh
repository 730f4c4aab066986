#!/usr/bin/env bash
# Runs what prepare.py made, on a machine with a GPU and its driver (or anywhere, for --target emulated-cuda): every
# program on its own mesh and on one rank, compared with what JAX computed, then timed; before that, where prepare.py
# was given --timings, our kernels at the sizes at which others are known, beside these.
#
#   bash run.sh [--seconds=S] [--transport=NAME] [--no-graphs] [--limit=S] [--out=DIR]
#
#   --seconds=S    time steps of each program for S seconds (0.5; 0: not at all)
#   --transport=T  auto (default), host, direct or nccl
#   --no-graphs    steps of one rank are not replayed from a CUDA graph
#   --limit=S      begin nothing after S seconds (420)
#   --out=DIR      where results.tsv, peers.tsv, timings.tsv and table.md go (the current directory)
#
# First what the device gives to others: copies, launches, cuBLASLt where it is found. Then the timings: our kernels;
# the same program by a library where one may do it; PyTorch, FlashAttention and JAX where python3 here has them.
#
# Needs bash, coreutils and what stands beside it. Exits 1 if a program failed or was not run.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=0.5 transport=auto limit=420 out=. graphs=()
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
target=cuda
[[ -e $here/target ]] && target=$(<"$here/target")
[[ $target == cuda ]] || device="an emulated device"

# nanoseconds MS: whole nanoseconds of milliseconds with a fraction; 0 for none.
nanoseconds() {
  [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] && printf '%.0f' "${1}e6" || echo 0
}
# figure UNIT WORK NS: what WORK in NS nanoseconds is in UNIT, with one digit behind the point.
figure() {
  local tenths
  case $1 in
  TFLOP/s) tenths=$(($2 * 10 / ($3 * 1000))) ;;
  GB/s) tenths=$(($2 * 10 / $3)) ;;
  *) tenths=$(($3 / (100 * $2))) ;;
  esac
  echo "$((tenths / 10)).$((tenths % 10)) $1"
}
# compared NAME PEER FIGURE RATIO GOAL TEXT: a line of timings.tsv, shown as well.
compared() {
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$ours" "$2" "$3" "$4" "$5" "$6" >>"$out/timings.tsv"
  printf '%-36s %-16s %-22s %-16s %-12s goal %-6s %s\n' "$1" "$ours" "$2" "$3" "$4" "$5" "$6"
}
: >"$out/timings.tsv"
: >"$out/others.tsv"
if [[ -e $here/timings.tsv ]]; then
  if [[ $target != cuda ]]; then
    printf 'PyTorch, FlashAttention, JAX\tPyTorch\t-\tare for GPUs\n' >"$out/others.tsv"
  elif command -v python3 >/dev/null; then
    timeout 150 python3 "$here/peers.py" "$here" >"$out/others.tsv" 2>"$out/others.log" || echo "peers.py: exit code $?" >&2
  else
    printf 'PyTorch, FlashAttention, JAX\tPyTorch\t-\tthere is no python3\n' >"$out/others.tsv"
  fi
  while IFS=$'\t' read -r name unit work goal artifact calls case library floor; do
    ours="-"
    if ((SECONDS >= limit)); then
      compared "$name" - - - "$goal" "no time left"
      continue
    fi
    IFS=$'\t' read -r verdict _ _ _ least text <<<"$(timeout 60 "$here/gpu-runner" --seconds="$seconds" "$here/$artifact" "$here/$case" 2>&1)"
    ns=$(nanoseconds "$least")
    if [[ $verdict != ran ]] || ((ns == 0)); then
      compared "$name" - - - "$goal" "${verdict:-FAILED} ${text:-exit code}"
      continue
    fi
    ours=$(figure "$unit" "$work" "$ns")
    shown=0
    if [[ $library != - ]]; then
      IFS=$'\t' read -r verdict _ _ _ least text <<<"$(timeout 60 "$here/gpu-runner" --seconds="$seconds" "$here/$calls" "$here/$case" 2>&1)"
      theirs=$(nanoseconds "$least")
      if [[ $verdict == ran && -z $text ]] && ((theirs > 0)); then
        compared "$name" "$library" "$(figure "$unit" "$work" "$theirs")" "$((100 * theirs / ns)) %" "$goal %" ""
      else
        compared "$name" "$library" - - "$goal %" "not measured: ${text:-$verdict}"
      fi
      shown=1
    fi
    if [[ $floor != - ]]; then
      value=$(while IFS=$'\t' read -r what number _; do [[ $what == "$floor" ]] && echo "$number"; done <"$out/peers.tsv")
      if [[ $value == - || -z $value ]]; then
        compared "$name" "$floor" - - "$goal" "not measured"
      elif [[ $unit == us ]]; then
        over=$((ns / work - $(printf '%.0f' "${value}e3")))
        compared "$name" "$floor" "$value us" "$((over / 1000)).$((over < 0 ? 0 : over % 1000 / 100)) us over" "$goal us" ""
      else
        compared "$name" "$floor" "$value GB/s" "$((100 * work / ns / $(printf '%.0f' "$value"))) %" "$goal %" ""
      fi
      shown=1
    fi
    while IFS=$'\t' read -r what peer least text; do
      [[ $what == "$name" ]] || continue
      shown=1
      theirs=$(nanoseconds "$least")
      if ((theirs > 0)); then
        compared "$name" "$peer" "$(figure "$unit" "$work" "$theirs")" "$((100 * theirs / ns)) %" "$goal %" "$text"
      else
        compared "$name" "$peer" - - "$goal %" "not measured: $text"
      fi
    done <"$out/others.tsv"
    ((shown)) || compared "$name" - - - "$goal" ""
  done <"$here/timings.tsv"
fi

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
  if [[ $target != cuda ]]; then
    echo "**Not measured**: run on the emulated device, at tiny sizes, to see that the script runs."
    echo
  fi
  echo "Device: $device. Date: $(date -u +%Y-%m-%d). Transport: $transport."
  echo
  echo "| program | mesh | ranks | result | largest difference | steps | median ms | least ms |"
  echo "|---|---|---|---|---|---|---|---|"
  while IFS=$'\t' read -r name ranks mesh verdict difference steps median least text; do
    echo "| $name | $mesh | $ranks | $verdict $text | $difference | $steps | $median | $least |"
  done <"$out/results.tsv"
  echo
  if [[ -s $out/timings.tsv ]]; then
    echo "| timing | ours | beside | that | ratio | goal | |"
    echo "|---|---|---|---|---|---|---|"
    while IFS=$'\t' read -r name ours peer theirs ratio goal text; do
      echo "| $name | $ours | $peer | $theirs | $ratio | $goal | $text |"
    done <"$out/timings.tsv"
    echo
    echo "| program on one rank | ours, ms | JAX, ms | ratio |"
    echo "|---|---|---|---|"
    while IFS=$'\t' read -r name peer least text; do
      [[ $peer == JAX ]] || continue
      while IFS=$'\t' read -r program ranks _ _ _ _ _ ours _; do
        [[ $program == "$name" && $ranks == 1 ]] || continue
        theirs=$(nanoseconds "$least") ns=$(nanoseconds "$ours")
        ((theirs > 0 && ns > 0)) && ratio="$((100 * theirs / ns)) %" || ratio="not measured: $text"
        echo "| $name | $ours | $least | $ratio |"
      done <"$out/results.tsv"
    done <"$out/others.tsv"
    echo
    echo "Left out by others:"
    while IFS=$'\t' read -r name peer least text; do
      [[ $least == - ]] && echo "- $name by $peer: $text"
    done <"$out/others.tsv"
    echo
  fi
  echo "| on the same device | | | |"
  echo "|---|---|---|---|"
  while IFS=$'\t' read -r name value unit text; do
    echo "| $name | $value | $unit | $text |"
  done <"$out/peers.tsv"
} >"$out/table.md"
echo "$equal equal, $failed failed, $skipped not run, ${SECONDS} s, on $device"
((failed + skipped == 0))
