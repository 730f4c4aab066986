// RUN: shard-opt %s --spmd-anchor-loop-values | FileCheck %s

// A new value goes to the tensor that it replaces.
// CHECK-LABEL: func.func @new_value(
//       CHECK:   scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
//       CHECK:     %[[NEW:.*]] = math.exp
//       CHECK:     %[[KEPT:.*]] = bufferization.materialize_in_destination %[[NEW]] in %[[CARRIED]]
//       CHECK:     scf.yield %[[KEPT]]
func.func @new_value(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = math.exp %carried : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// What has no contents needs no copy.
// CHECK-LABEL: func.func @no_contents(
//   CHECK-NOT:   materialize_in_destination
//       CHECK:   scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
//       CHECK:     scf.yield %[[CARRIED]]
func.func @no_contents(%x: tensor<0x4xf32>, %n: index) -> tensor<0x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<0x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<0x4xf32> {
    scf.yield %empty : tensor<0x4xf32>
  }
  return %0 : tensor<0x4xf32>
}

// Nor does what a loop hands on so.
// CHECK-LABEL: func.func @no_contents_of_a_loop(
//   CHECK-NOT:   materialize_in_destination
//       CHECK:   scf.for {{.*}} iter_args(%[[OUTER:.*]] = %{{.*}})
//       CHECK:     scf.for {{.*}} iter_args(%[[INNER:.*]] = %{{.*}})
//       CHECK:       scf.yield %[[INNER]]
//       CHECK:     scf.yield %[[OUTER]]
func.func @no_contents_of_a_loop(%x: tensor<0x4xf32>, %n: index) -> tensor<0x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<0x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<0x4xf32> {
    %own = tensor.empty() : tensor<0x4xf32>
    %1 = scf.for %j = %c0 to %n step %c1 iter_args(%inner = %own) -> tensor<0x4xf32> {
      scf.yield %empty : tensor<0x4xf32>
    }
    scf.yield %1 : tensor<0x4xf32>
  }
  return %0 : tensor<0x4xf32>
}

