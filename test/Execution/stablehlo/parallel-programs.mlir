// RUN: shard-run %s 2>&1 | FileCheck %s
// The programs of a conformance file are ranks of a mesh, replicas by partitions.
// CHECK: groups_of_replicas on 4 ranks of mesh <["replica"=2, "partition"=2]>
// CHECK: 12 of 12 modules passed

module @groups_of_replicas {
  func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %c = stablehlo.constant dense<[100, 200]> : tensor<2xi64>
    %d = stablehlo.constant dense<[1000, 2000]> : tensor<2xi64>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [["sum", "sum"], ["sum", "sum"]]}
        : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %0#0, dense<[101, 202]> : tensor<2xi64>
    check.expect_eq_const %0#1, dense<[1010, 2020]> : tensor<2xi64>
    check.expect_eq_const %0#2, dense<[101, 202]> : tensor<2xi64>
    check.expect_eq_const %0#3, dense<[1010, 2020]> : tensor<2xi64>
    return
  }
}

// -----

// With a channel and numbers of replicas: these, over all partitions. Partitions are the outer ones.
module @groups_of_both {
  func.func @gather(%x: tensor<1xi32>) -> tensor<4xi32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<1xi32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<0> : tensor<1xi32>
    %b = stablehlo.constant dense<1> : tensor<1xi32>
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %d = stablehlo.constant dense<3> : tensor<1xi32>
    %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) {programs = [[@gather, @gather], [@gather, @gather]]}
        : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
    check.expect_eq_const %0#0, dense<[2, 0, 3, 1]> : tensor<4xi32>
    check.expect_eq_const %0#3, dense<[2, 0, 3, 1]> : tensor<4xi32>
    return
  }
}

// -----

// Processes by number, and two programs in one group: each brings its own.
module @two_programs_in_a_group {
  func.func @first(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @second(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    %1 = "stablehlo.all_to_all"(%0) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.add %1, %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@first], [@second]]}
        : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %0#0, dense<[1.0, -3.0]> : tensor<2xf32>
    check.expect_eq_const %0#1, dense<[4.0, -8.0]> : tensor<2xf32>
    return
  }
}

// -----

module @numbers_of_processes {
  func.func @who() -> (tensor<ui32>, tensor<ui32>) {
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = stablehlo.partition_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
  func.func @main() {
    %0:6 = "interpreter.run_parallel"() {programs = [[@who, @who, @who]]}
        : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %0#0, dense<0> : tensor<ui32>
    check.expect_eq_const %0#4, dense<0> : tensor<ui32>
    check.expect_eq_const %0#1, dense<0> : tensor<ui32>
    check.expect_eq_const %0#5, dense<2> : tensor<ui32>
    return
  }
}

// -----

// Pairs, and groups that leave a process out: zeros where nothing arrives.
module @permuted_and_broadcast {
  func.func @move(%x: tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi8>) {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>} : (tensor<2xi8>) -> tensor<2xi8>
    %1 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<2xi8>) -> tensor<2xi8>
    return %0, %1 : tensor<2xi8>, tensor<2xi8>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi8>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi8>
    %0:6 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@move], [@move], [@move]]}
        : (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>)
    check.expect_eq_const %0#0, dense<0> : tensor<2xi8>
    check.expect_eq_const %0#2, dense<[1, 2]> : tensor<2xi8>
    check.expect_eq_const %0#4, dense<[3, 4]> : tensor<2xi8>
    check.expect_eq_const %0#1, dense<0> : tensor<2xi8>
    check.expect_eq_const %0#3, dense<[5, 6]> : tensor<2xi8>
    check.expect_eq_const %0#5, dense<[5, 6]> : tensor<2xi8>
    return
  }
}

// -----

