"""Check the work and the bytes of causal attention on ranks: balance.test.py SHARD_OPT SHARD_RUN.

H3 D64 f32, forward, and with its gradient: in zigzag order for the op, or through the program. Which rank computes which pairs is read off the local program; what must travel is counted here from what ranks own and
compute: at N ranks, of 2N parts of the queries rank r has the r-th and the r-th from the end.
"""

import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADS, DEPTH = 3, 64
PROGRAM = """
spmd.mesh @mesh = <["x"=RANKS]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<3xTOKENSx64xf32>
!r = tensor<3xTOKENSxf32>
func.func @main(%q: !t {SH}, %k: !t {SH}, %v: !t {SH}) -> (!t {SH}) {
  %o, %m, %l = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64} score {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %raw, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  } : (!t, !t, !t) -> (!t, !r, !r)
  return %o : !t
}
""".replace("SH", "spmd.sharding = #spmd.sharding<@mesh, [{}, {\"x\"}, {}]>")

MASK = """ {
  ^bb0(%raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.compare GE, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, VALUE, %low : tensor<i1>, tensor<f32>
    pairs.yield %2 : tensor<f32>
  }"""
GRADIENT = """
spmd.mesh @mesh = <["x"=RANKS]>
#q = affine_map<(h, q, k, d, e) -> (h, q, d)>
#k = affine_map<(h, q, k, d, e) -> (h, k, d)>
#v = affine_map<(h, q, k, d, e) -> (h, k, e)>
#o = affine_map<(h, q, k, d, e) -> (h, q, e)>
#r = affine_map<(h, q, k, d, e) -> (h, q)>
!t = tensor<3xTOKENSx64xf32>
!r = tensor<3xTOKENSxf32>
func.func @main(%q: !t {SH}, %k: !t {SH}, %v: !t {SH}, %g: !t {SH}) -> (!t {SH}, !t {SH}, !t {SH}, !t {SH}) {
  %o, %m, %l = pairs.all_pairs softmax %q, %k, %v maps [#q, #k, #v, #o, #r, #r] {band_upper = 0 : i64WAY} scoreMASK : (!t, !t, !t) -> (!t, !r, !r)
  %rows = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (!r) -> !t
  %part = stablehlo.divide %g, %rows : !t
  %og = stablehlo.multiply %o, %part : !t
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %delta = stablehlo.reduce(%og init: %zero) applies stablehlo.add across dimensions = [2] : (!t, tensor<f32>) -> !r
  %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %m, %delta, %part maps [#q, #k, #v, #r, #r, #o, #q, #k, #v] {band_upper = 0 : i64WAY} scoreMASK slope {
  ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %h: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
    pairs.yield %ds : tensor<f32>
  } : (!t, !t, !t, !r, !r, !t) -> (!t, !t, !t)
  return %o, %dq, %dk, %dv : !t, !t, !t, !t
}
""".replace("MASK", MASK.replace("VALUE", "%raw"))

Interval = tuple[int, int]


