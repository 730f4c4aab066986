// RUN: shard-opt %s --spmd-refine-shapes=open -split-input-file | FileCheck %s

// Each open dim has a prime; what is computed of it is noted, and a size that a value is made of stays a value.
// CHECK: spmd.extents = #spmd.extents<[dim [0, 0] = [[N:[0-9]+]]
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<[[N]]x4xf32>
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %all = stablehlo.multiply %n, %c4 : tensor<i32>
  %shape = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
  // CHECK-DAG: %[[SIZE:.*]] = spmd.extent [[N]] : tensor<i32>
  // CHECK-DAG: stablehlo.reshape %{{.*}} : (tensor<[[N]]x4xf32>) -> tensor<{{[0-9]+}}xf32>
  %flat = stablehlo.dynamic_reshape %x, %shape : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK-DAG: stablehlo.convert %[[SIZE]] : (tensor<i32>) -> tensor<f32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  return %flat, %f : tensor<?xf32>, tensor<f32>
}

// -----

// Dims that the program asserts to be equal have one placeholder; what an assertion asks is asked again at each binding.
// CHECK: spmd.extents = #spmd.extents<[dim [0, 0] = [[N:[0-9]+]], dim [1, 0] = [[N]]
// CHECK-SAME: requires {{[0-9]+}} "{0} is not {1}" [1, 0]
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<[[N]]xf32>, %{{.*}}: tensor<[[N]]xf32>
// CHECK-NOT: shape_assertion
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%same, %m, %n) {error_message = "{0} is not {1}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A dim that the program asserts to be even is twice a prime, and what is half of it that prime.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK-SAME: divide [0, {{[0-9]+}}] = [[HALF:[0-9]+]]
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<[[N]]xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<?xi32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %odd = stablehlo.remainder %n, %two : tensor<i32>
  %even = stablehlo.compare EQ, %odd, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%even, %n) {error_message = "{0} is odd", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %half = stablehlo.divide %n, %two : tensor<i32>
  %shape = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
  // CHECK: stablehlo.iota dim = 0 : tensor<[[HALF]]xi32>
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// Two extents that one number stands for have to be equal in each binding.
// CHECK: requires
// CHECK-SAME: "'stablehlo.dynamic_iota' at {{.*}}refine-open.mlir{{.*}} has size {0} along dim 0, but was compiled as if that were {1}, since the compiled program has one number for both; compile the program for these shapes
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>) -> tensor<?xi32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %small = stablehlo.compare LT, %n, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %least = stablehlo.select %small, %five, %n : tensor<i1>, tensor<i32>
  %shape = stablehlo.reshape %least : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// Of a choice between two extents a placeholder takes one side: the choice has a number of its own, more than what it is never less than, and less than what