// The first member of each group has the sum of it, the others zeros.
module @reduced_to_a_root {
  func.func @sum(%x: tensor<2xf64>) -> tensor<2xf64> {
    %0 = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %1 = stablehlo.maximum %a, %b : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xf64>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1.0, 9.0]> : tensor<2xf64>
    %b = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]}
        : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
    check.expect_eq_const %0#0, dense<0.0> : tensor<2xf64>
    check.expect_eq_const %0#1, dense<[2.0, 9.0]> : tensor<2xf64>
    return
  }
}

// -----

// What is sent on a channel is received there in its order; a receiver that comes first waits.
module @sent_and_received {
  func.func @receive(%t: !stablehlo.token) -> (tensor<i32>, tensor<i32>, !stablehlo.token) {
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    %1:2 = "stablehlo.recv"(%0#1) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0, %1#0, %1#1 : tensor<i32>, tensor<i32>, !stablehlo.token
  }
  func.func private @twice(%x: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %x, %x : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @send(%x: tensor<i32>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    %1 = call @twice(%x) : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.send"(%1, %0) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    return %2 : !stablehlo.token
  }
  func.func @main() {
    %x = stablehlo.constant dense<21> : tensor<i32>
    %t = stablehlo.after_all : !stablehlo.token
    %0:4 = "interpreter.run_parallel"(%t, %x, %t) {programs = [[@receive, @send]]}
        : (!stablehlo.token, tensor<i32>, !stablehlo.token) -> (tensor<i32>, tensor<i32>, !stablehlo.token, !stablehlo.token)
    check.expect_eq_const %0#0, dense<21> : tensor<i32>
    check.expect_eq_const %0#1, dense<42> : tensor<i32>
    return
  }
}

// -----

// A function for each time that something is fed in. What goes out goes nowhere.
module @fed {
  func.func @program(%t: !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token) {
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%0#1) {infeed_config = "any"} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %2 = "stablehlo.outfeed"(%0#0, %1#1) : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %0#0, %1#0, %2 : tensor<2xi64>, tensor<2xi64>, !stablehlo.token
  }
  func.func @first() -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @second() -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0:3 = "interpreter.run_parallel"(%t) {infeed = [@first, @second], programs = [[@program]]}
        : (!stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
    check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %0#1, dense<[3, 4]> : tensor<2xi64>
    return
  }
}

// -----

// In a loop that all processes run alike.
module @in_a_loop {
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<2xi32>
    cond {
      %1 = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = "stablehlo.collective_permute"(%v) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xi32>) -> tensor<2xi32>
      %2 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<2xi32>
    }
    return %0#1 : tensor<2xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@program, @program]]}
        : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    check.expect_eq_const %0#0, dense<[3, 4]> : tensor<2xi32>
    check.expect_eq_const %0#1, dense<[1, 2]> : tensor<2xi32>
    return
  }
}

// -----

// Groups of different sizes, filled up with -1.
module @ragged {
  func.func @program(%x: tensor<2xi32>, %y: tensor<1xf32>) -> (tensor<2xi32>, tensor<1xf32>) {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %2 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    %1 = "stablehlo.all_reduce"(%y) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) {replica_groups = dense<[[1, -1], [0, 2]]> : tensor<2x2xi64>} : (tensor<1xf32>) -> tensor<1xf32>
    return %0, %1 : tensor<2xi32>, tensor<1xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
    %x = stablehlo.constant dense<1.0> : tensor<1xf32>
    %y = stablehlo.constant dense<-2.0> : tensor<1xf32>
    %z = stablehlo.constant dense<0.5> : tensor<1xf32>
    %0:6 = "interpreter.run_parallel"(%a, %x, %b, %y, %c, %z) {programs = [[@program], [@program], [@program]]}
        : (tensor<2xi32>, tensor<1xf32>, tensor<2xi32>, tensor<1xf32>, tensor<2xi32>, tensor<1xf32>)
        -> (tensor<2xi32>, tensor<1xf32>, tensor<2xi32>, tensor<1xf32>, tensor<2xi32>, tensor<1xf32>)
    check.expect_eq_const %0#0, dense<[4, 6]> : tensor<2xi32>
    check.expect_eq_const %0#2, dense<[4, 6]> : tensor<2xi32>
    check.expect_eq_const %0#4, dense<[5, 6]> : tensor<2xi32>
    check.expect_eq_const %0#1, dense<0.5> : tensor<1xf32>
    check.expect_eq_const %0#3, dense<-2.0> : tensor<1xf32>
    check.expect_eq_const %0#5, dense<0.5> : tensor<1xf32>
    return
  }
}