// What is yielded twice is copied from where it was stored.
// CHECK-LABEL: func.func @yielded_twice(
//       CHECK:   scf.for {{.*}} iter_args(%[[ONE:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
//       CHECK:     %[[MADE:.*]] = linalg.exp
//       CHECK:     %[[STORED:.*]] = bufferization.materialize_in_destination %[[MADE]] in %[[ONE]]
//       CHECK:     %[[COPIED:.*]] = bufferization.materialize_in_destination %[[STORED]] in %[[OTHER]]
//       CHECK:     scf.yield %[[STORED]], %[[COPIED]]
func.func @yielded_twice(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%one = %x, %other = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %empty = tensor.empty() : tensor<4xf32>
    %made = linalg.exp ins(%one : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %made, %made : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// An insertion is there already.
// CHECK-LABEL: func.func @built_in_place(
//   CHECK-NOT:   materialize_in_destination
func.func @built_in_place(%x: tensor<4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = tensor.insert %v into %carried[%i] : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A loop of unknown length keeps its tensor as well.
// CHECK-LABEL: func.func @loop_of_unknown_length(
//       CHECK:   scf.for {{.*}} iter_args(%[[OUTER:.*]] = %{{.*}})
//       CHECK:     %[[INNER:.*]] = scf.while
//       CHECK:       bufferization.materialize_in_destination
//       CHECK:     scf.yield %[[INNER]]
func.func @loop_of_unknown_length(%x: tensor<4xf32>, %n: index, %limit: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = scf.while (%now = %carried) : (tensor<4xf32>) -> tensor<4xf32> {
      %first = tensor.extract %now[%c0] : tensor<4xf32>
      %goOn = arith.cmpf olt, %first, %limit : f32
      scf.condition(%goOn) %now : tensor<4xf32>
    } do {
    ^bb0(%now: tensor<4xf32>):
      %2 = math.exp %now : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A scalar that the body does not read has no place behind the condition. The tensor, which has one, comes before it.
// CHECK-LABEL: func.func @flag_that_the_body_does_not_read(
//       CHECK:   scf.while (%[[X:.*]] = %{{.*}}, %[[FLAG:.*]] = %{{.*}}) : (tensor<4xf32>, i1) -> tensor<4xf32>
//       CHECK:     scf.condition(%[[FLAG]]) %[[X]] : tensor<4xf32>
//       CHECK:   ^bb0(%[[Y:.*]]: tensor<4xf32>):
//       CHECK:     %[[NEXT:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[Y]]
//       CHECK:     scf.yield %[[NEXT]], %{{.*}} : tensor<4xf32>, i1
func.func @flag_that_the_body_does_not_read(%x: tensor<4xf32>, %limit: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %0 = scf.while (%goOn = %true, %now = %x) : (i1, tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%goOn) %now : tensor<4xf32>
  } do {
  ^bb0(%now: tensor<4xf32>):
    %first = tensor.extract %now[%c0] : tensor<4xf32>
    %goOn = arith.cmpf olt, %first, %limit : f32
    %1 = math.exp %now : tensor<4xf32>
    scf.yield %goOn, %1 : i1, tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Two tensors that trade places are copied, and keep their buffers.
// CHECK-LABEL: func.func @tensors_in_another_order(
//       CHECK:   scf.while (%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
//       CHECK:     scf.condition(%{{.*}}) %[[X]], %[[Y]] :
//       CHECK:   ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
//   CHECK-DAG:     materialize_in_destination %{{.*}} in %[[A]]
//   CHECK-DAG:     materialize_in_destination %{{.*}} in %[[B]]
func.func @tensors_in_another_order(%x: tensor<4xf32>, %y: tensor<4xf32>, %limit: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %0:2 = scf.while (%goOn = %true, %p = %x, %q = %y) : (i1, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.condition(%goOn) %q, %p : tensor<4xf32>, tensor<4xf32>
  } do {
  ^bb0(%q: tensor<4xf32>, %p: tensor<4xf32>):
    %first = tensor.extract %p[%c0] : tensor<4xf32>
    %goOn = arith.cmpf olt, %first, %limit : f32
    %1 = math.exp %q : tensor<4xf32>
    scf.yield %goOn, %1, %p : i1, tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}

// The condition alone reads the tensor of the iteration before. It has a buffer all the same, and gets the other before that is written.
// CHECK-LABEL: func.func @tensor_that_the_body_does_not_read(
//       CHECK:   scf.while (%[[NOW:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
//       CHECK:     scf.condition(%{{.*}}) %[[NOW]], %[[BEFORE]] : tensor<4xf32>, tensor<4xf32>
//       CHECK:   ^bb0(%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>):
//       CHECK:     %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
//   CHECK-DAG:     %[[NEXT:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[X]]
//   CHECK-DAG:     %[[KEPT:.*]] = bufferization.materialize_in_destination %[[COPY]] in %[[Y]]
//       CHECK:     scf.yield %[[NEXT]], %[[KEPT]]
func.func @tensor_that_the_body_does_not_read(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = scf.while (%before = %y, %now = %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    %first = tensor.extract %now[%c0] : tensor<4xf32>
    %last = tensor.extract %before[%c0] : tensor<4xf32>
    %goOn = arith.cmpf olt, %first, %last : f32
    scf.condition(%goOn) %now : tensor<4xf32>
  } do {
  ^bb0(%now: tensor<4xf32>):
    %1 = math.exp %now : tensor<4xf32>
    scf.yield %now, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// What a loop builds by insertions is copied at the end.
// CHECK-LABEL: func.func @built_by_a_loop(
//       CHECK:   scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
//       CHECK:     %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
//       CHECK:     %[[BUILT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[OWN]])
//       CHECK:     materialize_in_destination %[[BUILT]] in %[[CARRIED]]
func.func @built_by_a_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %empty = tensor.empty() : tensor<4xf32>
    %1 = scf.for %j = %c0 to %c4 step %c1 iter_args(%now = %empty) -> tensor<4xf32> {
      %2 = tensor.extract %carried[%j] : tensor<4xf32>
      %3 = arith.addf %2, %2 : f32
      %4 = tensor.insert %3 into %now[%j] : tensor<4xf32>
      scf.yield %4 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// So is what a loop within one of two branches builds.
// CHECK-LABEL: func.func @built_in_a_branch(
//       CHECK:   scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
//       CHECK:     %[[CHOSEN:.*]] = scf.if
//       CHECK:       %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
//       CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[OWN]])
//       CHECK:     materialize_in_destination %[[CHOSEN]] in %[[CARRIED]]
func.func @built_in_a_branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %which: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %x) -> tensor<4xf32> {
    %1 = scf.if %which -> tensor<4xf32> {
      %empty = tensor.empty() : tensor<4xf32>
      %2 = scf.for %j = %c0 to %c4 step %c1 iter_args(%now = %empty) -> tensor<4xf32> {
        %3 = tensor.extract %y[%j] : tensor<4xf32>
        %4 = tensor.insert %3 into %now[%j] : tensor<4xf32>
        scf.yield %4 : tensor<4xf32>
      }
      scf.yield %2 : tensor<4xf32>
    } else {
      %2 = math.exp %y : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A sum that becomes columns of a larger tensor has a buffer of its own until then.
// CHECK-LABEL: func.func @becomes_columns(
//       CHECK:   %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<4x4xf32>
//       CHECK:   linalg.fill {{.*}} outs(%[[OWN]]
//       CHECK:   scf.for
func.func @becomes_columns(%x: tensor<4x4xf32>, %both: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %1) -> tensor<4x4xf32> {
    %3 = linalg.add ins(%x, %sum : tensor<4x4xf32>, tensor<4x4xf32>) outs(%sum : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  }
  %4 = tensor.insert_slice %2 into %both[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// What a loop begins with, writes over, and the iteration around it carries on too, is copied: `%grown` is in two buffers then.
// CHECK-LABEL: func.func @begins_with_what_goes_on(
//       CHECK:   %[[GROWN:.*]] = linalg.add
//       CHECK:   %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[GROWN]]) : tensor<4xf32>
//       CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %[[COPY]])
func.func @begins_with_what_goes_on(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = tensor.empty() : tensor<4xf32>
    %grown = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
    %2 = scf.for %j = %c0 to %n step %c1 iter_args(%now = %grown) -> tensor<4xf32> {
      %3 = tensor.empty() : tensor<4xf32>
      %4 = linalg.add ins(%now, %b : tensor<4xf32>, tensor<4xf32>) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %4 : tensor<4xf32>
    }
    scf.yield %2, %grown : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
