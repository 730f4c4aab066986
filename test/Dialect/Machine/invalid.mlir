// RUN: shard-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown machine 'laptop', expected generic, }}
module attributes {machine.target = #machine.figures<"laptop">} {}

// -----

// expected-error@+1 {{unknown figure 'speed'}}
module attributes {machine.target = #machine.figures<"generic", {speed = 1.0 : f64}>} {}

// -----

// expected-error@+1 {{figure 'flops' is no number of type f64}}
module attributes {machine.target = #machine.figures<"generic", {flops = 1 : i64}>} {}

// -----

// expected-error@+1 {{figure 'flops' is -1, expected a finite number above zero}}
module attributes {machine.target = #machine.figures<"generic", {flops = -1.0 : f64}>} {}

// -----

// expected-error@+1 {{figure 'link.latency' is inf, expected a finite number of at least zero}}
module attributes {machine.target = #machine.figures<"generic", {link.latency = 0x7FF0000000000000 : f64}>} {}

// -----

// expected-error@+1 {{'machine.target' is "h100", expected #machine.figures<"generic">}}
module attributes {machine.target = "h100"} {}

// -----

// expected-error@+1 {{unknown attribute "machine.name", expected 'machine.target'}}
module attributes {machine.name = "h100"} {}

// -----

module {
  // expected-error@+1 {{'machine.target' is an attribute of modules}}
  func.func private @f() attributes {machine.target = #machine.figures<"h100">}
}