def cut(tokens: int, parts: int) -> list[Interval]:
    """Return balanced parts, the first ones longer by one."""
    bounds = [0]
    for part in range(parts):
        bounds.append(bounds[-1] + tokens // parts + (part < tokens % parts))
    return list(itertools.pairwise(bounds))


def size(interval: Interval) -> int:
    return max(0, interval[1] - interval[0])


def common(a: Interval, b: Interval) -> int:
    return size((max(a[0], b[0]), min(a[1], b[1])))


def needed_by_value(text: str) -> dict[str, list[Interval]]:
    """Return for each value of the local program that came from others the tokens that each rank has of it."""
    tables, definitions = {}, {}
    for line in text.splitlines():
        if found := re.match(r"\s*(%[\w#]+)(?::\d+)? = (\S+) (.*)", line):
            definitions[found[1]] = (found[2], found[3])
            if "-> [" in found[3]:
                table = re.search(r"-> \[([^\]]*)\]", found[3])[1]
                tables[found[1]] = [tuple(map(int, part.split(":"))) for part in table.split(", ")]
    for value, (op, rest) in definitions.items():
        if op == "tensor.extract_slice" and rest.split("[")[0] in tables:
            tables[value] = tables[rest.split("[")[0]]
    return tables


def pairs_of(text: str, owned: list[Interval]) -> list[int]:
    """Return how many pairs each rank computes in the local program, which visits only what the band leaves."""
    tables, pairs = needed_by_value(text), [0] * len(owned)
    for query, key in re.findall(r"pairs\.pair_step softmax ins\((%[\w#]+), (%[\w#]+),", text):
        for rank, (rows, keys) in enumerate(zip(tables.get(query, owned), tables.get(key, owned))):
            pairs[rank] += sum(size((keys[0], min(keys[1], row + 1))) for row in range(*rows))
    return pairs


def moved_bytes(shard_run: str, model: Path, *options: str) -> int:
    """Return the bytes that leave ranks in a step."""
    run = subprocess.run([shard_run, str(model), "--seed=1", "--report=json", *options], capture_output=True, text=True, check=True)
    return sum(site["bytes"] for site in json.loads(run.stdout)["communication"])


def zigzag_parts(tokens: int, ranks: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the two parts of each shard: of tokens dealt out to places in turn, from the front and from the end."""
    return [(((begin + 1) // 2, (end + 1) // 2), (tokens - end // 2, tokens - begin // 2)) for begin, end in cut(tokens, ranks)]


def zigzag_rows(tokens: int, ranks: int) -> int:
    """Return how many tokens zigzag order moves."""
    owned = cut(tokens, ranks)
    return sum(size(part) - common(part, owned[rank]) for rank, parts in enumerate(zigzag_parts(tokens, ranks)) for part in parts)


def key_rows(tokens: int, ranks: int) -> int:
    """Return how many keys ranks get from others: all up to the last of their queries, but their own."""
    owned = cut(tokens, ranks)
    ends = [max(end for begin, end in parts if end > begin) for parts in zigzag_parts(tokens, ranks)]
    return sum(end - common((0, end), owned[rank]) for rank, end in enumerate(ends))


def op_numbers(tokens: int, ranks: int) -> int:
    """Return the numbers of one head that travel where each op puts its own queries in zigzag order."""
    # Queries once for both ops; out, dout and dquery; the maximum there and back, the sum one way and delta the other. Keys
    # and values for each op, and their gradients home.
    return zigzag_rows(tokens, ranks) * (4 * DEPTH + 4) + key_rows(tokens, ranks) * 6 * DEPTH


def zigzag_numbers(tokens: int, ranks: int) -> tuple[int, int]:
    """Return how many keys travel to each op, and how many tokens to each value in zigzag order, where the whole program is."""
    halves = [(size(front), size(back)) for front, back in zigzag_parts(tokens, ranks)]
    # Of the blocks of ranks before it a rank needs the part from the front alone.
    keys = sum(front + (back if owner > rank else 0) for rank in range(ranks) for owner, (front, back) in enumerate(halves) if owner != rank)
    rows = zigzag_rows(tokens, ranks)
    return keys, rows


def program_numbers(tokens: int, ranks: int) -> int:
    """Return the numbers of one head that travel where the whole program is in zigzag order: four arguments and four results."""
    keys, rows = zigzag_numbers(tokens, ranks)
    return rows * 8 * DEPTH + keys * 6 * DEPTH


def check_gradient(shard_run: str, folder: str) -> bool:
    """Compare the bytes of a step with its gradient with what they must be."""
    model = Path(folder) / "gradient.mlir"
    for order, way, count in (("", ', pairs.way = #pairs.way<zigzag>', op_numbers), (" order zigzag", "", program_numbers)):
        sharding = 'spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"%s}, {}]>' % order
        for ranks, tokens in ((4, 512), (3, 250)):
            text = GRADIENT.replace("SH", sharding).replace("WAY", way).replace("RANKS", str(ranks)).replace("TOKENS", str(tokens))
            model.write_text(text)
            moved, expected = moved_bytes(shard_run, model), count(tokens, ranks) * HEADS * 4
            if moved != expected:
                print(f"gradient{order}: {ranks} ranks move {moved} bytes for {tokens} tokens, expected {expected}")
                return False
            print(f"gradient{order}: {ranks} ranks, {tokens} tokens: {moved} bytes")
    return True


def check_chain(shard_run: str, folder: str) -> bool:
    """Check that ops in a row are put in zigzag order once, though nobody asks for it: three arguments, one result, and keys and values of each op."""
    model, whole = Path(folder) / "chain.mlir", PROGRAM.split("  %o, ")
    ops = 3
    for ranks, tokens in ((4, 4096), (3, 4099)):
        body = ""
        for number in range(ops):
            op = "  %o, " + whole[1].split("  return")[0]
            op = op.replace("%o, %m, %l", f"%o{number}, %m{number}, %l{number}")
            body += op.replace("softmax %q,", f"softmax %o{number - 1}," if number else "softmax %q,")
        model.write_text((whole[0] + body + f"  return %o{ops - 1} : !t\n}}\n").replace("RANKS", str(ranks)).replace("TOKENS", str(tokens)))
        keys, rows = zigzag_numbers(tokens, ranks)
        moved, expected = moved_bytes(shard_run, model), (rows * 4 * DEPTH + ops * keys * 2 * DEPTH) * HEADS * 4
        kept = moved_bytes(shard_run, model, "--keep-order")
        if moved != expected or not moved < kept:
            print(f"{ops} ops in a row: {ranks} ranks move {moved} bytes for {tokens} tokens, expected {expected}; each op for itself {kept}")
            return False
        print(f"{ops} ops in a row: {ranks} ranks, {tokens} tokens: {moved} bytes, each op for itself {kept}")
    return True


def main() -> int:
    shard_opt, shard_run = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "causal.mlir"
        for ranks, tokens in ((4, 4096), (4, 4099), (3, 2048)):
            model.write_text(PROGRAM.replace("RANKS", str(ranks)).replace("TOKENS", str(tokens)))
            local = subprocess.run([shard_opt, str(model), "--spmd-propagate", "--spmd-partition"], capture_output=True, text=True, check=True)
            pairs = pairs_of(local.stdout, cut(tokens, ranks))
            if sum(pairs) != tokens * (tokens + 1) // 2 or max(pairs) > 1.1 * sum(pairs) / ranks:
                print(f"{ranks} ranks compute {pairs} pairs of {tokens * (tokens + 1) // 2}")
                return 1
            # Queries there, results back; keys and values.
            expected = (2 * zigzag_rows(tokens, ranks) + 2 * key_rows(tokens, ranks)) * HEADS * DEPTH * 4
            moved = moved_bytes(shard_run, model)
            if moved != expected:
                print(f"{ranks} ranks move {moved} bytes for {tokens} tokens, expected {expected}")
                return 1
            print(f"{ranks} ranks, {tokens} tokens: pairs {pairs}, {moved} bytes")
        if not check_gradient(shard_run, folder) or not check_chain(shard_run, folder):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
