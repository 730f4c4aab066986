//===- Passes.td - Passes of the kernel generator ----------*- tablegen -*-===//
//
// From linalg to loops and vectors.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_PASSES_TD
#define SHARDC_KERNELGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseElementwisePass : Pass<"spmd-fuse-elementwise", "mlir::func::FuncOp"> {
  let summary = "Fuse elementwise producers into their consumers, where that saves work.";
  let description = [{
    Before: linalg on tensors, an op each. After: an elementwise op with one consumer is part of
    it, cheap ones (broadcasts, casts, a few operations) are part of each of their consumers. What
    several elementwise ops read, all on the way to one result, is part of that one too. Loops that read single
    integers (where a scatter's updates go) compute cheap ones as they read.
    Contractions, reductions and windows stay roots of their own; what only moves data is read
    through their indexing maps. Adds no work but the repetition of cheap operations.

    ```mlir
    // before
    #id = affine_map<(i) -> (i)>
    #none = affine_map<(i) -> ()>
    func.func @main(%x: tensor<64xf32>, %start: tensor<f32>) -> tensor<f32> {
      %e = tensor.empty() : tensor<64xf32>
      %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = math.exp %a : f32
        linalg.yield %0 : f32
      } -> tensor<64xf32>
      %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
          ins(%y : tensor<64xf32>) outs(%start : tensor<f32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = arith.addf %a, %o : f32
        linalg.yield %0 : f32
      } -> tensor<f32>
      return %s : tensor<f32>
    }
    // after
    #map = affine_map<(d0) -> (d0)>
    #map1 = affine_map<(d0) -> ()>
    func.func @main(%x: tensor<64xf32>, %start: tensor<f32>) -> tensor<f32> {
      %0 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction"]} ins(%x : tensor<64xf32>) outs(%start : tensor<f32>) {
      ^bb0(%in: f32, %out: f32):
        %1 = math.exp %in : f32
        %2 = arith.addf %1, %out : f32
        linalg.yield %2 : f32
      } -> tensor<f32>
      return %0 : tensor<f32>
    }
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def ExactExtremaPass : Pass<"spmd-exact-extrema"> {
  let summary = "Turn maxima and minima of floats into what keeps NaN and the sign of zero.";
  let description = [{
    Before: `arith.maximumf`, `arith.minimumf`, on scalars or vectors. After: LLVM's intrinsics of
    the same meaning where they are on 32 or 64 bits, and comparisons and bits for narrower
    floats, vectors of several dims, and vectors of 512 bits, where that is quicker. To run
    before `arith-expand`, which forgets the sign of zero.
    ```mlir
    func.func @greater(%x: f32, %y: f32) -> f32 {
      %0 = arith.maximumf %x, %y : f32
      return %0 : f32
    }
    // becomes
    func.func @greater(%x: f32, %y: f32) -> f32 {
      %0 = llvm.intr.maximum(%x, %y) : (f32, f32) -> f32
      return %0 : f32
    }
    ```

    ```mlir
    // before
    func.func @main(%x: f32, %y: f32) -> f32 {
      %0 = arith.maximumf %x, %y : f32
      return %0 : f32
    }
    // after
    func.func @main(%x: f32, %y: f32) -> f32 {
      %0 = llvm.intr.maximum(%x, %y) : (f32, f32) -> f32
      return %0 : f32
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect"];
}

def ExpandUnknownShapesPass : Pass<"spmd-expand-unknown-shapes"> {
  let summary = "Give buffers whose dim becomes several of unknown size these sizes and their strides.";
  let description = [{
    Before: `memref.expand_shape` of one dim into several of which more than one has no known size.
    After: `memref.reinterpret_cast` with the sizes that the op is given, so that
    `expand-strided-metadata` need not find them. Leaves any other one alone.
    ```mlir
    %1 = memref.expand_shape %0 [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
    // becomes
    %base, %offset, %size, %stride = memref.extract_strided_metadata %0 : memref<?xf32> -> memref<f32>, index, index, index
    %row = arith.muli %stride, %m : index
    %1 = memref.reinterpret_cast %base to offset: [0], sizes: [%n, %m], strides: [%row, 1] : memref<f32> to memref<?x?xf32>
    ```

    ```mlir
    // before
    func.func @main(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
      %0 = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
      return %0 : memref<?x?xf32>
    }
    // after
    func.func @main(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
      %base_buffer, %offset, %sizes, %strides = memref.extract_strided_metadata %x : memref<?xf32> -> memref<f32>, index, index, index
      %0 = arith.muli %strides, %m : index
      %reinterpret_cast = memref.reinterpret_cast %base_buffer to offset: [0], sizes: [%n, %m], strides: [%0, 1] : memref<f32> to memref<?x?xf32>
      return %reinterpret_cast : memref<?x?xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def RoundBFloatsPass : Pass<"spmd-round-bfloats", "mlir::func::FuncOp"> {
  let summary = "Round f32 to bf16 by integers, in registers of f32.";
  let description = [{
    Before: `arith.truncf` of f32 to bf16, in loops and vectors. After: integer arithmetic on words of 32 bits, whose upper halves are the result.
    What goes on in f32 stays where it is. With `converts` whole registers that go on as bf16 are rounded by AVX512-BF16, unless a lane is NaN or
    subnormal, of which its instruction makes other bits.

    ```mlir
    // before
    func.func @main(%x: f32) -> f32 {
      %0 = arith.truncf %x : f32 to bf16
      %1 = arith.extf %0 : bf16 to f32
      return %1 : f32
    }
    // after
    func.func @main(%x: f32) -> f32 {
      %0 = arith.bitcast %x : f32 to i32
      %c16_i32 = arith.constant 16 : i32
      %1 = arith.shrui %0, %c16_i32 : i32
      %c1_i32 = arith.constant 1 : i32
      %2 = arith.andi %1, %c1_i32 : i32
      %c32767_i32 = arith.constant 32767 : i32
      %3 = arith.addi %2, %c32767_i32 : i32
      %4 = arith.addi %0, %3 : i32
      %5 = arith.bitcast %4 : i32 to f32
      %6 = arith.cmpf uno, %x, %x : f32
      %cst = arith.constant 0x7FC00000 : f32
      %7 = arith.select %6, %cst, %5 : f32
      %8 = arith.bitcast %7 : f32 to i32
      %c-65536_i32 = arith.constant -65536 : i32
      %9 = arith.andi %8, %c-65536_i32 : i32
      %10 = arith.bitcast %9 : i32 to f32
      return %10 : f32
    }
    ```
  }];
  let options = [Option<"converts", "converts", "bool", /*default=*/"false", "The CPU has AVX512-BF16.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def BFloatBitsPass : Pass<"spmd-bfloat-bits"> {
  let summary = "Move bf16 as words of 16 bits.";
  let description = [{
    Before: functions of the LLVM dialect, in a module or a module for GPUs, whose conversions to bf16 are integer arithmetic. After: whatever
    loads, stores, selects or moves bf16 does so with words of 16 bits; what reads its numbers reads f32, which has all of them. Else LLVM keeps such elements as
    f32 on hosts and makes bf16 of them again: by a function of compilers' libraries, or by an instruction that turns subnormal numbers into zero.

    ```mlir
    // before
    llvm.func @main(%from: !llvm.ptr, %to: !llvm.ptr) -> f32 {
      %0 = llvm.load %from : !llvm.ptr -> bf16
      llvm.store %0, %to : bf16, !llvm.ptr
      %1 = llvm.fpext %0 : bf16 to f32
      llvm.return %1 : f32
    }
    // after
    llvm.func @main(%from: !llvm.ptr, %to: !llvm.ptr) -> f32 {
      %0 = llvm.load %from : !llvm.ptr -> i16
      llvm.store %0, %to : i16, !llvm.ptr
      %1 = llvm.zext %0 : i16 to i32
      %2 = llvm.mlir.constant(16 : i32) : i32
      %3 = llvm.shl %1, %2 : i32
      %4 = llvm.bitcast %3 : i32 to f32
      llvm.return %4 : f32
    }
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def ApproximateMathPass : Pass<"spmd-approximate-math", "mlir::func::FuncOp"> {
  let summary = "Replace functions of the math dialect by polynomials.";
  let description = [{
    Before: `math` ops on scalars or vectors. After: exp, log, tanh, erf, sin, cos, pow and their like
    are arithmetic that vectorises, of 32-bit floats (and of narrower ones, in 32 bits) and of 64-bit ones, with the errors
    that docs/Reference/accuracy.md lists. What has no formula, or is marked for the library, stays for libm.

    ```mlir
    // before
    func.func @main(%x: f32) -> f32 {
      %0 = math.exp %x : f32
      return %0 : f32
    }
    // after, among others
    %4 = math.fma %3, %cst_8, %cst_9 : f32
    %5 = arith.subf %4, %cst_9 : f32
    %6 = math.fma %5, %cst_7, %3 : f32
    ...
    %15 = math.fma %9, %14, %7 : f32
    %16 = arith.addf %15, %cst : f32
    ...
    %26 = arith.mulf %21, %25 : f32
    return %26 : f32
    ```
  }];
  let options = [Option<"permutes", "permutes", "int64_t", /*default=*/"0",
                        "Lanes of f32 that the CPU permutes in one instruction, so that tables of as many numbers are cheap: 8 (AVX2), 16 (AVX-512) or none.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def FuseRowsPass : Pass<"spmd-fuse-rows", "mlir::ModuleOp"> {
  let summary = "Do ops on the same rows block by block.";
  let description = [{
    Before: linalg ops on memrefs, one after the other. After: where ops around a reduction touch, of all that another
    one of them writes, their own rows alone, a loop over blocks of rows with those ops on the block's share of each
    buffer; what none but them touches is a block's. What all rows add to (a gradient of weights, a total)
    has partial results for a number of chunks that shapes decide, combined in order. What is between waits where it
    has to. Sizes that are not known now are cut the same way, what is left in smaller blocks, unless
    every number that they may be is of whole ones.

    ```mlir
    // before
    #all = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @main(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>) {
      %zero = arith.constant 0.0 : f32
      %s = memref.alloc() : memref<4096xf32>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%s : memref<4096xf32>) {
      ^bb0(%o: f32):
        linalg.yield %zero : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4096x1024xf32>) outs(%s : memref<4096xf32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = arith.addf %o, %a : f32
        linalg.yield %0 : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<4096x1024xf32>, memref<4096xf32>) outs(%y : memref<4096x1024xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.divf %a, %b : f32
        linalg.yield %0 : f32
      }
      return
    }
    // after, among others
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<2xf32>
    scf.for %arg2 = %c0 to %c2048 step %c1 {
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1",
           "Parts into which large loops are cut, as of spmd-generate-cpu-kernels.">,
    Option<"exact", "exact", "bool", /*default=*/"false",
           "Leave sums over all rows to one pass, in the order of elements.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def PadBlocksPass : Pass<"spmd-pad-blocks", "mlir::func::FuncOp"> {
  let summary = "Pad the operands of windows block by block.";
  let description = [{
    Before: linalg ops on memrefs. After: where a buffer that does not fit the second-level cache is filled (or its margins come from an exchange), has a copy of something in its middle, and is
    read by one reduction, a loop over blocks of that reduction's results, each with the part of the buffer that it reads, made when it is needed; what the block before has of it moves to the front. What fills the
    results and what finishes them goes along. With threads the loop is in one over parts, marked `kernel.parts`, each with a buffer of its own; what a block is does not
    depend on their number. All blocks have as many rows, for any number of rows and for one that differs by rank: the last block begins where it ends with the rows, and makes
    some of them once more. Where no table says how many rows there are, the last block has what is left. Leaves: blocks that would have another dim of unknown size; windows that
    have more than half as many rows in common as a block has; weights that would not stay in the cache from block to block.

    ```mlir
    // before: --spmd-pad-blocks
    #same = affine_map<(d0, d1) -> (d0, d1)>
    func.func @main(%x: memref<4096x1024xf32>, %w: memref<3xf32>, %y: memref<4096x1024xf32>) {
      %zero = arith.constant 0.0 : f32
      %p = memref.alloc() : memref<4098x1024xf32>
      linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%p : memref<4098x1024xf32>) {
      ^bb0(%o: f32):
        linalg.yield %zero : f32
      }
      %box = memref.subview %p[1, 0] [4096, 1024] [1, 1] : memref<4098x1024xf32> to memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x1024xf32>) outs(%box : memref<4096x1024xf32, strided<[1024, 1], offset: 1024>>) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
      linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                      iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : memref<4098x1024xf32>, memref<3xf32>) outs(%y : memref<4096x1024xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %o, %0 : f32
        linalg.yield %1 : f32
      }
      return
    }
    // after, among others
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<130x1024xf32>
    scf.for %arg3 = %c0 to %c32 step %c1 {
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1",
           "Parts into which large loops are cut, as of spmd-generate-cpu-kernels.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def CutLoopsPass : Pass<"spmd-cut-loops", "mlir::func::FuncOp"> {
  let summary = "Cut loops of single elements in parts for threads.";
  let description = [{
    Before: loops that lowering wrote down itself (scans, scatters, solvers), with loads, stores and linalg ops on memrefs. After: the large ones
    of them are in a loop over parts, marked `kernel.parts`, where parts do not touch what others write: each has some of a loop's
    iterations, if those use its index as position in all that is written; or each does all iterations for its share of a dim along which
    elementwise ops write (columns of a scatter's rows), in whole lines of the cache; or each has a share of the positions that iterations read from
    an index, and does those iterations of 64 (bits of a word) that write there. Elements are computed as before: the same bits for any number.
    Buffers that an iteration makes for itself become each part's own. Leaves: loops that carry values, call something or make buffers of any size.

    ```mlir
    // before: --spmd-cut-loops=threads=2
    func.func @main(%x: memref<4096x1024xf32>, %y: memref<4096x1024xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %rows = arith.constant 4096 : index
      %columns = arith.constant 1024 : index
      %none = arith.constant 0.0 : f32
      scf.for %i = %zero to %rows step %one {
        %sum = scf.for %j = %zero to %columns step %one iter_args(%before = %none) -> (f32) {
          %0 = memref.load %x[%i, %j] : memref<4096x1024xf32>
          %1 = arith.addf %before, %0 : f32
          memref.store %1, %y[%i, %j] : memref<4096x1024xf32>
          scf.yield %1 : f32
        }
      }
      return
    }
    // after, among others
    scf.for %arg2 = %c0_0 to %c2 step %c1_1 {
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1",
           "Parts into which large loops are cut, as of spmd-generate-cpu-kernels.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def GenerateCpuKernelsPass : Pass<"spmd-generate-cpu-kernels", "mlir::ModuleOp"> {
  let summary = "Turn linalg on buffers into vectorised loop nests.";
  let description = [{
    Before: linalg ops on memrefs. After: scf loops over vectors, register-tiled where operands are
    read again, with packed panels where no operand is laid out well. Scratch comes from the end of the
    arena (`kernel.arena_bytes` grows). Ops that it cannot express (maps that are not linear)
    are left for the plain loop lowering. A product is cut as `tune.tile` says of it, else as `tune.tiles` of the module says of kernels
    with its digest, else as estimates say; elements have the same bits in any case.
    Of kernels that are alike, such as those of a network's layers, one is generated (`share-from`): a private function of addresses. Kernels
    of unknown sizes, with parts or results that pass the caches by are each where they were.

    ```mlir
    // before: --spmd-generate-cpu-kernels=vector-bits=256
    #same = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) {
      ^bb0(%a: f32, %b: f32):
        %0 = arith.negf %a : f32
        linalg.yield %0 : f32
      }
      return
    }
    // after
    func.func @main(%arg0: memref<16xf32>, %arg1: memref<16xf32>) {
      %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<16xf32> -> index
      %0 = arith.index_cast %intptr : index to i64
      %1 = llvm.inttoptr %0 : i64 to !llvm.ptr
      %intptr_0 = memref.extract_aligned_pointer_as_index %arg1 : memref<16xf32> -> index
      %2 = arith.index_cast %intptr_0 : index to i64
      %3 = llvm.inttoptr %2 : i64 to !llvm.ptr
      %4 = llvm.load %1 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
      %cst = arith.constant 0.000000e+00 : f32
      %5 = arith.negf %4 : vector<8xf32>
      %6 = llvm.getelementptr inbounds %1[8] : (!llvm.ptr) -> !llvm.ptr, f32
      %7 = llvm.load %6 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
      %cst_1 = arith.constant 0.000000e+00 : f32
      %8 = arith.negf %7 : vector<8xf32>
      llvm.store %5, %3 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
      %9 = llvm.getelementptr inbounds %3[8] : (!llvm.ptr) -> !llvm.ptr, f32
      llvm.store %8, %9 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
      return
    }
    ```
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"256",
           "Bits of a vector register: 128, 256 or 512.">,
    Option<"threads", "threads", "int64_t", /*default=*/"1",
           "Parts into which large nests are cut: the iterations of a loop marked 'kernel.parts' around each, "
           "which touch different outputs.">,
    Option<"exact", "exact", "bool", /*default=*/"false",
           "Round every product and sum by itself, and add floats up in the order of elements where no `kernel.any_order` allows another.">,
    Option<"dotBf16", "dot-bf16", "bool", /*default=*/"false",
           "The CPU adds products of pairs of bf16 to f32 in one instruction (AVX512-BF16), with vectors of 512 bits.">,
    Option<"listTiles", "list-tiles", "bool", /*default=*/"false",
           "Note products, their tiles and others that they could have (`tune.tiled`), for whoever measures.">,
    Option<"shareFrom", "share-from", "int64_t", /*default=*/"0",
           "From so many ops on, kernels of the entry that differ in their buffers alone are one function; 0: never.">,
    Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
           "Name of the function that owns the arena.">];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect", "shardc::tune::TuneDialect"];
}

def GeneratePairKernelsPass : Pass<"spmd-generate-pair-kernels", "mlir::ModuleOp"> {
  let summary = "Turn steps of attention and its like on buffers into tiled loops of vectors.";
  let description = [{
    Before: `pairs.pair_step` on memrefs. After: loops over tiles of keys and queries, with contractions on register
    tiles and scratch of one tile (`memref.alloc`, to be planned). Refuses: a depth or feature of unknown size, a state whose
    depth or feature is not its last dim.

    ```mlir
    // before: --spmd-generate-pair-kernels=vector-bits=512
    #q = affine_map<(q, k, d, e) -> (q, d)>
    #k = affine_map<(q, k, d, e) -> (k, d)>
    #v = affine_map<(q, k, d, e) -> (k, e)>
    #row = affine_map<(q, k, d, e) -> (q)>
    #out = affine_map<(q, k, d, e) -> (q, e)>
    func.func @main(%q: memref<4096x64xf32>, %k: memref<8192x64xf32>, %v: memref<8192x64xf32>, %m: memref<4096xf32>, %l: memref<4096xf32>, %acc: memref<4096x64xf32>) {
      %zero = arith.constant 0 : index
      pairs.pair_step softmax ins(%q, %k, %v : memref<4096x64xf32>, memref<8192x64xf32>, memref<8192x64xf32>)
          at (%zero, %zero) outs(%m, %l, %acc : memref<4096xf32>, memref<4096xf32>, memref<4096x64xf32>)
          maps [#q, #k, #v, #row, #row, #out] score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        pairs.yield %raw : f32
      }
      return
    }
    // after, among others
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<24576xi8>
    ...
    %alloc_6 = memref.alloc() {alignment = 64 : i64} : memref<32768xi8>
    ...
    %alloc_8 = memref.alloc() {alignment = 64 : i64} : memref<512xi8>
    ...
    scf.for %arg6 = %c0_10 to %c8192 step %c128 {
    ...
    scf.for %arg7 = %c0_15 to %c4096 step %c48 {
    ...
    %84 = vector.fma %83, %75, %arg11 : vector<16xf32>
    ```
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1",
           "Parts into which large steps are cut, as of spmd-generate-cpu-kernels.">,
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"256",
           "Bits of a vector register: 128, 256 or 512.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect"];
}

def LinalgToLoopsPass : Pass<"spmd-linalg-to-loops", "mlir::func::FuncOp"> {
  let summary = "Make plain loops of linalg ops on buffers.";
  let description = [{
    Before: linalg ops on buffers that no kernel was made of. After: loops of scf with loads and stores. As MLIR's `convert-linalg-to-loops`, but it looks at
    these ops alone, not at all others of the function again and again.

    ```mlir
    // before
    func.func @main(%x: memref<8xf32>, %value: f32) {
      linalg.fill ins(%value : f32) outs(%x : memref<8xf32>)
      return
    }
    // after
    func.func @main(%x: memref<8xf32>, %value: f32) {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %0 = affine.apply affine_map<(d0) -> (d0)>(%i)
        %1 = memref.load %x[%0] : memref<8xf32>
        %2 = affine.apply affine_map<(d0) -> (d0)>(%i)
        memref.store %value, %x[%2] : memref<8xf32>
      }
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def NameLocationsPass : Pass<"spmd-name-locations", "mlir::ModuleOp"> {
  let summary = "Write the name of each op into its location.";
  let description = [{
    Before: any ops. After: each has its name around its location (`loc("op:stablehlo.add"(...))`), from which
    `spmd-mark-kernels` takes it when the op itself is gone.

    ```mlir
    // before: --spmd-name-locations --mlir-print-debuginfo
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.negate %x : tensor<4xf32> loc("model.py":3:1)
      return %0 : tensor<4xf32>
    }
    // after, among others
    %0 = stablehlo.negate %arg0 : tensor<4xf32> loc(#loc6)
    ...
    #loc3 = loc("model.py":3:1)
    ...
    #loc6 = loc("op:stablehlo.negate"(#loc3))
    ```
  }];
}

def MarkKernelsPass : Pass<"spmd-mark-kernels", "mlir::ModuleOp"> {
  let summary = "Say before and behind each kernel which it is.";
  let description = [{
    Before: loops and calls on buffers in `@main`. After: those that are side by side and come of one op (have one location) are
    between calls of `@shardc_mark`, of a number, and of `@shardc_mark_end`, of the kernel's work: bytes of the buffers that it reads
    and writes, each once and without those that nothing else uses, and operations on floats (-1 where data says how often a loop
    runs). Both are computed when the program runs where they follow from open sizes. The module's attribute `kernel.kernels` holds a
    name and a source line for each number. Bodies of the program's own loops and branches, and of those that communicate,
    are looked at by themselves.
    ```mlir
    scf.for %i = %c0 to %c32 step %c1 {
      memref.store %x, %buffer[%i] : memref<32xf32>
    } loc("op:stablehlo.add"("model.py":7:3))
    // becomes
    call @shardc_mark(%c0_i64) : (i64) -> ()
    scf.for ...
    call @shardc_mark_end(%c128_i64, %c0_i64) : (i64, i64) -> ()
    // and: kernel.kernels = [["add", "model.py:7"]]
    ```

    ```mlir
    // before
    func.func @main(%b: memref<16xf32>, %x: f32) {
      linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
      return
    }
    // after
    module attributes {kernel.kernels = [["kernel", "<stdin>:2"]]} {
      func.func private @shardc_mark(i64)
      func.func private @shardc_mark_end(i64, i64)
      func.func @main(%b: memref<16xf32>, %x: f32) {
        %c0_i64 = arith.constant 0 : i64
        call @shardc_mark(%c0_i64) : (i64) -> ()
        linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
        %c64_i64 = arith.constant 64 : i64
        %c0_i64_0 = arith.constant 0 : i64
        call @shardc_mark_end(%c64_i64, %c0_i64_0) : (i64, i64) -> ()
        return
      }
    }
    ```
  }];
  let options = [Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
                        "Name of the function whose kernels these are.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::memref::MemRefDialect"];
}

#endif // SHARDC_KERNELGEN_PASSES_TD
