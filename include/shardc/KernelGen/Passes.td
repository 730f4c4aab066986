//===- Passes.td - Passes of the kernel generator ----------*- tablegen -*-===//
//
// From linalg on tensors to loops and vectors.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_KERNELGEN_PASSES_TD
#define SHARDC_KERNELGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResultsToArgumentsPass : Pass<"spmd-results-to-arguments", "mlir::ModuleOp"> {
  let summary = "Give @main one destination buffer for each tensor result.";
  let description = [{
    Before: `@main` takes and returns tensors. After: it returns nothing and has, behind its
    own arguments, one memref argument a result, into which the result is materialised. Its
    tensor arguments are marked as not writable. Leaves a function without tensor results alone
    but for that mark.
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf32>, %out: memref<4xf32>) {
      bufferization.materialize_in_destination %x in restrict writable %out
        : (tensor<4xf32>, memref<4xf32>) -> ()
      return
    }
    ```

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    // after
    func.func @main(%arg0: tensor<4xf32> {bufferization.writable = false}, %arg1: memref<4xf32>) {
      bufferization.materialize_in_destination %arg0 in restrict writable %arg1 : (tensor<4xf32>, memref<4xf32>) -> ()
      return
    }
    ```
  }];
  let options = [Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
                        "Name of the function to change.">];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect",
                           "mlir::memref::MemRefDialect"];
}

