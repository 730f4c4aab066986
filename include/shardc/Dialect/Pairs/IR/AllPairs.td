//===- AllPairs.td - Every query with every key --------*- tablegen -*-===//
//
// The contract is docs/Rationale/Ring.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_PAIRS_IR_ALLPAIRS_TD
#define SHARDC_DIALECT_PAIRS_IR_ALLPAIRS_TD

include "shardc/Dialect/Pairs/IR/PairsDialect.td"

class Pairs_AllPairsBase<string mnemonic, list<Trait> traits = []> : Pairs_Op<mnemonic, traits # [Pure, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Pairs_AllPairsOpInterface>]>;

def Pairs_AllPairsOp : Pairs_AllPairsBase<"all_pairs", [AttrSizedOperandSegments]> {
  let summary = "Pair every query with every key: attention, sums of kernels, nearest neighbours.";
  let description = [{
    Over the dims (batch..., query q, key k, depth d, feature e), of each row (batch, q):

        raw[k]   = Σ_d pair(query[d], key[d])          in f32 (f64 of f64); pair multiplies if it is not given
        score[k] = score(raw[k], extras, positions)
        softmax:  max = max_k score, sum = Σ_k exp(score[k] - max), p = exp(score - max) / sum;
                  out[e] = Σ_k weight(p[k], extras, positions) * value[k, e]; `unnormalized`: p = exp(score - max)
        sum:      out[e] = Σ_k score[k] * value[k, e]; without a value out = Σ_k score[k]
        max, min: out = the largest or smallest score
        top_k:    the `count` largest scores, largest first, and their keys (of equal ones the lower key first); e is the place

    Results: softmax out, max, sum (these of the accumulator type; -inf, 0 and an out of 0 / 0 where all scores are -inf); sum, max,
    min out; top_k scores, keys (i32).
    Regions hold StableHLO's elementwise ops on tensors without dims, nothing from outside. Their arguments are the value,
    one element of each extra, then the global position (tensor<i32>) along each batch dim, q and k. `maps` are projected
    permutations; a key or value without some batch dim serves all of it (grouped queries). `band_lower` and `band_upper`: scores of keys k
    outside q + lower <= k <= q + upper have no weight at all (p is exactly zero), so that such blocks may be skipped; a
    region still says what they are. Both views: with positions offset where a block starts, in the local one.
    `query_order` and `key_order`: that dim of all operands and results is in zigzag order, as `spmd.deal` with these sizes puts it
    (`query_formula` and `key_formula`: by this formula); positions and the band are of the indices before. Not of top_k.
    ```mlir
    %out, %max, %sum = pairs.all_pairs softmax %q, %k, %v
        maps [affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>,
              affine_map<(b, q, k, d, e) -> (b, k, e)>, affine_map<(b, q, k, d, e) -> (b, q, e)>,
              affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q)>]
        score {
        ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
          %c = stablehlo.constant dense<0.125> : tensor<f32>
          %0 = stablehlo.multiply %raw, %c : tensor<f32>
          pairs.yield %0 : tensor<f32>
        } : (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>)
          -> (tensor<4x32x16xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
    ```
  }];
  let arguments = (ins Pairs_PairCombine:$combine, UnitAttr:$unnormalized, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       Optional<AnyRankedTensor>:$value, Variadic<AnyRankedTensor>:$extras,
                       AffineMapArrayAttr:$maps, OptionalAttr<I64Attr>:$band_lower, OptionalAttr<I64Attr>:$band_upper,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$query_order,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$key_order,
                       OptionalAttr<Spmd_FormulaAttr>:$query_formula, OptionalAttr<Spmd_FormulaAttr>:$key_formula);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$pair, SizedRegion<1>:$score, AnyRegion:$weight);
  let assemblyFormat = [{
    $combine (`unnormalized` $unnormalized^)? $query `,` $key (`,` $value^)? (`extras` `(` $extras^ `)`)? `maps` $maps attr-dict
    (`pair` $pair^)? `score` $score (`weight` $weight^)? `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Pairs_AttentionBackwardOp : Pairs_AllPairsBase<"attention_backward"> {
  let summary = "The gradient of `pairs.all_pairs softmax`, from its rows' maxima and sums instead of its scores.";
  let description = [{
    With raw, score, max, sum and weight as in the forward op (same regions, same extras), and the cotangent of its out
    divided by sum as `dout`, of each row (batch, q):

        p[k]   = exp(score[k] - max)
        dp[k]  = Σ_e dout[e] * value[k, e];        ds[k] = p[k] * (weight'(dp[k]) - delta)
        (draw[k], dextra[k]...) = slope(ds[k], raw[k], extras, positions)
        dvalue[k, e] = Σ_q weight(p[k]) * dout[e]; dquery[d] = Σ_k draw[k] * key[d]; dkey[k, d] = Σ_q draw[k] * query[d]

    `max` and `delta` are of the accumulator type; delta = Σ_e dout * out, of the rows. So p is never divided, and a row whose scores
    are all alike, however large, has its part of the gradient. weight' is `weight` itself, which is linear
    in its first argument. Results: dquery, dkey, dvalue, then one for each further value that `slope` yields: summed over
    all dims that its map lacks. A gradient sums over the batch dims that its map lacks. Arguments of `slope`: ds, raw,
    extras, positions. The band and the orders are those of the forward op.
    ```mlir
    %dq, %dk, %dv = pairs.attention_backward %q, %k, %v, %max, %delta, %dout
        maps [affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>,
              affine_map<(b, q, k, d, e) -> (b, k, e)>, affine_map<(b, q, k, d, e) -> (b, q)>,
              affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q, e)>,
              affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>,
              affine_map<(b, q, k, d, e) -> (b, k, e)>]
        score {
        ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
          pairs.yield %raw : tensor<f32>
        } slope {
        ^bb0(%ds: tensor<f32>, %raw: tensor<f32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
          pairs.yield %ds : tensor<f32>
        } : (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>)
          -> (tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, AnyRankedTensor:$max,
                       AnyRankedTensor:$delta, AnyRankedTensor:$dout, Variadic<AnyRankedTensor>:$extras,
                       AffineMapArrayAttr:$maps, OptionalAttr<I64Attr>:$band_lower, OptionalAttr<I64Attr>:$band_upper,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$query_order,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$key_order,
                       OptionalAttr<Spmd_FormulaAttr>:$query_formula, OptionalAttr<Spmd_FormulaAttr>:$key_formula);
  let results = (outs AnyRankedTensor:$dquery, AnyRankedTensor:$dkey, AnyRankedTensor:$dvalue,
                      Variadic<AnyRankedTensor>:$dextras);
  let regions = (region SizedRegion<1>:$score, AnyRegion:$weight, SizedRegion<1>:$slope);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $max `,` $delta `,` $dout (`extras` `(` $extras^ `)`)? `maps` $maps attr-dict
    `score` $score (`weight` $weight^)? `slope` $slope `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Pairs_YieldOp : Pairs_Op<"yield", [Pure, Terminator, ParentOneOf<["AllPairsOp", "AttentionBackwardOp", "PairStepOp"]>]> {
  let summary = "Ends a region of an op on all pairs, or of its local form.";
  let description = [{
    ```mlir
    // The largest product of each query and any key.
    %0 = pairs.all_pairs max %q, %k
        maps [affine_map<(q, k, d, e) -> (q, d)>, affine_map<(q, k, d, e) -> (k, d)>, affine_map<(q, k, d, e) -> (q)>]
        score {
        ^bb0(%raw: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
          pairs.yield %raw : tensor<f32>
        } : (tensor<32x64xf32>, tensor<48x64xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // SHARDC_DIALECT_PAIRS_IR_ALLPAIRS_TD
