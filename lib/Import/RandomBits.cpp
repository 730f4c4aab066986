//===- RandomBits.cpp - Random numbers as integer arithmetic --------------===//
//
// ThreeFry-2x32 and Philox-4x32 (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", 2011), with counters and lanes laid out over a
// tensor as XLA does. All is elementwise on an iota, so a shard makes its own
// elements; what a block has beyond its element is computed in vain.
//
//===----------------------------------------------------------------------===//
#include "RandomBits.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

namespace {

/// Unsigned arithmetic on tensors of one shape.
class Words {
public:
  Words(Ops &ops, ArrayRef<int64_t> shape) : ops(ops), shape(shape) {}

  RankedTensorType type(unsigned width) {
    return RankedTensorType::get(
        shape,
        IntegerType::get(ops.b.getContext(), width, IntegerType::Unsigned));
  }
  Value word(uint64_t bits, unsigned width = 32) {
    return ops.splatBits(type(width), bits);
  }
  Value add(Value x, Value y) { return ops.op<stablehlo::AddOp>(x, y); }
  Value multiply(Value x, Value y) { return ops.op<stablehlo::MulOp>(x, y); }
  Value exclusive(Value x, Value y) { return ops.op<stablehlo::XorOp>(x, y); }
  Value right(Value x, unsigned by) {
    return ops.op<stablehlo::ShiftRightLogicalOp>(x, word(by, widthOf(x)));
  }
  Value left(Value x, unsigned by) {
    return ops.op<stablehlo::ShiftLeftOp>(x, word(by, widthOf(x)));
  }
  Value rotate(Value x, unsigned by) {
    return ops.op<stablehlo::OrOp>(left(x, by), right(x, 32 - by));
  }
  Value low(Value x) { return ops.convert(x, type(32).getElementType()); }
  Value high(Value x) { return low(right(x, 32)); }
  Value join(Value low, Value high) {
    Type wide = type(64).getElementType();
    return ops.op<stablehlo::OrOp>(ops.convert(low, wide),
                                   left(ops.convert(high, wide), 32));
  }
  /// Word `i` of a state, everywhere.
  Value fromState(Value state, int64_t i) {
    return ops.broadcast(scalar(state, i), shape, {});
  }
  Value scalar(Value state, int64_t i) {
    auto one = RankedTensorType::get({1}, Ops::typeOf(state).getElementType());
    Value part = stablehlo::SliceOp::create(
        ops.b, one, state, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{i + 1},
        ArrayRef<int64_t>{1});
    return ops.reshape(part, {});
  }
  /// The index in row-major order of a tensor of `sizes`, whose dim `halved`
  /// has half the index here (-1: none).
  Value linearIndex(ArrayRef<int64_t> sizes, int64_t halved) {
    Value index = word(0, 64);
    uint64_t stride = 1;
    for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0;
         --dim) {
      Value at = ops.iota(type(64), dim);
      if (dim == halved)
        at = right(at, 1);
      index = add(index, multiply(at, word(stride, 64)));
      stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[dim], 1));
    }
    return index;
  }

private:
  static unsigned widthOf(Value x) {
    return Ops::typeOf(x).getElementTypeBitWidth();
  }

  Ops &ops;
  ArrayRef<int64_t> shape;
};

} // namespace

/// A state with `by` added to word 1, the carry to word 2 where there is one.
static Value advance(Ops &ops, Value state, uint64_t by) {
  Words scalars(ops, {});
  int64_t count = Ops::typeOf(state).getDimSize(0);
  Value low = scalars.scalar(state, 1);
  Value sum = scalars.add(low, scalars.word(by, 64));
  SmallVector<Value> words{scalars.scalar(state, 0), sum};
  if (count == 3) {
    Value carry = ops.convert(ops.compare("LT", sum, low),
                              Ops::typeOf(sum).getElementType());
    words.push_back(scalars.add(scalars.scalar(state, 2), carry));
  }
  for (Value &word : words)
    word = ops.reshape(word, {1});
  return stablehlo::ConcatenateOp::create(ops.b, state.getType(), words, 0);
}

