//===- Passes.td - JAX's text to one annotated function ----*- tablegen -*-===//
#ifndef SHARDC_IMPORT_PASSES_TD
#define SHARDC_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineCallsPass : Pass<"spmd-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Make @main the only function.";
  let description = [{
    Before: calls, composites and named computations. After: @main, without any, and what custom calls name; shardings of
    the arguments and results of what was called are constraints in their places; locations say who
    called. Refuses: no @main, recursion, functions without a body or with several blocks, more ops than
    a program may have.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.exponential %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.exponential %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::sdy::SdyDialect"];
}

def ExpandCustomCallsPass : Pass<"spmd-expand-custom-calls", "::mlir::ModuleOp"> {
  let summary = "Say in ops what custom calls of known names compute.";
  let description = [{
    Before: `stablehlo.custom_call @ApproxTopK`, cuDNN's attention (`@__cudnn$fmha...`), older spellings of chlo's functions,
    expectations of conformance files, callbacks of Python. After: stablehlo, chlo, check ops, spmd's attention and `spmd.host_call`. Unknown names stay. Refuses: a known name with operands
    or options that it cannot have.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [Option<"hostCalls", "host-calls", "bool", /*default=*/"false",
                        "Keep calls of Python that give no values; without, they are left out with a warning.">];
  let dependentDialects = ["::shardc::chlo::ChloDialect", "::shardc::spmd::SpmdDialect", "::shardc::spmd::PairsDialect",
                           "::shardc::stablehlo::StablehloDialect"];
}

def ExtendImportPass : Pass<"spmd-extend-import", "::mlir::ModuleOp"> {
  let summary = "Run the passes of dialects that a tool adds.";
  let description = [{
    Before: ops of dialects that libraries do not know, such as the checks of conformance files. After: what passes of these
    dialects make of them at this step (`ImportDialectInterface`). Does nothing where no dialect has any.

    ```mlir
    // before: --spmd-extend-import=step=before-calls
    func.func @anything() {
      %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
      return
    }
    // after
    func.func @main() {
      %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
      check.expect_eq %cst, %cst : tensor<2xf32>
      return
    }
    ```
  }];
  let options = [Option<"step", "step", "::shardc::ImportStep", /*default=*/"::shardc::ImportStep::BeforeCalls",
                        "Where import is.",
                        [{::llvm::cl::values(
                          clEnumValN(::shardc::ImportStep::BeforeCalls, "before-calls", "No call has been inlined."),
                          clEnumValN(::shardc::ImportStep::AfterCalls, "after-calls", "All calls are inlined."),
                          clEnumValN(::shardc::ImportStep::Decomposed, "decomposed", "Ops have sharding rules; what has none is refused next."))}]>];
}

def BindPlatformPass : Pass<"spmd-bind-platform", "::mlir::ModuleOp"> {
  let summary = "Choose one of the platforms that a program was exported for.";
  let description = [{
    Before: @main alone; an argument with `jax.global_constant = "_platform_index"`, where jax.export had several
    platforms, and branches by it. After: no such argument, and of branches whose number is known the one that is
    taken. The number is the argument's `spmd.platform`; without, the first platform. Does nothing to branches that
    are chosen while the program runs.

    ```mlir
    // before
    func.func @main(%platform: tensor<i32> {jax.global_constant = "_platform_index", spmd.platform = 1 : i32},
                    %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.case"(%platform) ({
        stablehlo.return %x : tensor<4xf32>
      }, {
        %1 = stablehlo.negate %x : tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }) : (tensor<i32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.negate %arg0 : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def RefineShapesPass : Pass<"spmd-refine-shapes", "::mlir::ModuleOp"> {
  let summary = "Give dynamic dims of a program the sizes that its arguments have.";
  let description = [{
    Before: @main alone, whose arguments may have `?` dims, as symbolic shapes of jax.export are printed:
    get_dimension_size, dynamic forms, custom calls @shape_assertion, arithmetic on sizes. After: static
    shapes; sizes are constants; none of these. Programs without `?` stay as they are. With `open`, a dim without a size
    given gets a placeholder, a prime that occurs nowhere else: `spmd.extents` says which numbers follow from it and how,
    what an assertion asks is asked when the program is bound, and sizes that values are made of are `spmd.extent`.
    Refuses: dynamic arguments without a shape given, shapes that do not fit the argument or an assertion, what cannot be
    inferred; with `open`, extents whose placeholders cannot be told apart, and regions on blocks of open extents.

    ```mlir
    // before: --spmd-refine-shapes=shapes=0=6x4
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = stablehlo.add %x, %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    // after
    func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
      %0 = stablehlo.add %x, %x : tensor<6x4xf32>
      return %0 : tensor<6x4xf32>
    }
    ```
  }];
  let options = [Option<"shapes", "shapes", "std::string", /*default=*/"",
                        "Shapes of arguments, by number or name: 0=8x6;x=4x4.">,
                 Option<"open", "open", "bool", /*default=*/"false",
                        "Leave extents open that no shape gives.">,
                 Option<"placeholders", "placeholders", "::shardc::PlaceholderSet",
                        /*default=*/"::shardc::PlaceholderSet::Usual", "Numbers that stand for open extents.",
                        [{::llvm::cl::values(
                          clEnumValN(::shardc::PlaceholderSet::Usual, "usual", "Primes."),
                          clEnumValN(::shardc::PlaceholderSet::Even, "even", "Even numbers, with other remainders."),
                          clEnumValN(::shardc::PlaceholderSet::Odd, "odd", "Other primes."))}]>];
  let dependentDialects = ["::shardc::chlo::ChloDialect", "::shardc::spmd::SpmdDialect",
                           "::shardc::stablehlo::StablehloDialect"];
}

def ExpandLinearAlgebraPass : Pass<"spmd-expand-linear-algebra", "::mlir::ModuleOp"> {
  let summary = "Say in ops what calls of LAPACK compute.";
  let description = [{
    Before: custom calls `@lapack_spotrf_ffi` and so on, their forms for other platforms (`@cusolver_…`,
    `@hipsolver_…`, `@LuDecomposition`, `@Qr`, `@Eigh`). After: cholesky, triangular_solve and ops of the solver dialect. Names
    that are not known stay. Refuses: a known name with operands or options that it cannot have.

    ```mlir
    // before
    func.func @main(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
      %0 = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b)
          {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}}
          : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      return %0 : tensor<3x2xf64>
    }
    // after
    func.func @main(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
      %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      return %0 : tensor<3x2xf64>
    }
    ```
  }];
  let dependentDialects = ["::shardc::solver::SolverDialect", "::shardc::stablehlo::StablehloDialect"];
}

def DecomposeOpsPass : Pass<"spmd-decompose-ops", "::mlir::ModuleOp"> {
  let summary = "Say rare ops in common ones, which have rules and lowerings.";
  let description = [{
    batch_norm_inference, batch_norm_training, batch_norm_grad, rng_bit_generator, rng, map, einsum forms, products whose result is of a lesser kind than their operands, factors and triangular systems of floats narrower than f32 (computed in f32),
    tuples, sizes of dims that are known, tokens (which say nothing that the order of ops does not). After: none of these. A scatter's window that is partly outside is dropped whole, as XLA and JAX do (StableHLO's definition would use the
    elements inside): where an index may be such a one, it is replaced by one that is outside with all of the window. A scatter
    into a constant that has one window for each batch (the gradient of an element chosen in each row) becomes a choice by place: elementwise, so that it fuses. Random bits depend on the element's index alone, so they
    are the same on any mesh. Refuses: sizes that are set to less than a dim has, algorithms that are not known.

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
      %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<f32>):
        %1 = stablehlo.multiply %a, %s : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    func.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
      %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def ConvertForeignShardingsPass : Pass<"spmd-convert-foreign-shardings", "::mlir::ModuleOp"> {
  let summary = "Turn shardings in strings into Shardy's attributes.";
  let description = [{
    Before: `mhlo.sharding` and custom calls of the older partitioner, or `xla.sdy` frontend attributes of
    serialised modules. After: `sdy.mesh`, `sdy.sharding`, `sdy.sharding_constraint`, `sdy.manual_computation`.
    The older form has no mesh: it gets the one of fewest axes that makes all its tiles, axis0, axis1 and so
    on. Refuses: tiles in an order of partitions that no mesh has, text that cannot be read. Leaves alone
    what has a mesh already.

    ```mlir
    // before
    module attributes {mhlo.num_partitions = 4 : i32} {
      func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> tensor<4x4xf32> {
        %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}
            : (tensor<4x4xf32>) -> tensor<4x4xf32>
        return %0 : tensor<4x4xf32>
      }
    }
    // after
    module attributes {mhlo.num_partitions = 4 : i32} {
      sdy.mesh @mesh = <["axis0"=2, "axis1"=2]>
      func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis0"}, {"axis1"} ]>}) -> tensor<4x4xf32> {
        %0 = sdy.sharding_constraint %x <@mesh, [{"axis0"}, {} ]> : tensor<4x4xf32>
        return %0 : tensor<4x4xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::shardc::sdy::SdyDialect"];
}

def WidenFloatsPass : Pass<"spmd-widen-floats", "::mlir::ModuleOp"> {
  let summary = "Keep floats of four and six bits in eight.";
  let description = [{
    Before: values of f4E2M1FN, f6E2M3FN and f6E3M2FN in @main. After: of f8E4M3FN, which has all their numbers. What
    computes such a value does so in f32, and is rounded to the narrow type's numbers; too large ones to the largest.
    Arguments and results keep their types, and are converted where they come in and go out. Refuses: products, and bits of such values.

    ```mlir
    // before
    func.func @main(%x: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
      %0 = stablehlo.constant dense<[1.0, 6.0]> : tensor<2xf4E2M1FN>
      %1 = stablehlo.convert %0 : (tensor<2xf4E2M1FN>) -> tensor<2xf8E4M3FN>
      return %1 : tensor<2xf8E4M3FN>
    }
    // after
    func.func @main(%x: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
      %cst = stablehlo.constant dense<[1.000000e+00, 6.000000e+00]> : tensor<2xf8E4M3FN>
      %0 = stablehlo.convert %cst : tensor<2xf8E4M3FN>
      return %0 : tensor<2xf8E4M3FN>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def CheckSupportedPass : Pass<"spmd-check-supported", "::mlir::ModuleOp"> {
  let summary = "Refuse what no later stage knows, with its line.";
  let description = [{
    Ops of other dialects, collectives outside manual regions, custom calls, tokens, dynamic shapes,
    annotations of older partitioners. What is merely not there yet is called unsupported. Changes nothing.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
}

def ConvertSdyPass : Pass<"spmd-convert-sdy", "::mlir::ModuleOp"> {
  let summary = "Turn Shardy's annotations into those of spmd.";
  let description = [{
    Before: `sdy.mesh`, `sdy.sharding`, `sdy.sharding_constraint`, `sdy.manual_computation`. After: one `spmd.mesh` (empty where
    there was none), `spmd.sharding` on arguments and results, `spmd.constrain`, `spmd.manual`; names of arguments and
    results as `spmd.name`; no attribute of mhlo, jax, tf or sdy. Sub-axes become axes of their own: "x" of 8 used as
    `"x":(1)2` is "x.0" of 2 and "x.1" of 4. Meshes of as many devices become one, with the axes that make all of them;
    a rank is a position of each, whatever device is there. With `device-order`, where `device_ids` number the
    devices otherwise, an argument's shards go from their devices to their positions in a manual region, a result's go
    back, and `spmd.ranks` says where each position's shard is. Sharding groups and barriers are `spmd.constrain` with
    `spmd.group` or `spmd.direction`. Refuses: meshes of other numbers of devices, or that no mesh makes.

    ```mlir
    // before
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {} ]>}) -> tensor<8x4xf32> {
      %0 = sdy.sharding_constraint %x <@mesh, [{}, {"y"} ]> : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {} ]>}) -> tensor<8x4xf32> {
      %0 = spmd.constrain %x <@mesh, [{}, {"y"} ]> : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>
    }
    ```
  }];
  let options = [Option<"deviceOrder", "device-order", "bool", /*default=*/"false",
                        "Rank r is device r, in whatever order meshes name them.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect", "::shardc::stablehlo::StablehloDialect"];
}

def ExpandUnreducedPass : Pass<"spmd-expand-unreduced", "::mlir::ModuleOp"> {
  let summary = "Say what manual regions make of unreduced values.";
  let description = [{
    For what one rank does in the place of many (`--unsharded`), which knows whole values alone.
    Before: an operand or result of `spmd.manual` is `partial` along a manual axis. After: none is. Such an operand
    is kept by the first coordinate of the axis and zero at the others, so that its sum is the value; such a result
    goes through an `all_reduce` before it leaves.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{} ]>] out [#spmd.sharding<@mesh, [{} ], partial = {"x" = sum}>] along ["x"] {
      ^bb0(%v: tensor<4xf32>):
        spmd.return %v : tensor<4xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = spmd.manual(%a) in [#spmd.sharding<@mesh, [{} ]>] out [#spmd.sharding<@mesh, [{} ]>] along ["x"] {
      ^bb0(%arg1: tensor<4xf32>):
        %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
        ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
          %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }) : (tensor<4xf32>) -> tensor<4xf32>
        spmd.return %1 : tensor<4xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def EmulateManualPass : Pass<"spmd-emulate-manual", "::mlir::ModuleOp"> {
  let summary = "Let one rank run what the ranks of manual regions do.";
  let description = [{
    Before: `spmd.manual`, and a mesh. After: the region's ops once for each coordinate of its manual axes, side by
    side; collectives are slices, concatenations and folds of their values. Requires what import leaves.
    Refuses: reducers that are not elementwise, groups with ranks of several coordinates of a free axis, more ops
    than a program may have.

    ```mlir
    // before
    #rows = #spmd.sharding<@mesh, [{"x"} ]>
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = spmd.manual(%x) in [#rows] out [#rows] along ["x"] {
      ^bb0(%block: tensor<4xf32>):
        %1 = "stablehlo.collective_permute"(%block) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
        spmd.return %1 : tensor<4xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.slice %arg0 [0:4] {spmd.of_manual} : (tensor<8xf32>) -> tensor<4xf32>
      %1 = stablehlo.slice %arg0 [4:8] {spmd.of_manual} : (tensor<8xf32>) -> tensor<4xf32>
      %2 = stablehlo.concatenate %1, %0, dim = 0 {spmd.of_manual} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
      return %2 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

def SetLayoutPass : Pass<"spmd-set-layout", "::mlir::ModuleOp"> {
  let summary = "Give axes and shards other sizes than the file says.";
  let description = [{
    Refuses: an axis that the mesh lacks, an argument or dim that is not there or not sharded, sizes
    that do not add up, sizes in the file that no longer fit an axis, other axis sizes where a manual
    region fixes them.

    ```mlir
    // before: --spmd-set-layout=mesh=x=3
    spmd.mesh @mesh = <["x"=4]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=3]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", /*default=*/"", "Axes and their sizes: x=3,y=2.">,
    Option<"sizes", "sizes", "std::string", /*default=*/"",
           "Sizes in which arguments arrive, by number or name: 0:2=300,200,100,424;image:1=3,5. Or what each coordinate along an axis gets of all that is cut along it: x=3,1,2,2.">,
    Option<"dynamic", "dynamic", "std::string", /*default=*/"",
           "Dims of arguments whose sizes are known only when the program is bound: 0:2,image:1, or all that are cut.">,
    Option<"unsharded", "unsharded", "bool", /*default=*/"false",
           "One rank: drop the mesh's axes and all shardings.">,
    Option<"keepAxes", "keep-axes", "bool", /*default=*/"false",
           "With unsharded: keep axes, of one rank each, and what is sharded along them.">];
  let dependentDialects = ["::shardc::spmd::SpmdDialect"];
}

def SetMachinePass : Pass<"spmd-set-machine", "::mlir::ModuleOp"> {
  let summary = "Say which machine the module is compiled for.";
  let description = [{
    All estimates of time are made of its figures (docs/Reference/machine.md). Without the option the module stays as it is; one that says
    nothing is compiled for the preset `generic`. Refuses: an unknown preset or figure, a wrong unit, a number that is not finite, a link
    along an axis that the mesh lacks.

    ```mlir
    // before: --spmd-set-machine=machine=h100,link.bandwidth=50GB/s
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
    // after
    module attributes {machine.target = #machine.figures<"h100", {link.bandwidth = 5.000000e+10 : f64}>} {
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        return %x : tensor<8xf32>
      }
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "A preset, then figures that differ: h100,link.bandwidth=50GB/s,axes.x.latency=5us.">];
  let dependentDialects = ["::shardc::machine::MachineDialect"];
}

def VerifyImportedPass : Pass<"spmd-verify-imported", "::mlir::ModuleOp"> {
  let summary = "Check what propagation relies on.";
  let description = [{
    One `spmd.mesh`, one function @main of one block, no `sdy`, no call.

    ```mlir
    // before
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    // after
    spmd.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"} ]>}) -> tensor<8xf32> {
      %0 = stablehlo.negate %x : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    ```
  }];
}

def MakeReproduciblePass : Pass<"spmd-make-reproducible", "::mlir::ModuleOp"> {
  let summary = "Make sums of floats the same on every mesh.";
  let description = [{
    Before: @main in the global view, without ops on all pairs. After: sums of floats (reductions, running sums, scatters, products, convolutions) are
    sums of multiples of one power of two in f64, which no order changes, rounded once; other reductions of floats are trees over
    global indices. So local parts may be summed in any order, by any number of ranks. docs/Rationale/Reproducible.md.
    Refuses: what is not known to give the same bits on every mesh.

    ```mlir
    // before
    func.func @main(%x: tensor<8xf32>) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    // after, among others
    %0 = stablehlo.abs %arg0 : tensor<8xf32>
    ...
    %1 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    ...
    %8 = stablehlo.convert %arg0 : (tensor<8xf32>) -> tensor<8xf64>
    ...
    %13 = stablehlo.add %8, %12 : tensor<8xf64>
    %14 = stablehlo.subtract %13, %12 : tensor<8xf64>
    ...
    %15 = stablehlo.reduce(%14 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<8xf64>, tensor<f64>) -> tensor<f64>
    %16 = stablehlo.convert %15 : (tensor<f64>) -> tensor<f32>
    return %16 : tensor<f32>
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect"];
}

#endif // SHARDC_IMPORT_PASSES_TD
