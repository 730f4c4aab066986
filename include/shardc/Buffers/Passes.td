//===- Passes.td - Passes on what becomes buffers ----------*- tablegen -*-===//
//
// In the order in which the pipelines run them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_BUFFERS_PASSES_TD
#define SHARDC_BUFFERS_PASSES_TD

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
           "Join this many parts or more in memory. Bufferization takes the cube of fewer, and finds places for each that need less memory.">];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::tensor::TensorDialect"];
}

def PrivateDestinationsPass : Pass<"spmd-private-destinations", "mlir::func::FuncOp"> {
  let summary = "Give each result an empty or filled tensor of its own to be built in.";
  let description = [{
    Before: equal `tensor.empty`, fills of them, shared by several ops as destinations (CSE makes
    them so). After: one for each use, beside it; a value that is read elsewhere and changed further into an
    output begins in memory of its own (`bufferization.alloc_tensor`), not in the output; parts that are inserted one after
    the other into an output are inserted into its memory; what is inserted under another shape than its own is built where
    it is inserted. Refuses: nothing.

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

def AnchorLoopValuesPass : Pass<"spmd-anchor-loop-values", "mlir::func::FuncOp"> {
  let summary = "Keep every loop-carried tensor in one buffer.";
  let description = [{
    Before: `scf.for` and `scf.while` yield any tensor. After: they yield what is materialised in
    the tensor that it replaces, so that bufferization allocates nothing an iteration that outlives
    it. Adds a copy where the new value cannot be built in place. Tensors of `scf.while` come first, in one
    order before and after its condition, those too that the condition alone reads.

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

def SeparateReadersPass : Pass<"spmd-separate-readers", "mlir::func::FuncOp"> {
  let summary = "Let bufferization look at each of many readers of a tensor alone.";
  let description = [{
    Before: many ops read a tensor argument, or views of it, and none writes to it. After: each use has a tensor of its
    own that shows the argument's buffer (`bufferization.to_tensor`), so that bufferization, which otherwise collects
    for each use all the others, does as many steps as there are uses. Buffers and code are the same.
    Leaves arguments with fewer readers than `many-readers`, and those that something may write to; of arguments that may
    not be written (`bufferization.writable = false`), the uses that hand them on. Results of structured ops likewise:
    what many read, and nothing writes, is built in memory of its own (`memref.alloc`), of which each use has a tensor;
    but not what may be built in another tensor or where the caller wants it. Refuses: nothing.

    Updates of one tensor, one after the other, and conditionals within one another are compared with one another too, in
    the third power of their number. So a chain of more than half as many updates as `many-readers` is split: of a
    quarter as many the last leaves its tensor in memory, from which the next goes on, wherever nothing reads later what
    was there before; and at every such depth conditionals are copied to memory of their own. What a loop carries stays,
    and so do parts that are put together in an empty tensor, where each may be built.
    Adds: a copy at a chain's beginning, which an argument that may not be written needs anyway.

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
           "Separate this many readers or more: of fewer all are collected quickly.">,
  ];
  let dependentDialects = ["mlir::bufferization::BufferizationDialect", "mlir::memref::MemRefDialect"];
}

def KnowSizesPass : Pass<"spmd-know-sizes", "mlir::func::FuncOp"> {
  let summary = "Look up sizes that differ by rank once each, so that equal sizes are one value.";
  let description = [{
    Before: sizes of buffers are looked up where they are wanted, asked of other buffers, computed.
    After: what follows from the tables of look-ups, and from how arguments are cut, is a look-up at
    the function's beginning, one for all that are equal. So buffers of the same size can be recognised,
    and every size has a bound. Other sizes stay as they are.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%n: index) -> (memref<?xf32>, memref<?xf32>) {
      %0 = local.lookup [5, 3] along ["x"] on @mesh
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
      %0 = local.lookup [6, 4] along ["x"] on @mesh
      %1 = local.lookup [5, 3] along ["x"] on @mesh
      %alloc = memref.alloc(%1) : memref<?xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %alloc_0 = memref.alloc(%0) : memref<?xf32>
      return %alloc, %alloc_0 : memref<?xf32>, memref<?xf32>
    }
    ```
  }];
  let options = [Option<"allocated", "allocated", "bool", /*default=*/"false",
                        "Only sizes that buffers are allocated with.">];
  let dependentDialects = ["mlir::arith::ArithDialect", "::shardc::spmd::LocalDialect"];
}

def RotateBuffersPass : Pass<"spmd-rotate-buffers", "mlir::func::FuncOp"> {
  let summary = "Let loop-carried buffers change roles in place of copying them.";
  let description = [{
    Before: the body of `scf.for` or `scf.while` ends with copies from buffers of its own, or of
    one another, to buffers from outside. After: those buffers are loop-carried, each iteration
    yields them in their new roles, and the copies are gone. The loop is marked `kernel.rotated`:
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
      } {kernel.rotated}
      memref.copy %0#0, %out : memref<4xf32> to memref<4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def ForwardCopiesPass : Pass<"spmd-forward-copies", "mlir::func::FuncOp"> {
  let summary = "Build results in the argument that they are copied to.";
  let description = [{
    Before: a buffer is allocated, written, and last of all copied, perhaps under another shape, to an argument that
    nothing else uses. After: the argument takes the buffer's place. With `transforms`, Fourier transforms whose input nothing reads
    any more are done in the buffer that they write to, which what makes the input writes to.

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
  let options = [Option<"transforms", "transforms", "bool", /*default=*/"false",
                        "Transform lines in place, where a line is read as a whole before it is written.">];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def PadInExchangesPass : Pass<"spmd-pad-in-exchanges", "::mlir::ModuleOp"> {
  let summary = "Let exchanges write the padded buffers that get copies of what they receive.";
  let description = [{
    Before: buffers. What an exchange receives is copied into the middle of a buffer that was filled with the same
    constant that the exchange fills with. After: where the dims that become larger are whole in each rank, and nothing else uses
    either buffer before the copy, the exchange writes the larger buffer, with its edges: its `#kernel.site` has the padded dims too.

    ```mlir
    // before
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]>]>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%x: memref<4x4xf32>, %out: memref<5x6xf32>) {
        %zero = arith.constant 0.0 : f32
        %h = memref.alloc() : memref<5x4xf32>
        kernel.run_site 0 ins(%x : memref<4x4xf32>) outs(%h : memref<5x4xf32>)
        %p = memref.alloc() : memref<5x6xf32>
        linalg.fill ins(%zero : f32) outs(%p : memref<5x6xf32>)
        %box = memref.subview %p[0, 1] [5, 4] [1, 1] : memref<5x6xf32> to memref<5x4xf32, strided<[6, 1], offset: 1>>
        memref.copy %h, %box : memref<5x4xf32> to memref<5x4xf32, strided<[6, 1], offset: 1>>
        linalg.exp ins(%p : memref<5x6xf32>) outs(%out : memref<5x6xf32>)
        return
      }
    }
    // after
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>, #local.dim_exchange<dim 1 along [] : [0:4] -> [-1:5]>]>]>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%arg0: memref<4x4xf32>, %arg1: memref<5x6xf32>) {
        %cst = arith.constant 0.000000e+00 : f32
        %alloc = memref.alloc() : memref<5x6xf32>
        kernel.run_site 0 ins(%arg0 : memref<4x4xf32>) outs(%alloc : memref<5x6xf32>)
        linalg.exp ins(%alloc : memref<5x6xf32>) outs(%arg1 : memref<5x6xf32>)
        return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::shardc::spmd::KernelDialect"];
}

def LeaveBlocksPass : Pass<"spmd-leave-blocks", "::mlir::ModuleOp"> {
  let summary = "Let exchanges for large windows move the margins alone.";
  let description = [{
    Before: buffers. An exchange writes margins, and the own block between them, to a buffer that does not fit the second-level cache and that one reduction
    reads. After: it writes the margins (`parts` of its `#kernel.site`), and a copy behind it the block, which the kernel of that reduction may do
    a part at a time. Blocks may have another size on each rank. Leaves: sizes that are bound later, blocks that are not at the same place on each rank.

    ```mlir
    // before
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [2048, 1024], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:1024, 1024:2048] -> [-1:1024, 1023:2048]>]>]>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%x: memref<1024x1024xf32>, %w: memref<2xf32>, %out: memref<1024x1024xf32>) {
        %h = memref.alloc() : memref<1025x1024xf32>
        kernel.run_site 0 ins(%x : memref<1024x1024xf32>) outs(%h : memref<1025x1024xf32>)
        linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                        iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : memref<1025x1024xf32>, memref<2xf32>) outs(%out : memref<1024x1024xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %0 = arith.mulf %a, %b : f32
          %1 = arith.addf %o, %0 : f32
          linalg.yield %1 : f32
        }
        return
      }
    }
    // after, among others
    kernel.run_site 0 ins(%arg0 : memref<1024x1024xf32>) outs(%alloc : memref<1025x1024xf32>)
    %subview = memref.subview %alloc[1, 0] [1024, 1024] [1, 1] : memref<1025x1024xf32> to memref<1024x1024xf32, strided<[1024, 1], offset: 1024>>
    memref.copy %arg0, %subview : memref<1024x1024xf32> to memref<1024x1024xf32, strided<[1024, 1], offset: 1024>>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::shardc::spmd::KernelDialect"];
}

def MarginsInPlacePass : Pass<"spmd-margins-in-place", "::mlir::ModuleOp"> {
  let summary = "Keep blocks where their margins are added.";
  let description = [{
    Before: buffers, with loop-carried ones that swap. An exchange that keeps the own block copies it into
    its result. After: where nothing forbids it, the block is a part of the result from the beginning, and the exchange
    fills the margins alone (`in_place` of its `#kernel.site`). A buffer that a loop carries gets margins as well;
    one that a loop exchanges and then writes over gets a twin first, and the loop carries both, swapped in each iteration.

    ```mlir
    // before
    #same = affine_map<(i, j) -> (i, j)>
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]>]>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%x: memref<4x4xf32>, %out: memref<5x4xf32>, %zero: memref<f32>) {
        %a = memref.alloc() : memref<4x4xf32>
        linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>) {
        ^bb0(%in: f32, %old: f32):
          %0 = arith.negf %in : f32
          linalg.yield %0 : f32
        }
        %h = memref.alloc() : memref<5x4xf32>
        kernel.run_site 0 ins(%a, %zero : memref<4x4xf32>, memref<f32>) outs(%h : memref<5x4xf32>)
        linalg.exp ins(%h : memref<5x4xf32>) outs(%out : memref<5x4xf32>)
        return
      }
    }
    // after
    #map = affine_map<(d0, d1) -> (d0, d1)>
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", in_place = true, shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]>]>} {
      spmd.mesh @mesh = <["x"=2]>
      func.func @main(%arg0: memref<4x4xf32>, %arg1: memref<5x4xf32>, %arg2: memref<f32>) {
        %alloc = memref.alloc() : memref<5x4xf32>
        %subview = memref.subview %alloc[1, 0] [4, 4] [1, 1] : memref<5x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 4>>
        linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<4x4xf32>) outs(%subview : memref<4x4xf32, strided<[4, 1], offset: 4>>) {
        ^bb0(%in: f32, %out: f32):
          %0 = arith.negf %in : f32
          linalg.yield %0 : f32
        }
        kernel.run_site 0 ins(%alloc, %arg2 : memref<5x4xf32>, memref<f32>) outs(%alloc : memref<5x4xf32>)
        linalg.exp ins(%alloc : memref<5x4xf32>) outs(%arg1 : memref<5x4xf32>)
        return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::shardc::spmd::KernelDialect"];
}

def ReleaseLatePass : Pass<"spmd-release-late", "::mlir::ModuleOp"> {
  let summary = "Wait for the readers of an exchange when its source changes.";
  let description = [{
    Before: buffers. `kernel.run_site` returns when nobody reads its source any more. After: where there is work between it and what
    writes to the source (or the end of the block), it returns when its own result is complete (`released_later` of its `#kernel.site`), and
    `kernel.release_site` before that writer waits for the readers. `--spmd-plan-arena` moves releases forward that would make the arena larger.

    ```mlir
    // before
    #same = affine_map<(i, j) -> (i, j)>
    module attributes {kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "halo_exchange", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [-1:4, 3:8]>]>]>} {
      func.func @main(%x: memref<4x4xf32>, %out: memref<5x4xf32>, %zero: memref<f32>) {
        %a = memref.alloc() : memref<4x4xf32>
        linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>) {
        ^bb0(%in: f32, %old: f32):
          %0 = arith.negf %in : f32
          linalg.yield %0 : f32
        }
        %h = memref.alloc() : memref<5x4xf32>
        kernel.run_site 0 ins(%a, %zero : memref<4x4xf32>, memref<f32>) outs(%h : memref<5x4xf32>)
        linalg.exp ins(%h : memref<5x4xf32>) outs(%out : memref<5x4xf32>)
        return
      }
    }
    // after, among others
    kernel.run_site 0 ins(%alloc, %arg2 : memref<4x4xf32>, memref<f32>) outs(%alloc_0 : memref<5x4xf32>)
    linalg.exp ins(%alloc_0 : memref<5x4xf32>) outs(%arg1 : memref<5x4xf32>)
    kernel.release_site 0 of %alloc : memref<4x4xf32>
    return
    ```
  }];
  let dependentDialects = ["::shardc::spmd::KernelDialect"];
}

def ReadInPlacePass : Pass<"spmd-read-in-place", "::mlir::ModuleOp"> {
  let summary = "Copy no argument that its exchange leaves as it is.";
  let description = [{
    Before: buffers. Arguments whose sizes are open move to the shards of one of them; where they have these already, `kernel.run_site` copies. After: of an
    argument that is exchanged into a buffer which is only read, `kernel.received` is read in its place: the buffer, or the argument itself where the
    runtime says that the rank needs what it owns. `--spmd-plan-arena` gives the buffer no room there. Done to nothing whose sizes are known (there an
    exchange moves something).

    ```mlir
    // before
    #same = affine_map<(i, j) -> (i, j)>
    module attributes {kernel.entry_inputs = [{}, {} ], kernel.sites = #kernel.site_table<<["x"=2]>, [#kernel.site<kind = exchange, report = "rebalance", type = f32, location = "model.py:4", shape = [8, 4], dims = [#local.dim_exchange<dim 0 along ["x"] : [0:4, 4:8] -> [0:4, 4:8] by #spmd.formula<shards [0] (#spmd.formula<given [0, 0, 8]>)> -> #spmd.formula<shards [0] (#spmd.formula<given [1, 0, 8]>)>>]>]>} {
      func.func @main(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %out: memref<?x4xf32>, %n: index) {
        %a = memref.alloc(%n) : memref<?x4xf32>
        kernel.run_site 0 ins(%x : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
        linalg.add ins(%a, %y : memref<?x4xf32>, memref<?x4xf32>) outs(%out : memref<?x4xf32>)
        return
      }
    }
    // after, among others
    %0 = kernel.received %alloc by 0 : memref<?x4xf32>
    kernel.run_site 0 ins(%arg0 : memref<?x4xf32>) outs(%0 : memref<?x4xf32>)
    ```
  }];
  let dependentDialects = ["::shardc::spmd::KernelDialect", "::mlir::memref::MemRefDialect"];
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

def WriteInPlacePass : Pass<"spmd-write-in-place", "mlir::ModuleOp"> {
  let summary = "Write results over donated arguments.";
  let description = [{
    Before: `linalg.generic` on buffers; `@main` takes buffers of arguments, some of them donated
    (`spmd.donated`), then those of results. After: where each element of a donated argument is read
    before that of a result which is as large on every rank is written, `kernel.in_place` of the result
    names the argument. The caller may give one buffer for both, or two: the program is right
    for either. What reads the argument too late goes before the writer, with what it depends on, where
    nothing forbids that; a copy from one to the other asks first whether they are one; and those who read
    an argument from other ranks are waited for before it is written over.

    ```mlir
    // before
    #same = affine_map<(i) -> (i)>
    module attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64} ], kernel.entry_outputs = [{} ]} {
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
    module attributes {kernel.entry_inputs = [{spmd.donated = 0 : i64} ], kernel.entry_outputs = [{} ], kernel.written_in_place = array<i64: 0>} {
      func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32> {kernel.in_place = 0 : i64}) {
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

def ComputeInPlacePass : Pass<"spmd-compute-in-place", "mlir::func::FuncOp"> {
  let summary = "Write elementwise results over operands that nothing reads any more.";
  let description = [{
    Before: `linalg.generic` on buffers. After: where an elementwise op is the last that reads a buffer of the type of its
    result, and reads each element where it writes that of the result, both are one buffer: the result's. What makes the operand writes
    there. Buffers of sites, and of sums that a kernel finishes at once, stay what they are; so does the result over a
    donated argument that is read after the operand is written.

    ```mlir
    // before
    #same = affine_map<(i) -> (i)>
    func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
      linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%out : memref<4xf32>) {
      ^bb0(%in: f32, %old: f32):
        %0 = arith.negf %in : f32
        linalg.yield %0 : f32
      }
      return
    }
    // after
    #map = affine_map<(d0) -> (d0)>
    func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
      linalg.exp ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg1 : memref<4xf32>) outs(%arg1 : memref<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %0 = arith.negf %in : f32
        linalg.yield %0 : f32
      }
      return
    }
    ```
  }];
}

def PlanArenaPass : Pass<"spmd-plan-arena", "mlir::ModuleOp"> {
  let summary = "Place every bounded buffer in one arena.";
  let description = [{
    Before: `memref.alloc` in `@main`. After: a last argument `memref<?xi8>` of `@main`, marked
    `kernel.arena`, of which every buffer whose size has a known upper bound (static dims, or
    sizes in a known range), or follows from what is bound, is a view at an offset fixed now, or then: buffers that are
    never live together share bytes (first fit over live intervals, 64-byte aligned). The module's
    attribute `kernel.arena_bytes` says how long the argument must be, and `kernel.arena_largest`
    which buffers are the largest, for messages about memory. Unbounded buffers become calls of the pool allocator.
    A buffer with an `kernel.release_site` lives until then, as far as the arena is no more than a 64th larger for it; the release comes
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
    module attributes {kernel.arena_bytes = 64 : i64, kernel.arena_largest = "64 bytes of f32 [4] at <stdin>:2"} {
      func.func @main(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: memref<?xi8> {kernel.arena}) {
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
  let dependentDialects = ["::shardc::spmd::KernelDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::func::FuncDialect"];
}

def OutlineLoopsPass : Pass<"spmd-outline-loops", "mlir::ModuleOp"> {
  let summary = "Give loop nests of a long function functions of their own, one for all that are alike.";
  let description = [{
    Before: loops on buffers in `@main`. After, if `@main` has at least `least-ops` ops (with those of functions that it calls): each outermost loop that only computes and accesses memory
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

def VerifyBuffersPass : Pass<"spmd-verify-buffers", "mlir::func::FuncOp"> {
  let summary = "Check what kernels rely on.";
  let description = [{
    No value is a tensor; results are buffers among the arguments.

    ```mlir
    // before
    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
      return
    }
    // after
    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) {
      memref.copy %x, %y : memref<4xf32> to memref<4xf32>
      return
    }
    ```
  }];
}

#endif // SHARDC_BUFFERS_PASSES_TD