static std::pair<Value, Value> threeFry(Words &w, Value key0, Value key1,
                                        Value x0, Value x1) {
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = w.exclusive(w.exclusive(key0, key1), w.word(0x1BD11BDA));
  Value keys[3] = {key0, key1, parity};
  x0 = w.add(x0, keys[0]);
  x1 = w.add(x1, keys[1]);
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned by : rotations[round % 2]) {
      x0 = w.add(x0, x1);
      x1 = w.exclusive(w.rotate(x1, by), x0);
    }
    x0 = w.add(x0, keys[(round + 1) % 3]);
    x1 = w.add(w.add(x1, keys[(round + 2) % 3]), w.word(round + 1));
  }
  return {x0, x1};
}

static uint64_t countOf(ArrayRef<int64_t> shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<uint64_t>(size);
  return count;
}

RandomBits import::threeFryBits(Ops &ops, Value state, ArrayRef<int64_t> shape,
                                unsigned width) {
  Words w(ops, shape);
  Value key = w.fromState(state, 0), start = w.fromState(state, 1);
  // Of 64 bits: one block an element. Less: the two words of a block are
  // neighbours along the first even dim, or else the largest.
  int64_t split = -1;
  SmallVector<int64_t> sizes(shape);
  if (width < 64 && !shape.empty()) {
    for (auto [dim, size] : llvm::enumerate(shape))
      if (split < 0 && size % 2 == 0)
        split = dim;
    if (split < 0)
      for (auto [dim, size] : llvm::enumerate(shape))
        if (split < 0 || size > shape[split])
          split = dim;
    sizes[split] = (sizes[split] + 1) / 2;
  }
  Value counter = w.add(start, w.linearIndex(sizes, split));
  auto [x0, x1] =
      threeFry(w, w.low(key), w.high(key), w.low(counter), w.high(counter));
  Value next = advance(ops, state, countOf(sizes));
  if (width == 64)
    return {next, w.join(x0, x1)};
  Value bits = x0;
  if (split >= 0) {
    Value odd =
        ops.op<stablehlo::AndOp>(ops.iota(w.type(64), split), w.word(1, 64));
    bits = ops.select(ops.compare("EQ", odd, w.word(0, 64)), x0, x1);
  }
  return {next, ops.convert(bits, w.type(width).getElementType())};
}

static std::array<Value, 4> philox(Words &w, std::array<Value, 4> x, Value key0,
                                   Value key1, Ops &ops) {
  Type wide = w.type(64).getElementType();
  auto product = [&](Value word, uint64_t by) {
    return w.multiply(ops.convert(word, wide), w.word(by, 64));
  };
  for (unsigned round = 0; round < 10; ++round) {
    Value first = product(x[0], 0xD2511F53), second = product(x[2], 0xCD9E8D57);
    x = {w.exclusive(w.exclusive(w.high(second), x[1]), key0), w.low(second),
         w.exclusive(w.exclusive(w.high(first), x[3]), key1), w.low(first)};
    key0 = w.add(key0, w.word(0x9E3779B9));
    key1 = w.add(key1, w.word(0xBB67AE85));
  }
  return x;
}

RandomBits import::philoxBits(Ops &ops, Value state, ArrayRef<int64_t> shape,
                              unsigned width) {
  Words w(ops, shape);
  bool three = Ops::typeOf(state).getDimSize(0) == 3;
  Value key = w.fromState(state, 0), start = w.fromState(state, 1),
        above = three ? w.fromState(state, 2) : key;
  Value index = w.linearIndex(shape, -1);
  unsigned lanes = width == 64 ? 2 : 4;
  Value low = w.add(start, w.right(index, width == 64 ? 1 : 2));
  Value carry =
      ops.convert(ops.compare("LT", low, start), w.type(64).getElementType());
  Value high = w.add(above, carry);
  std::array<Value, 4> x =
      philox(w, {w.low(low), w.high(low), w.low(high), w.high(high)},
             w.low(key), w.high(key), ops);
  uint64_t count = countOf(shape);
  Value next = advance(ops, state, (count + lanes - 1) / lanes);
  Value lane = ops.op<stablehlo::AndOp>(index, w.word(lanes - 1, 64));
  auto pick = [&](unsigned which, Value then, Value other) {
    return ops.select(ops.compare("EQ", lane, w.word(which, 64)), then, other);
  };
  if (width == 64)
    return {next, pick(0, w.join(x[0], x[1]), w.join(x[2], x[3]))};
  Value bits = pick(0, x[0], pick(1, x[1], pick(2, x[2], x[3])));
  return {next, ops.convert(bits, w.type(width).getElementType())};
}
