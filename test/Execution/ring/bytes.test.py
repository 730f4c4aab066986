"""Check what a ring moves and holds, and what a window does: bytes.test.py SHARD_RUN.

B1 H2 S8192 D16 f32, self-attention and its gradient: every step moves one block of keys and values a rank, and the gradient as much
again home; what a rank holds at most falls as the sequence is cut.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
spmd.mesh @mesh = <["x"=2]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<2x8192x16xf32>
!l = tensor<2x8192xf32>
func.func @main(%q: !t {SH}, %k: !t {SH}, %v: !t {SH}, %g: !t {SH}) -> (!t {SH}, !t {SH}, !t {SH}, !t {SH}) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !l, !l)
  %rows = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (!l) -> !t
  %part = stablehlo.divide %g, %rows : !t
  %og = stablehlo.multiply %o, %part : !t
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %delta = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (!t, tensor<f32>) -> !l
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %delta, %part maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!t, !t, !t, !l, !l, !t) -> (!t, !t, !t)
  return %o, %dq, %dk, %dv : !t, !t, !t, !t
}
""".replace("SH", "spmd.sharding = #spmd.sharding<@mesh, [{}, {\"x\"}, {}]>")

WINDOW = """
spmd.mesh @mesh = <["x"=4]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<2x8192x16xf32>
!l = tensor<2x8192xf32>
func.func @main(%q: !t {SH}, %k: !t {SH}, %v: !t {SH}) -> (!t {SH}) {
  %o, %max, %sum = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band_lower = LOWER : i64, band_upper = UPPER : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %raw : tensor<f32>
  } : (!t, !t, !t) -> (!t, !l, !l)
  return %o : !t
}
""".replace("SH", "spmd.sharding = #spmd.sharding<@mesh, [{}, {\"x\"}, {}]>")

TENSOR = 2 * 8192 * 16 * 4


def report(shard_run: str, ranks: int, program: str = PROGRAM) -> dict:
    """Return the report of one step at that many ranks."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "ring.mlir"
        model.write_text(program)
        run = subprocess.run([shard_run, str(model), "--seed=1", f"--mesh=x={ranks}", "--report=json"],
                             capture_output=True, text=True, check=True)
        return json.loads(run.stdout)


def main() -> int:
    peaks = {}
    for ranks in (2, 4, 8):
        found = report(sys.argv[1], ranks)
        peaks[ranks] = max(found["peak_bytes"])
        # There in the forward pass, there again in the backward, and gradients home.
        moved, expected = sum(c["bytes"] for c in found["communication"]), 3 * 2 * TENSOR * (ranks - 1)
        if moved != expected:
            print(f"{ranks} ranks move {moved} bytes, expected {expected}")
            return 1
    # With two ranks less is under way at once.
    for ranks, share in ((4, 0.7), (8, 0.6)):
        if peaks[ranks] > share * peaks[ranks // 2]:
            print(f"{ranks} ranks hold {peaks[ranks]} bytes at most, {ranks // 2} ranks {peaks[ranks // 2]}")
            return 1
    # Of a window, the rows of keys and values that it reaches from the blocks beside, and no more.
    for ranks, lower, upper in ((4, -127, 0), (4, -63, 64), (3, -100, 20)):
        found = report(sys.argv[1], ranks, WINDOW.replace("LOWER", str(lower)).replace("UPPER", str(upper)))
        moved, expected = sum(c["bytes"] for c in found["communication"]), (ranks - 1) * (upper - lower) * 2 * 16 * 2 * 4
        if moved != expected:
            print(f"{ranks} ranks move {moved} bytes for a window from {lower} to {upper}, expected {expected}")
            return 1
    print("ring: bytes and peaks as they should be", peaks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
