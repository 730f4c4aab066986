// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-inline-calls --spmd-expand-parallel

module {
  func.func @receive(%t: !stablehlo.token) -> (tensor<i32>, !stablehlo.token) {
    // expected-note @below {{@receive waits here}}
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0, %0#1 : tensor<i32>, !stablehlo.token
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    // expected-error @below {{'interpreter.run_parallel' op never ends: each process waits for another}}
    %0:2 = "interpreter.run_parallel"(%t) {programs = [[@receive]]} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return
  }
}

// -----

module {
  func.func @main() {
    // expected-error @below {{runs @nobody, which is no function with a body of this module}}
    "interpreter.run_parallel"() {programs = [[@nobody]]} : () -> ()
    return
  }
}

// -----

module {
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    return %x : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    // expected-error @below {{has type '(tensor<2xi32>) -> tensor<2xi32>', but its programs together have '(tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)'}}
    %0 = "interpreter.run_parallel"(%x) {programs = [[@program, @program]]} : (tensor<2xi32>) -> tensor<2xi32>
    return
  }
}

// -----

module {
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    // expected-error @below {{names 2 in a group, but there are 2}}
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@program], [@program]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    return
  }
}

// -----

module {
  func.func @program(%t: !stablehlo.token) -> (tensor<i32>, !stablehlo.token) {
    // expected-error @below {{reads more than the 0 functions of run_parallel's infeed give}}
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0, %0#1 : tensor<i32>, !stablehlo.token
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%t) {programs = [[@program]]} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return
  }
}

// -----

module {
  func.func @main() {
    // expected-error @below {{has 1 programs in a replica, but 2 in the first}}
    "interpreter.run_parallel"() {programs = [[@main, @main], [@main]]} : () -> ()
    return
  }
}

// -----

module {
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    // expected-error-re @below {{unsupported: 'check.expect_serialized_eq' at {{.*}} names the probe "other", which is not in this module}}
    check.expect_serialized_eq %x, probe_id = "other" : tensor<2xi32>
    return
  }
}

// -----

module {
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    // expected-error-re @below {{unsupported: 'stablehlo.all_reduce' at {{.*}} leaves processes out of its groups, or has groups of different sizes}}
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %a : tensor<i32>
    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@program], [@program]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    return
  }
}

// -----

module {
  func.func @first(%x: tensor<2xi32>, %p: tensor<i32>) -> tensor<2xi32> {
    %0 = "stablehlo.case"(%p) ({
      // expected-error-re @below {{unsupported: 'stablehlo.all_reduce' at {{.*}} is in a region of a program that not all processes run}}
      %1 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        stablehlo.return %a : tensor<i32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }) : (tensor<i32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @second(%x: tensor<2xi32>, %p: tensor<i32>) -> tensor<2xi32> {
    return %x : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    %p = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = "interpreter.run_parallel"(%x, %p, %x, %p) {programs = [[@first], [@second]]} : (tensor<2xi32>, tensor<i32>, tensor<2xi32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
    return
  }
}

// -----

module {
  func.func @main() {
    %p = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.case"(%p) ({
      %1 = interpreter.probe %p, probe_id = "p" : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    // expected-error-re @below {{names the probe "p", which is in a region that cannot be followed}}
    check.expect_serialized_eq %0, probe_id = "p" : tensor<i32>
    return
  }
}

// -----

module {
  func.func @program() {
    return
  }
  func.func @fed(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
  func.func @main() {
    // expected-error @below {{feeds in @fed, which takes arguments, expected none}}
    "interpreter.run_parallel"() {infeed = [@fed], programs = [[@program]]} : () -> ()
    return
  }
}

// -----

module {
  func.func @program(%x: tensor<i32>, %t: !stablehlo.token) -> !stablehlo.token {
    // expected-error-re @below {{unsupported: 'stablehlo.send' at {{.*}} is in a program of several processes}}
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    return %0 : !stablehlo.token
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i32>
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%x, %t, %x, %t) {programs = [[@program, @program]]} : (tensor<i32>, !stablehlo.token, tensor<i32>, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
    return
  }
}

// -----

module {
  func.func @program(%t: !stablehlo.token) -> tensor<i32> {
    // expected-error-re @below {{unsupported: 'stablehlo.recv' at {{.*}} is in a program of several processes}}
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0 : tensor<i32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%t, %t) {programs = [[@program, @program]]} : (!stablehlo.token, !stablehlo.token) -> (tensor<i32>, tensor<i32>)
    return
  }
}

// -----

module {
  func.func @program(%t: !stablehlo.token) -> tensor<i32> {
    // expected-error-re @below {{unsupported: 'stablehlo.infeed' at {{.*}} is in a program of several processes}}
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    return %0#0 : tensor<i32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%t, %t) {programs = [[@program, @program]]} : (!stablehlo.token, !stablehlo.token) -> (tensor<i32>, tensor<i32>)
    return
  }
}

// -----

module {
  func.func @sends(%x: tensor<i32>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    return %0 : !stablehlo.token
  }
  func.func @receives(%t: !stablehlo.token) -> tensor<2xi32> {
    // expected-error @below {{receives 'tensor<2xi32>', but what was sent is 'tensor<i32>'}}
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    return %0#0 : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i32>
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%x, %t, %t) {programs = [[@sends], [@receives]]} : (tensor<i32>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xi32>)
    return
  }
}

// -----

module {
  func.func @program(%t: !stablehlo.token) -> tensor<2xi32> {
    // expected-error @below {{reads 'tensor<2xi32>', which is not what the function of the infeed gives}}
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    return %0#0 : tensor<2xi32>
  }
  func.func @fed() -> tensor<i32> {
    %x = stablehlo.constant dense<1> : tensor<i32>
    return %x : tensor<i32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0 = "interpreter.run_parallel"(%t) {infeed = [@fed], programs = [[@program]]} : (!stablehlo.token) -> tensor<2xi32>
    return
  }
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %0 = interpreter.probe %x, probe_id = "p" : tensor<i32>
  // expected-error @below {{'interpreter.probe' op has the name "p" of another probe}}
  %1 = interpreter.probe %x, probe_id = "p" : tensor<i32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %0 = interpreter.probe %x, probe_id = "p" : tensor<i32>
  // expected-error-re @below {{'check.expect_serialized_eq' at {{.*}} names the probe "p", which is reached once, but asks for iteration 2}}
  check.expect_serialized_eq %0, probe_id = "p", iter = 2 : tensor<i32>
  return
}

// -----

module {
  func.func @program(%x: tensor<?xi32>) {
    return
  }
  func.func @main(%x: tensor<?xi32>) {
    // expected-error @below {{'interpreter.run_parallel' op unsupported: hands over 'tensor<?xi32>', expected tensors of known shape and tokens}}
    "interpreter.run_parallel"(%x) {programs = [[@program]]} : (tensor<?xi32>) -> ()
    return
  }
}

// -----

module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @program(%x: tensor<2xi32>) -> tensor<2xi32> {
    // expected-error @below {{'stablehlo.all_reduce' op unsupported: has groups other than a matrix of numbers beside run_parallel}}
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%x, %x) {programs = [[@program, @program]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    return
  }
}