def FuseElementwisePass : Pass<"spmd-fuse-elementwise", "mlir::func::FuncOp"> {
  let summary = "Fuse elementwise producers into their consumers, where that saves work.";
  let description = [{
    Before: linalg on tensors, an op each. After: an elementwise op with one consumer is part of
    it, cheap ones (broadcasts, casts, a few operations) are part of each of their consumers. What
    several elementwise ops read, all on the way to one result, is part of that one too.
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

def DecomposeTensorOpsPass : Pass<"spmd-decompose-tensor-ops", "mlir::func::FuncOp"> {
  let summary = "Write pads and concatenations into slices of one buffer.";
  let description = [{
    Before: `tensor.pad`, `tensor.concat`. After: a destination and `tensor.insert_slice` into it,
    so that producers may write there directly; where many parts are joined, one `memref.alloc` and what
    materialises each in a `memref.subview` of it. `scf.index_switch` on tensors becomes `scf.if`,
    through which bufferization sees what may not be written. Refuses: nothing; a pad with a body other than
    one yielded value is left alone.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.pad %x low[1] high[1] {
      ^bb0(%i: index):
        tensor.yield %zero : f32
      } : tensor<4xf32> to tensor<6xf32>
      return %0 : tensor<6xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = tensor.empty() : tensor<6xf32>
      %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
      %inserted_slice = tensor.insert_slice %x into %1[1] [4] [1] : tensor<4xf32> into tensor<6xf32>
      return %inserted_slice : tensor<6xf32>
    }
    ```
  }];
  let options = [
    Option<"manyParts", "many-parts", "int64_t", /*default=*/"32",
           "Join so many parts or more in memory. Bufferization takes the cube of fewer, and finds places for each that need less memory.">];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::tensor::TensorDialect"];
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

def AnchorLoopValuesPass : Pass<"spmd-anchor-loop-values", "mlir::func::FuncOp"> {
  let summary = "Keep every loop-carried tensor in one buffer.";
  let description = [{
    Before: `scf.for` and `scf.while` yield any tensor. After: they yield what is materialised in
    the tensor that it replaces, so that bufferization allocates nothing an iteration that outlives
    it. Adds a copy where the new value cannot be built in place.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
        %1 = math.exp %carried : tensor<4xf32>
        scf.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %0 = scf.for %arg2 = %c0 to %n step %c1 iter_args(%arg3 = %x) -> (tensor<4xf32>) {
        %1 = math.exp %arg3 : tensor<4xf32>
        %2 = bufferization.materialize_in_destination %1 in %arg3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        scf.yield %2 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect"];
}

def PrivateDestinationsPass : Pass<"spmd-private-destinations", "mlir::func::FuncOp"> {
  let summary = "Give each result an empty or filled tensor of its own to be built in.";
  let description = [{
    Before: equal `tensor.empty`, fills of them, shared by several ops as destinations (CSE makes
    them so). After: one for each use, beside it; a value that is read elsewhere and changed further into an
    output begins in memory of its own (`bufferization.alloc_tensor`), not in the output. Refuses: nothing.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %empty = tensor.empty() : tensor<4xf32>
      %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %1 = linalg.negf ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    // after
    func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = tensor.empty() : tensor<4xf32>
      %1 = linalg.exp ins(%arg0 : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
      %2 = tensor.empty() : tensor<4xf32>
      %3 = linalg.negf ins(%arg0 : tensor<4xf32>) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
      return %1, %3 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::bufferization::BufferizationDialect"];
}

def SeparateReadersPass : Pass<"spmd-separate-readers", "mlir::func::FuncOp"> {
  let summary = "Let bufferization look at each of many readers of an argument alone.";
  let description = [{
    Before: many ops read a tensor argument, or views of it, and none writes to it. After: each use has a tensor of its
    own that shows the argument's buffer (`bufferization.to_tensor`), so that bufferization, which otherwise collects
    for each use all the others, does as many steps as there are uses. Buffers and code are the same.
    Leaves arguments with fewer readers than `many-readers`, and those that something may write to. Refuses: nothing.

    ```mlir
    // before: --spmd-separate-readers=many-readers=2
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %empty = tensor.empty() : tensor<4xf32>
      %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %1 = linalg.negf ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    // after
    func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = bufferization.to_buffer %arg0 read_only : tensor<4xf32> to memref<4xf32>
      %1 = bufferization.to_tensor %0 restrict : memref<4xf32> to tensor<4xf32>
      %2 = bufferization.to_tensor %0 restrict : memref<4xf32> to tensor<4xf32>
      %3 = tensor.empty() : tensor<4xf32>
      %4 = linalg.exp ins(%1 : tensor<4xf32>) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
      %5 = linalg.negf ins(%2 : tensor<4xf32>) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
      return %4, %5 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"manyReaders", "many-readers", "unsigned", /*default=*/"32",
           "Separate so many readers or more: of fewer all are collected quickly.">,
  ];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::memref::MemRefDialect"];
}

def ForwardCopiesPass : Pass<"spmd-forward-copies", "mlir::func::FuncOp"> {
  let summary = "Build results in the argument that they are copied to.";
  let description = [{
    Before: a buffer is allocated, written, and last of all copied, perhaps under another shape, to an argument that
    nothing else uses. After: the argument takes the buffer's place.

    ```mlir
    // before
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
      memref.copy %a, %out : memref<4xf32> to memref<4xf32>
      return
    }
    // after
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
      linalg.exp ins(%x : memref<4xf32>) outs(%out : memref<4xf32>)
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def KnowSizesPass : Pass<"spmd-know-sizes", "mlir::func::FuncOp"> {
  let summary = "Look up sizes that differ by rank once each, so that equal sizes are one value.";
  let description = [{
    Before: sizes of buffers are looked up where they are wanted, asked of other buffers, computed.
    After: what follows from the tables of look-ups, and from how arguments are cut, is a look-up at
    the function's beginning, one for all that are equal. So buffers of the same size can be told,
    and every size has a bound. Other sizes stay as they are.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%n: index) -> (memref<?xf32>, memref<?xf32>) {
      %0 = spmd.lookup [5, 3] along ["x"] on @mesh
      %a = memref.alloc(%0) : memref<?xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %1 = memref.dim %a, %c0 : memref<?xf32>
      %2 = arith.addi %1, %c1 : index
      %b = memref.alloc(%2) : memref<?xf32>
      return %a, %b : memref<?xf32>, memref<?xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%n: index) -> (memref<?xf32>, memref<?xf32>) {
      %0 = spmd.lookup [6, 4] along ["x"] on @mesh
      %1 = spmd.lookup [5, 3] along ["x"] on @mesh
      %alloc = memref.alloc(%1) : memref<?xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %alloc_0 = memref.alloc(%0) : memref<?xf32>
      return %alloc, %alloc_0 : memref<?xf32>, memref<?xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "spmd::SpmdDialect"];
}

def RotateBuffersPass : Pass<"spmd-rotate-buffers", "mlir::func::FuncOp"> {
  let summary = "Let loop-carried buffers change roles in place of copying them.";
  let description = [{
    Before: the body of `scf.for` or `scf.while` ends with copies from buffers of its own, or of
    one another, to buffers from outside. After: those buffers are loop-carried, each iteration
    yields them in their new roles, and the copies are gone. The loop is marked `spmd.rotated`:
    its carried buffers are distinct.

    ```mlir
    // before
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = memref.alloc() : memref<4xf32>
      memref.copy %x, %a : memref<4xf32> to memref<4xf32>
      scf.for %i = %c0 to %n step %c1 {
        %b = memref.alloc() : memref<4xf32>
        linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
        memref.copy %b, %a : memref<4xf32> to memref<4xf32>
      }
      memref.copy %a, %out : memref<4xf32> to memref<4xf32>
      return
    }
    // after
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %alloc = memref.alloc() : memref<4xf32>
      memref.copy %x, %alloc : memref<4xf32> to memref<4xf32>
      %alloc_0 = memref.alloc() : memref<4xf32>
      %0:2 = scf.for %arg3 = %c0 to %n step %c1 iter_args(%arg4 = %alloc, %arg5 = %alloc_0) -> (memref<4xf32>, memref<4xf32>) {
        linalg.exp ins(%arg4 : memref<4xf32>) outs(%arg5 : memref<4xf32>)
        scf.yield %arg5, %arg4 : memref<4xf32>, memref<4xf32>
      } {spmd.rotated}
      memref.copy %0#0, %out : memref<4xf32> to memref<4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def GeneralizeBufferOpsPass : Pass<"spmd-generalize-buffer-ops", "mlir::func::FuncOp"> {
  let summary = "Turn copies of buffers and named linalg ops into linalg.generic.";
  let description = [{
    Before: `memref.copy` and named linalg ops on memrefs. After: `linalg.generic`. A copy of a
    buffer onto itself is dropped. Allocations of strided types become views of dense ones that are long enough.

    ```mlir
    // before
    func.func @main(%from: memref<4xf32>, %to: memref<4xf32>) {
      memref.copy %from, %to : memref<4xf32> to memref<4xf32>
      return
    }
    // after
    #map = affine_map<(d0) -> (d0)>
    func.func @main(%from: memref<4xf32>, %to: memref<4xf32>) {
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%from : memref<4xf32>) outs(%to : memref<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      }
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect"];
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
                        "Lanes of f32 that the CPU permutes in one instruction, so that tables of eight numbers are cheap: 8 (AVX2), 16 (AVX-512) or none.">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def PlanArenaPass : Pass<"spmd-plan-arena", "mlir::ModuleOp"> {
  let summary = "Place every bounded buffer in one arena.";
  let description = [{
    Before: `memref.alloc` in `@main`. After: a last argument `memref<?xi8>` of `@main`, marked
    `spmd.arena`, of which every buffer whose size has a known upper bound (static dims, or
    sizes in a known range) is a view at an offset fixed now: buffers that are
    never live together share bytes (first fit over live intervals, 64-byte aligned). The module's
    attribute `spmd.arena_bytes` says how long the argument must be, and `spmd.arena_largest`
    which buffers are the largest, for messages about memory. Unbounded buffers become calls of the pool allocator.
    A buffer with an `spmd.release_site` lives until then, as far as the arena is no more than a 64th larger for it; the release comes
    no later than that.

    ```mlir
    // before
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
      linalg.exp ins(%a : memref<4xf32>) outs(%out : memref<4xf32>)
      return
    }
    // after
    module attributes {spmd.arena_bytes = 64 : i64, spmd.arena_largest = "64 bytes of f32 [4] at <stdin>:2"} {
      func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: memref<?xi8> {spmd.arena}) {
        %c0 = arith.constant 0 : index
        %view = memref.view %arg2[%c0][] : memref<?xi8> to memref<4xf32>
        linalg.exp ins(%arg0 : memref<4xf32>) outs(%view : memref<4xf32>)
        linalg.exp ins(%view : memref<4xf32>) outs(%arg1 : memref<4xf32>)
        return
      }
    }
    ```
  }];
  let options = [Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
                        "Name of the function whose buffers are planned.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::func::FuncDialect"];
}

def WriteInPlacePass : Pass<"spmd-write-in-place", "mlir::ModuleOp"> {
  let summary = "Write results over donated arguments.";
  let description = [{
    Before: `linalg.generic` on buffers; `@main` takes buffers of arguments, some of them donated
    (`spmd.donated`), then those of results. After: where each element of a donated argument is read
    before that of a result which is as large on every rank is written, `spmd.in_place` of the result
    names the argument. The caller may give one buffer for both, or two: the program is right
    for either. What reads the argument too late goes before the writer, with what it depends on, where
    nothing forbids that; a copy from one to the other asks first whether they are one; and those who read
    an argument from other ranks are waited for before it is written over.

    ```mlir
    // before
    #same = affine_map<(i) -> (i)>
    module attributes {spmd.entry_inputs = [{spmd.donated = 0 : i64} ], spmd.entry_outputs = [{} ]} {
      func.func @main(%state: memref<4xf32>, %out: memref<4xf32>) {
        linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%state : memref<4xf32>) outs(%out : memref<4xf32>) {
        ^bb0(%in: f32, %old: f32):
          %0 = arith.negf %in : f32
          linalg.yield %0 : f32
        }
        return
      }
    }
    // after
    #map = affine_map<(d0) -> (d0)>
    module attributes {spmd.entry_inputs = [{spmd.donated = 0 : i64} ], spmd.entry_outputs = [{} ], spmd.written_in_place = array<i64: 0>} {
      func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32> {spmd.in_place = 0 : i64}) {
        linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>) {
        ^bb0(%in: f32, %out: f32):
          %0 = arith.negf %in : f32
          linalg.yield %0 : f32
        }
        return
      }
    }
    ```
  }];
  let options = [Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
                        "Name of the function whose results are written in place.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect"];
}

def FuseRowsPass : Pass<"spmd-fuse-rows", "mlir::ModuleOp"> {
  let summary = "Do ops on the same rows block by block.";
  let description = [{
    Before: linalg ops on memrefs, one after the other. After: where ops around a reduction touch, of all that another
    one of them writes, their own rows alone, a loop over blocks of rows with those ops on the block's share of each
    buffer; what none but them touches is a block's. What all rows add to (a gradient of weights, a total)
    has partial results for a number of chunks that shapes decide, combined in order. What stands between waits where it
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

def CutLoopsPass : Pass<"spmd-cut-loops", "mlir::func::FuncOp"> {
  let summary = "Cut loops of single elements in parts for threads.";
  let description = [{
    Before: loops that lowering wrote down itself (scans, scatters, solvers), with loads, stores and linalg ops on memrefs. After: the large ones
    of them are in a loop over parts, marked `spmd.parts`, where parts do not touch what others write: either each has some of a loop's
    iterations, if those use its index as position in all that is written, or each does all iterations for its share of a dim along which
    elementwise ops write (columns of a scatter's rows), in whole lines of the cache. Elements are computed as before: the same bits for any number.
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
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def GenerateCpuKernelsPass : Pass<"spmd-generate-cpu-kernels", "mlir::ModuleOp"> {
  let summary = "Turn linalg on buffers into vectorised loop nests.";
  let description = [{
    Before: linalg ops on memrefs. After: scf loops over vectors, register-tiled where operands are
    read again, with packed panels where no operand is laid out well. Scratch comes from the end of the
    arena (`spmd.arena_bytes` grows). Ops that it cannot express (maps that are not linear)
    are left for the plain loop lowering.

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
      %5 = arith.negf %4 fastmath<contract> : vector<8xf32>
      %6 = llvm.getelementptr inbounds %1[8] : (!llvm.ptr) -> !llvm.ptr, f32
      %7 = llvm.load %6 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
      %cst_1 = arith.constant 0.000000e+00 : f32
      %8 = arith.negf %7 fastmath<contract> : vector<8xf32>
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
           "Parts into which large nests are cut: the iterations of a loop marked 'spmd.parts' around each, "
           "which touch different outputs.">,
    Option<"exact", "exact", "bool", /*default=*/"false",
           "Round every product and sum by itself, and add floats up in the order of elements where no `spmd.any_order` allows another.">,
    Option<"dotBf16", "dot-bf16", "bool", /*default=*/"false",
           "The CPU adds products of pairs of bf16 to f32 in one instruction (AVX512-BF16), with vectors of 512 bits.">,
    Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
           "Name of the function that owns the arena.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect"];
}

def GeneratePairKernelsPass : Pass<"spmd-generate-pair-kernels", "mlir::ModuleOp"> {
  let summary = "Turn steps of attention and its like on buffers into tiled loops of vectors.";
  let description = [{
    Before: `spmd.pair_step` on memrefs. After: loops over tiles of keys and queries, with contractions on register
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
      spmd.pair_step softmax ins(%q, %k, %v : memref<4096x64xf32>, memref<8192x64xf32>, memref<8192x64xf32>)
          at (%zero, %zero) outs(%m, %l, %acc : memref<4096xf32>, memref<4096xf32>, memref<4096x64xf32>)
          maps [#q, #k, #v, #row, #row, #out] score {
      ^bb0(%raw: f32, %i: i32, %j: i32):
        spmd.yield %raw : f32
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
    Before: loops and calls on buffers in `@main`. After: those that stand side by side and come of one op (have one location) are
    between calls of `@shardc_mark`: of a number before, of -1 behind. The module's attribute `spmd.kernels` holds a
    name and a source line for each number. Bodies of the program's own loops and branches, and of those that communicate,
    are looked at by themselves.
    ```mlir
    scf.for %i = %c0 to %c32 step %c1 {
      memref.store %x, %buffer[%i] : memref<32xf32>
    } loc("op:stablehlo.add"("model.py":7:3))
    // becomes
    call @shardc_mark(%c0_i64) : (i64) -> ()
    scf.for ...
    call @shardc_mark(%c-1_i64) : (i64) -> ()
    // and: spmd.kernels = [["add", "model.py:7"]]
    ```

    ```mlir
    // before
    func.func @main(%b: memref<16xf32>, %x: f32) {
      linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
      return
    }
    // after
    module attributes {spmd.kernels = [["kernel", "<stdin>:2"]]} {
      func.func private @shardc_mark(i64)
      func.func @main(%b: memref<16xf32>, %x: f32) {
        %c0_i64 = arith.constant 0 : i64
        call @shardc_mark(%c0_i64) : (i64) -> ()
        linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
        %c-1_i64 = arith.constant -1 : i64
        call @shardc_mark(%c-1_i64) : (i64) -> ()
        return
      }
    }
    ```
  }];
  let options = [Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
                        "Name of the function whose kernels these are.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect"];
}

def OutlineLoopsPass : Pass<"spmd-outline-loops", "mlir::ModuleOp"> {
  let summary = "Give loop nests of a long function functions of their own, one for all that are alike.";
  let description = [{
    Before: loops on buffers in `@main`. After, if `@main` has at least `least-ops` ops: each outermost loop that only computes and accesses memory
    is a call of a private function of what it reads from outside, its constants with it, and with the loads and stores
    of vectors that it begins and ends with; loops that differ in nothing but what they are given
    call the same one. LLVM takes quadratic time for long functions, and layers of a network are alike. A loop with more than 16 loops
    next to each other in its body is one of the program, such as a network that is applied again and again: it stays, and they are outlined.
    ```mlir
    scf.for %i = %c0 to %c32 step %c1 {
      memref.store %x, %buffer[%i] : memref<32xf32>
    }
    // becomes
    call @__shardc_loop_0(%x, %buffer) : (f32, memref<32xf32>) -> ()
    ```

    ```mlir
    // before: --spmd-outline-loops=least-ops=0
    func.func @main(%a: memref<32xf32>, %b: memref<32xf32>, %y: f32, %z: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      scf.for %i = %c0 to %c32 step %c1 {
        memref.store %y, %a[%i] : memref<32xf32>
      }
      scf.for %i = %c0 to %c32 step %c1 {
        memref.store %z, %b[%i] : memref<32xf32>
      }
      return
    }
    // after
    func.func private @__shardc_loop_0(%arg0: f32, %arg1: memref<32xf32>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]} {
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c1 = arith.constant 1 : index
      scf.for %arg2 = %c0 to %c32 step %c1 {
        memref.store %arg0, %arg1[%arg2] : memref<32xf32>
      }
      return
    }
    func.func @main(%a: memref<32xf32>, %b: memref<32xf32>, %y: f32, %z: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      call @__shardc_loop_0(%y, %a) : (f32, memref<32xf32>) -> ()
      call @__shardc_loop_0(%z, %b) : (f32, memref<32xf32>) -> ()
      return
    }
    ```
  }];
  let options = [
    Option<"leastOps", "least-ops", "int64_t", /*default=*/"5000",
           "Leaves shorter functions alone.">,
    Option<"entry", "entry", "std::string", /*default=*/"\"main\"",
           "Name of the function whose loops these are.">];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect"];
}

#endif // SHARDC_KERNELGEN_PASSES_TD
