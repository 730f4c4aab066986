// All-reduces of every type, 16-bit floats among them: the kernels that programs hold for them give the bits of
// the host's functions. Over NCCL, what it cannot combine, or all where one order is asked for, is combined by the same kernels.
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=host --outputs=@%t.host.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --kernel-schedule=run-ahead --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --transport=direct --check-kernels --kernel-schedule=random=7 --outputs=@%t.direct.npz
// RUN: cmp %t.host.npz %t.direct.npz
// RUN: env SHARDRT_NCCL_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeNccl.so shard-run %s --seed=3 --device=emulated-cuda --transport=nccl --deterministic --outputs=@%t.nccl.npz
// RUN: cmp %t.host.npz %t.nccl.npz
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK-DAG: .entry shardrt_combine_bf16_min(
// CHECK-DAG: .entry shardrt_combine_complex_f32_sum(
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a0: tensor<1204xi1>,
                %a1: tensor<44012xi8>,
                %a2: tensor<1204xui8>,
                %a3: tensor<1204xi16>,
                %a4: tensor<1204xui16>,
                %a5: tensor<1204xi32>,
                %a6: tensor<1204xi64>,
                %a7: tensor<1204xui64>,
                %a8: tensor<1204xf16>,
                %a9: tensor<20000xbf16>,
                %a10: tensor<12004xf32>,
                %a11: tensor<1204xf64>,
                %a12: tensor<1204xcomplex<f32>>,
                %a13: tensor<1204xcomplex<f64>>)
    -> (tensor<301xi1>, tensor<301xi1>, tensor<301xi1>, tensor<11003xi8>, tensor<11003xi8>, tensor<301xui8>,
        tensor<301xi16>, tensor<301xui16>, tensor<301xi32>, tensor<301xi32>, tensor<301xi64>, tensor<301xui64>,
        tensor<301xf16>, tensor<301xf16>, tensor<301xf16>, tensor<5000xbf16>, tensor<5000xbf16>, tensor<5000xbf16>,
        tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>, tensor<301xf64>, tensor<301xcomplex<f32>>,
        tensor<301xcomplex<f32>>, tensor<301xcomplex<f64>>) {
  %r:25 = sdy.manual_computation(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13)
      in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>, <@mesh, [{}]>]
      manual_axes={"x"} (%b0: tensor<301xi1>, %b1: tensor<11003xi8>, %b2: tensor<301xui8>, %b3: tensor<301xi16>, %b4: tensor<301xui16>, %b5: tensor<301xi32>, %b6: tensor<301xi64>, %b7: tensor<301xui64>, %b8: tensor<301xf16>, %b9: tensor<5000xbf16>, %b10: tensor<3001xf32>, %b11: tensor<301xf64>, %b12: tensor<301xcomplex<f32>>, %b13: tensor<301xcomplex<f64>>) {
    %s0 = "stablehlo.all_reduce"(%b0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %z = stablehlo.or %x, %y : tensor<i1>
      stablehlo.return %z : tensor<i1>
    }) : (tensor<301xi1>) -> tensor<301xi1>
    %s1 = "stablehlo.all_reduce"(%b0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %z = stablehlo.and %x, %y : tensor<i1>
      stablehlo.return %z : tensor<i1>
    }) : (tensor<301xi1>) -> tensor<301xi1>
    %s2 = "stablehlo.all_reduce"(%b0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i1>, %y: tensor<i1>):
      %z = stablehlo.xor %x, %y : tensor<i1>
      stablehlo.return %z : tensor<i1>
    }) : (tensor<301xi1>) -> tensor<301xi1>
    %s3 = "stablehlo.all_reduce"(%b1) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i8>, %y: tensor<i8>):
      %z = stablehlo.add %x, %y : tensor<i8>
      stablehlo.return %z : tensor<i8>
    }) : (tensor<11003xi8>) -> tensor<11003xi8>
    %s4 = "stablehlo.all_reduce"(%b1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i8>, %y: tensor<i8>):
      %z = stablehlo.multiply %x, %y : tensor<i8>
      stablehlo.return %z : tensor<i8>
    }) : (tensor<11003xi8>) -> tensor<11003xi8>
    %s5 = "stablehlo.all_reduce"(%b2) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<ui8>, %y: tensor<ui8>):
      %z = stablehlo.minimum %x, %y : tensor<ui8>
      stablehlo.return %z : tensor<ui8>
    }) : (tensor<301xui8>) -> tensor<301xui8>
    %s6 = "stablehlo.all_reduce"(%b3) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i16>, %y: tensor<i16>):
      %z = stablehlo.maximum %x, %y : tensor<i16>
      stablehlo.return %z : tensor<i16>
    }) : (tensor<301xi16>) -> tensor<301xi16>
    %s7 = "stablehlo.all_reduce"(%b4) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<ui16>, %y: tensor<ui16>):
      %z = stablehlo.multiply %x, %y : tensor<ui16>
      stablehlo.return %z : tensor<ui16>
    }) : (tensor<301xui16>) -> tensor<301xui16>
    %s8 = "stablehlo.all_reduce"(%b5) <{channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = stablehlo.minimum %x, %y : tensor<i32>
      stablehlo.return %z : tensor<i32>
    }) : (tensor<301xi32>) -> tensor<301xi32>
    %s9 = "stablehlo.all_reduce"(%b5) <{channel_handle = #stablehlo.channel_handle<handle = 10, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = stablehlo.xor %x, %y : tensor<i32>
      stablehlo.return %z : tensor<i32>
    }) : (tensor<301xi32>) -> tensor<301xi32>
    %s10 = "stablehlo.all_reduce"(%b6) <{channel_handle = #stablehlo.channel_handle<handle = 11, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %z = stablehlo.add %x, %y : tensor<i64>
      stablehlo.return %z : tensor<i64>
    }) : (tensor<301xi64>) -> tensor<301xi64>
    %s11 = "stablehlo.all_reduce"(%b7) <{channel_handle = #stablehlo.channel_handle<handle = 12, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<ui64>, %y: tensor<ui64>):
      %z = stablehlo.maximum %x, %y : tensor<ui64>
      stablehlo.return %z : tensor<ui64>
    }) : (tensor<301xui64>) -> tensor<301xui64>
    %s12 = "stablehlo.all_reduce"(%b8) <{channel_handle = #stablehlo.channel_handle<handle = 13, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f16>, %y: tensor<f16>):
      %z = stablehlo.add %x, %y : tensor<f16>
      stablehlo.return %z : tensor<f16>
    }) : (tensor<301xf16>) -> tensor<301xf16>
    %s13 = "stablehlo.all_reduce"(%b8) <{channel_handle = #stablehlo.channel_handle<handle = 14, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f16>, %y: tensor<f16>):
      %z = stablehlo.multiply %x, %y : tensor<f16>
      stablehlo.return %z : tensor<f16>
    }) : (tensor<301xf16>) -> tensor<301xf16>
    %s14 = "stablehlo.all_reduce"(%b8) <{channel_handle = #stablehlo.channel_handle<handle = 15, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f16>, %y: tensor<f16>):
      %z = stablehlo.maximum %x, %y : tensor<f16>
      stablehlo.return %z : tensor<f16>
    }) : (tensor<301xf16>) -> tensor<301xf16>
    %s15 = "stablehlo.all_reduce"(%b9) <{channel_handle = #stablehlo.channel_handle<handle = 16, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
      %z = stablehlo.add %x, %y : tensor<bf16>
      stablehlo.return %z : tensor<bf16>
    }) : (tensor<5000xbf16>) -> tensor<5000xbf16>
    %s16 = "stablehlo.all_reduce"(%b9) <{channel_handle = #stablehlo.channel_handle<handle = 17, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
      %z = stablehlo.minimum %x, %y : tensor<bf16>
      stablehlo.return %z : tensor<bf16>
    }) : (tensor<5000xbf16>) -> tensor<5000xbf16>
    %s17 = "stablehlo.all_reduce"(%b9) <{channel_handle = #stablehlo.channel_handle<handle = 18, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
      %z = stablehlo.multiply %x, %y : tensor<bf16>
      stablehlo.return %z : tensor<bf16>
    }) : (tensor<5000xbf16>) -> tensor<5000xbf16>
    %s18 = "stablehlo.all_reduce"(%b10) <{channel_handle = #stablehlo.channel_handle<handle = 19, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<3001xf32>) -> tensor<3001xf32>
    %s19 = "stablehlo.all_reduce"(%b10) <{channel_handle = #stablehlo.channel_handle<handle = 20, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<3001xf32>) -> tensor<3001xf32>
    %s20 = "stablehlo.all_reduce"(%b11) <{channel_handle = #stablehlo.channel_handle<handle = 21, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %z = stablehlo.add %x, %y : tensor<f64>
      stablehlo.return %z : tensor<f64>
    }) : (tensor<301xf64>) -> tensor<301xf64>
    %s21 = "stablehlo.all_reduce"(%b11) <{channel_handle = #stablehlo.channel_handle<handle = 22, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f64>, %y: tensor<f64>):
      %z = stablehlo.minimum %x, %y : tensor<f64>
      stablehlo.return %z : tensor<f64>
    }) : (tensor<301xf64>) -> tensor<301xf64>
    %s22 = "stablehlo.all_reduce"(%b12) <{channel_handle = #stablehlo.channel_handle<handle = 23, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
      %z = stablehlo.add %x, %y : tensor<complex<f32>>
      stablehlo.return %z : tensor<complex<f32>>
    }) : (tensor<301xcomplex<f32>>) -> tensor<301xcomplex<f32>>
    %s23 = "stablehlo.all_reduce"(%b12) <{channel_handle = #stablehlo.channel_handle<handle = 24, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
      %z = stablehlo.multiply %x, %y : tensor<complex<f32>>
      stablehlo.return %z : tensor<complex<f32>>
    }) : (tensor<301xcomplex<f32>>) -> tensor<301xcomplex<f32>>
    %s24 = "stablehlo.all_reduce"(%b13) <{channel_handle = #stablehlo.channel_handle<handle = 25, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<complex<f64>>, %y: tensor<complex<f64>>):
      %z = stablehlo.multiply %x, %y : tensor<complex<f64>>
      stablehlo.return %z : tensor<complex<f64>>
    }) : (tensor<301xcomplex<f64>>) -> tensor<301xcomplex<f64>>
    sdy.return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15, %s16, %s17, %s18, %s19,
      %s20, %s21, %s22, %s23, %s24
      : tensor<301xi1>, tensor<301xi1>, tensor<301xi1>, tensor<11003xi8>, tensor<11003xi8>, tensor<301xui8>,
        tensor<301xi16>, tensor<301xui16>, tensor<301xi32>, tensor<301xi32>, tensor<301xi64>, tensor<301xui64>,
        tensor<301xf16>, tensor<301xf16>, tensor<301xf16>, tensor<5000xbf16>, tensor<5000xbf16>, tensor<5000xbf16>,
        tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>, tensor<301xf64>, tensor<301xcomplex<f32>>,
        tensor<301xcomplex<f32>>, tensor<301xcomplex<f64>>
  } : (tensor<1204xi1>, tensor<44012xi8>, tensor<1204xui8>, tensor<1204xi16>, tensor<1204xui16>, tensor<1204xi32>,
      tensor<1204xi64>, tensor<1204xui64>, tensor<1204xf16>, tensor<20000xbf16>, tensor<12004xf32>, tensor<1204xf64>,
      tensor<1204xcomplex<f32>>, tensor<1204xcomplex<f64>>)
      -> (tensor<301xi1>, tensor<301xi1>, tensor<301xi1>, tensor<11003xi8>, tensor<11003xi8>, tensor<301xui8>,
      tensor<301xi16>, tensor<301xui16>, tensor<301xi32>, tensor<301xi32>, tensor<301xi64>, tensor<301xui64>,
      tensor<301xf16>, tensor<301xf16>, tensor<301xf16>, tensor<5000xbf16>, tensor<5000xbf16>, tensor<5000xbf16>,
      tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>, tensor<301xf64>, tensor<301xcomplex<f32>>,
      tensor<301xcomplex<f32>>, tensor<301xcomplex<f64>>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16,
    %r#17, %r#18, %r#19, %r#20, %r#21, %r#22, %r#23, %r#24
      : tensor<301xi1>, tensor<301xi1>, tensor<301xi1>, tensor<11003xi8>, tensor<11003xi8>, tensor<301xui8>,
        tensor<301xi16>, tensor<301xui16>, tensor<301xi32>, tensor<301xi32>, tensor<301xi64>, tensor<301xui64>,
        tensor<301xf16>, tensor<301xf16>, tensor<301xf16>, tensor<5000xbf16>, tensor<5000xbf16>, tensor<5000xbf16>,
        tensor<3001xf32>, tensor<3001xf32>, tensor<301xf64>, tensor<301xf64>, tensor<301xcomplex<f32>>,
        tensor<301xcomplex<f32>>, tensor<301xcomplex<f64>>
}