// it is never more than.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK-SAME: max [0, {{[0-9]+}}] = [[MORE:2[3-9][0-9]{4}]]
// CHECK-NOT: requires
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>) -> tensor<?xi32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %least = stablehlo.maximum %n, %five : tensor<i32>
  %shape = stablehlo.reshape %least : (tensor<i32>) -> tensor<1xi32>
  // CHECK: stablehlo.iota dim = 0 : tensor<[[MORE]]xi32>
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// The first twelve rows, or all where there are fewer: a slice of an extent that is less than all.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK-SAME: min [0, {{[0-9]+}}] = [[FEW:[0-9]{4,5}]]
// CHECK-NOT: requires
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<[[N]]x4xf32>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %twelve = stablehlo.constant dense<12> : tensor<i32>
  %few = stablehlo.minimum %n, %twelve : tensor<i32>
  %first = stablehlo.reshape %few : (tensor<i32>) -> tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %start = stablehlo.constant dense<0> : tensor<1xi32>
  %sizes = stablehlo.concatenate %first, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: stablehlo.slice %{{.*}} [0:[[FEW]], 0:4] : (tensor<[[N]]x4xf32>) -> tensor<[[FEW]]x4xf32>
  %0 = "stablehlo.dynamic_gather"(%x, %start, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Rows padded to a multiple of eight: as much is padded as may be needed, and cut off to what the program says, which is n rounded up and not n + 1.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK-NOT: was compiled as if
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %up = stablehlo.add %n, %seven : tensor<i32>
  %blocks = stablehlo.divide %up, %eight : tensor<i32>
  %all = stablehlo.multiply %blocks, %eight : tensor<i32>
  %more = stablehlo.subtract %all, %n : tensor<i32>
  %high = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.pad
  // CHECK: stablehlo.slice
  %0 = stablehlo.dynamic_pad %x, %zero, %none, %high, %none : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// One index of the first of three dims that become one is a product of two extents, which is no size: it has a number of its own. Placeholders
// have five digits, since all elements are along one dim, and are to be less than 2^48.
// CHECK: dim [0, 0] = [[D:[0-9][0-9][0-9][0-9][0-9]]], dim [0, 1] = [[H:[0-9]+]], dim [0, 2] = [[W:[0-9]+]]
// CHECK-SAME: multiply [2, 1] = {{[1-9][0-9]+}}
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<[[D]]x[[H]]x[[W]]xf32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<[[D]]x[[H]]x[[W]]xf32>) -> tensor<{{[0-9]+}}xf32>
func.func @main(%x: tensor<?x?x?xf32>) -> tensor<?xf32> {
  %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?x?xf32>) -> tensor<i32>
  %h = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?x?xf32>) -> tensor<i32>
  %w = stablehlo.get_dimension_size %x, dim = 2 : (tensor<?x?x?xf32>) -> tensor<i32>
  %dh = stablehlo.multiply %d, %h : tensor<i32>
  %all = stablehlo.multiply %dh, %w : tensor<i32>
  %shape = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A gather of one slice, from where shapes say, is that slice: what it reads is known.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %start = stablehlo.constant dense<2> : tensor<1xi32>
  %rest = stablehlo.subtract %n, %two : tensor<i32>
  %sizes = stablehlo.reshape %rest : (tensor<i32>) -> tensor<1xi32>
  // CHECK: stablehlo.slice %{{.*}} [2:[[N:[0-9]+]]] : (tensor<[[N]]xf32>)
  %0 = "stablehlo.dynamic_gather"(%x, %start, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0], index_vector_dim = 0>}> : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Results of one op have shapes of their own: one element for each of the operand, two numbers for each feature.
// CHECK: dim [0, 0] = [[N:[0-9]+]]
// CHECK: stablehlo.batch_norm_training
// CHECK-SAME: -> (tensor<[[N]]x3xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK: stablehlo.batch_norm_grad
// CHECK-SAME: -> (tensor<[[N]]x3xf32>, tensor<3xf32>, tensor<3xf32>)
func.func @main(%x: tensor<?x3xf32>, %s: tensor<3xf32>) -> tensor<?x3xf32> {
  %y, %mean, %var = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %d, %ds, %do = "stablehlo.batch_norm_grad"(%x, %s, %mean, %var, %y) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %d : tensor<?x3xf32>
}

// -----

// Windows of three, two apart, from one below an odd extent, and from the first element of an even one: as much is padded as it may be, and a slice
// that begins where the program says takes what there is. Each window is in it, so there are as many.
//       CHECK: func.func @main(%[[X:[a-z0-9]+]]: tensor<{{[0-9]+}}xf32>)
//       CHECK:   %[[LOW:.*]] = stablehlo.remainder
//       CHECK:   %[[START:.*]] = stablehlo.subtract %{{.*}}, %[[LOW]]
//       CHECK:   %[[PADDED:.*]] = stablehlo.pad %[[X]], {{.*}}, low = [1], high = [2], interior = [0]
//       CHECK:   %[[PART:.*]] = stablehlo.dynamic_slice %[[PADDED]], %[[START]]
//       CHECK:   "stablehlo.reduce_window"(%[[PART]]
//  CHECK-SAME:   padding = dense<0>
func.func private @sum(%p: tensor<f32>, %q: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %p, %q : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %some = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%some, %n) {error_message = "need {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %window = stablehlo.constant dense<3> : tensor<1xi32>
  %twos = stablehlo.constant dense<2> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<1xi32>
  %odd = stablehlo.remainder %n, %two : tensor<i32>
  %low = stablehlo.reshape %odd : (tensor<i32>) -> tensor<1xi32>
  %both = stablehlo.concatenate %low, %ones, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %padding = stablehlo.reshape %both : (tensor<2xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %window, %twos, %ones, %ones, %padding) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
