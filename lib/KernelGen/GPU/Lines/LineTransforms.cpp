//===- LineTransforms.cpp - Fourier transforms of lines -------------------===//
//
// A block holds one line, or several short ones, in shared memory and does one
// stage a radix there (T. G. Stockham, "High-speed convolution and
// correlation", 1966; N. K. Govindaraju et al., "High performance discrete
// Fourier transforms on graphics processors", 2008): no bit reversal. Threads
// hold what they have read until all have, so that a stage is in place. Device
// memory is read and written once.
//
//===----------------------------------------------------------------------===//
#include "Lines.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"

#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::lines;

namespace {
/// A complex number.
struct Number {
  Value re, im;
};

class LineTransformer : LineEmitter {
public:
  LineTransformer(OpBuilder &b, spmd::LinesOp op);
  void emit();

private:
  Value plus(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value minus(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value times(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Number rotate(Number x, Value by);
  Value accumulate(Value sum, Value x, double factor);
  SmallVector<Number> butterfly(ArrayRef<Number> in);
  void stage(int64_t radix, int64_t done);
  Value slotOf(Value lane, Value at) {
    return isInnermost ? add(mul(lane, n), at) : add(mul(at, each), lane);
  }
  SmallVector<Value> placeOf(Value lane, Value at) {
    return subscripts(add(firstLine, lane), at);
  }

  int64_t n, each = 1, threads = kBlock;
  FloatType type;
  Value thread, firstLine;
  Value re, im; ///< in shared memory
};
} // namespace

LineTransformer::LineTransformer(OpBuilder &b, spmd::LinesOp op)
    : LineEmitter(b, op), n(knownLength),
      type(cast<FloatType>(elementOf(op.getInputs()[0]))) {
  // Short lines share a block; lines that are across memory in any case, so
  // that neighbours in memory are read together.
  int64_t most = kMostTransform * 32 / type.getWidth();
  int64_t wanted = isInnermost ? 1024 / n : 16;
  each = std::max<int64_t>(std::min(wanted, most / n), 1);
  if (ShapedType::isStatic(knownLines))
    each = std::min(each, knownLines);
  threads =
      std::clamp<int64_t>(llvm::alignTo(each * n / 4, kWarp), kWarp, kBlock);
}

/// `x` times entry `by` of the tables.
Number LineTransformer::rotate(Number x, Value by) {
  Value re = load(op.getInputs()[2], by), im = load(op.getInputs()[3], by);
  return {minus(times(x.re, re), times(x.im, im)),
          plus(times(x.re, im), times(x.im, re))};
}

/// `sum` (null: nothing) and `factor` times `x`.
Value LineTransformer::accumulate(Value sum, Value x, double factor) {
  // Rotations by quarters are exact.
  if (std::abs(factor) < 1e-12)
    return sum;
  bool isNegative = factor < 0;
  double size = std::abs(factor);
  if (std::abs(size - 1) > 1e-12)
    x = times(x, arith::ConstantOp::create(b, loc, b.getFloatAttr(type, size)));
  if (!sum)
    return isNegative ? arith::NegFOp::create(b, loc, x).getResult() : x;
  return isNegative ? minus(sum, x) : plus(sum, x);
}

/// The transform of a few numbers.
SmallVector<Number> LineTransformer::butterfly(ArrayRef<Number> in) {
  int64_t radix = in.size();
  if (radix == 4) {
    // Two by two.
    SmallVector<Number> even = butterfly({in[0], in[2]}),
                        odd = butterfly({in[1], in[3]});
    Number low = odd[1];
    return {{plus(even[0].re, odd[0].re), plus(even[0].im, odd[0].im)},
            {plus(even[1].re, low.im), minus(even[1].im, low.re)},
            {minus(even[0].re, odd[0].re), minus(even[0].im, odd[0].im)},
            {minus(even[1].re, low.im), plus(even[1].im, low.re)}};
  }
  SmallVector<Number> out;
  for (int64_t k = 0; k < radix; ++k) {
    Number sum = in[0];
    for (int64_t j = 1; j < radix; ++j) {
      double angle = -2 * M_PI * static_cast<double>(j * k % radix) /
                     static_cast<double>(radix);
      double cosine = std::cos(angle), sine = std::sin(angle);
      sum.re =
          accumulate(accumulate(sum.re, in[j].re, cosine), in[j].im, -sine);
      sum.im = accumulate(accumulate(sum.im, in[j].re, sine), in[j].im, cosine);
    }
    out.push_back(sum);
  }
  return out;
}

/// One stage, after stages whose radices multiply to `done`: elements n / radix
/// apart become elements `done` apart. The first one reads the inputs, the last
/// one writes the results.
void LineTransformer::stage(int64_t radix, int64_t done) {
  int64_t apart = n / radix, all = each * apart;
  bool isFirst = done == 1, isLast = done * radix == n;
  struct Work {
    Value lane, at, exists;
    SmallVector<Number> numbers;
  };
  SmallVector<Work> work;
  for (int64_t first = 0; first < all; first += threads) {
    Work one;
    Value number = add(thread, index(first));
    one.exists = less(number, index(all));
    number = choose(one.exists, number, index(0));
    one.lane = isInnermost ? div(number, apart) : rem(number, each);
    one.at = isInnermost ? rem(number, apart) : div(number, each);
    Value isLine = less(add(firstLine, one.lane), lines);
    one.exists = both(one.exists, isLine);
    one.lane = choose(isLine, one.lane, index(0));
    Value exponent = rem(one.at, done);
    for (int64_t q = 0; q < radix; ++q) {
      Value from = add(one.at, index(q * apart));
      Number x;
      if (isFirst) {
        SmallVector<Value> place = placeOf(one.lane, from);
        x = {load(op.getInputs()[0], place), load(op.getInputs()[1], place)};
      } else {
        Value slot = slotOf(one.lane, from);
        x = {load(re, slot), load(im, slot)};
      }
      if (!isFirst && q > 0)
        x = rotate(x, mul(exponent, q * (n / (done * radix))));
      one.numbers.push_back(x);
    }
    one.numbers = butterfly(one.numbers);
    work.push_back(std::move(one));
  }
  if (!isFirst && !isLast)
    barrier();
  for (Work &one : work)
    when(one.exists, [&] {
      Value exponent = rem(one.at, done);
      Value to = add(mul(sub(one.at, exponent), radix), exponent);
      for (int64_t q = 0; q < radix; ++q) {
        Value at = add(to, index(q * done));
        if (isLast) {
          SmallVector<Value> place = placeOf(one.lane, at);
          store(one.numbers[q].re, op.getInits()[0], place);
          store(one.numbers[q].im, op.getInits()[1], place);
        } else {
          Value slot = slotOf(one.lane, at);
          store(one.numbers[q].re, re, slot);
          store(one.numbers[q].im, im, slot);
        }
      }
    });
  if (!isLast)
    barrier();
}

void LineTransformer::emit() {
  gpu::LaunchOp launch = beginLaunch(b, loc, ceilDiv(lines, each), threads);
  re = share(launch, each * n, type);
  im = share(launch, each * n, type);
  thread = launch.getThreadIds().x;
  firstLine = mul(launch.getBlockIds().x, each);
  int64_t done = 1;
  for (int64_t rest = n; rest > 1;) {
    int64_t radix = 2;
    if (rest % 4 == 0)
      radix = 4;
    else
      while (rest % radix != 0)
        ++radix;
    stage(radix, done);
    done *= radix;
    rest /= radix;
  }
}

void lines::launchFourier(OpBuilder &b, spmd::LinesOp op) {
  LineTransformer(b, op).emit();
}