// -----

// Two values from two members; which of them the groups' members read, and of groups of different sizes.
module @computed_roots {
  func.func @send(%x: tensor<2xi8>, %y: tensor<1x1xf32>, %root: tensor<2xi64>) -> (tensor<2xi8>, tensor<1x1xf32>) {
    %0:2 = "stablehlo.collective_broadcast"(%x, %y, %root) {replica_groups = dense<[[2, 0], [1, -1]]> : tensor<2x2xi64>, has_dynamic_root}
        : (tensor<2xi8>, tensor<1x1xf32>, tensor<2xi64>) -> (tensor<2xi8>, tensor<1x1xf32>)
    return %0#0, %0#1 : tensor<2xi8>, tensor<1x1xf32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi8>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi8>
    %d = stablehlo.constant dense<0.5> : tensor<1x1xf32>
    %e = stablehlo.constant dense<1.5> : tensor<1x1xf32>
    %f = stablehlo.constant dense<2.5> : tensor<1x1xf32>
    %second = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
    %first = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
    %0:6 = "interpreter.run_parallel"(%a, %d, %second, %b, %e, %first, %c, %f, %second) {programs = [[@send], [@send], [@send]]}
        : (tensor<2xi8>, tensor<1x1xf32>, tensor<2xi64>, tensor<2xi8>, tensor<1x1xf32>, tensor<2xi64>, tensor<2xi8>, tensor<1x1xf32>, tensor<2xi64>)
        -> (tensor<2xi8>, tensor<1x1xf32>, tensor<2xi8>, tensor<1x1xf32>, tensor<2xi8>, tensor<1x1xf32>)
    check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi8>
    check.expect_eq_const %0#1, dense<2.5> : tensor<1x1xf32>
    check.expect_eq_const %0#2, dense<[3, 4]> : tensor<2xi8>
    check.expect_eq_const %0#3, dense<1.5> : tensor<1x1xf32>
    check.expect_eq_const %0#4, dense<[1, 2]> : tensor<2xi8>
    check.expect_eq_const %0#5, dense<2.5> : tensor<1x1xf32>
    return
  }
}

// -----

// What is under way in one program is there when it is awaited.
module @under_way {
  func.func @gather(%x: tensor<1xi32>) -> (tensor<2xi32>, tensor<1xi32>) {
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<1xi32>):
      %2 = "stablehlo.all_gather"(%y) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<1xi32>) -> tensor<2xi32>
      stablehlo.return %2 : tensor<2xi32>
    }) : (tensor<1xi32>) -> !stablehlo.future<tensor<2xi32>>
    %1 = stablehlo.negate %x : tensor<1xi32>
    %3 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
    return %3, %1 : tensor<2xi32>, tensor<1xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<3> : tensor<1xi32>
    %b = stablehlo.constant dense<4> : tensor<1xi32>
    %0:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@gather], [@gather]]}
        : (tensor<1xi32>, tensor<1xi32>) -> (tensor<2xi32>, tensor<1xi32>, tensor<2xi32>, tensor<1xi32>)
    check.expect_eq_const %0#0, dense<[4, 3]> : tensor<2xi32>
    check.expect_eq_const %0#1, dense<-3> : tensor<1xi32>
    check.expect_eq_const %0#2, dense<[4, 3]> : tensor<2xi32>
    return
  }
}
