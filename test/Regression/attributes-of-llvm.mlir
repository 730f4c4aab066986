// What a model says to LLVM is ignored: module assembly was machine code that ran.
// RUN: shard-run %s --sandbox --check
// RUN: shard-translate %s --emit=llvmir -o - | FileCheck %s
// CHECK-NOT: {{module asm|naked|evil|dereferenceable\(99999999\)}}
module @m attributes {llvm.module_asm = [".section .init_array,\"aw\"", ".quad evil", ".text", "evil: mov $60, %eax", "syscall"],
                      llvm.dependent_libraries = ["evil"], kernel.arena_bytes = 1 : i64} {
  func.func public @main(%arg0: tensor<4xf32> {llvm.dereferenceable = 99999999 : i64}) -> tensor<4xf32>
      attributes {passthrough = ["naked"], section = ".evil", personality = @evil} {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
