// RUN: shard-opt %s --spmd-set-machine=machine=h100,link.bandwidth=50GB/s,axes.x.latency=3us | FileCheck %s --check-prefix=SET
// RUN: shard-opt %s --spmd-set-machine | FileCheck %s --check-prefix=KEPT
// RUN: not shard-opt %s --spmd-set-machine=machine=laptop 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not shard-opt %s --spmd-set-machine=machine=generic,speed=3 2>&1 | FileCheck %s --check-prefix=FIGURE
// RUN: not shard-opt %s --spmd-set-machine=machine=generic,link.latency=3GB/s 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not shard-opt %s --spmd-set-machine=machine=generic,flops=inf 2>&1 | FileCheck %s --check-prefix=FINITE
// RUN: not shard-opt %s --spmd-set-machine=machine=generic,axes.z.latency=3us 2>&1 | FileCheck %s --check-prefix=AXIS

// SET: module attributes {machine.target = #machine.figures<"h100", {axes.x.bandwidth = 5.000000e+10 : f64, axes.x.latency = 3.000000e-06 : f64, link.bandwidth = 5.000000e+10 : f64}>}
// KEPT: machine.target = #machine.figures<"generic", {fork = 5.000000e-01 : f64}>
// NAME: machine option: unknown machine 'laptop', expected generic, cluster, a100, h100, b200, and then figures that differ, such as generic,link.bandwidth=1GB/s
// FIGURE: machine option: unknown figure 'speed', expected one of flops, memory_bandwidth, first_cache, cache, shared_cache, fork, launch, multiprocessors, tensor_flops, shared_memory_bandwidth, shared_cache_bandwidth, cache_line, link.bandwidth, link.latency, or axes.AXIS.bandwidth and axes.AXIS.latency
// UNIT: machine option: figure 'link.latency' is '3GB/s', expected a quantity such as "20 us"
// FINITE: machine option: figure 'flops' is 'inf', expected a quantity such as "100 GFLOP/s"
// AXIS: error: machine has a link along axis "z", but mesh @mesh has "x", "y"
module attributes {machine.target = #machine.figures<"generic", {fork = 0.5 : f64}>} {
  spmd.mesh @mesh = <["x"=2, "y"=2]>
}
