//===- Random.cpp - rng_bit_generator -------------------------------------===//
//
// Threefry-2x32 and Philox-4x32 (Salmon and others, "Parallel random numbers:
// as easy as 1, 2, 3", 2011), with XLA's ways of laying blocks out.
//
//===----------------------------------------------------------------------===//
#include "Evaluator.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include <array>

using namespace mlir;
using namespace shardc;
using namespace shardc::interpreter;

static uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
static uint32_t high(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}
static uint64_t join(uint32_t low, uint32_t high) {
  return low | uint64_t(high) << 32;
}

/// One block of two words.
static std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  static constexpr unsigned rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint32_t keys[3] = {low(key), high(key), low(key) ^ high(key) ^ 0x1BD11BDA};
  uint32_t a = low(counter) + keys[0], b = high(counter) + keys[1];
  for (unsigned round = 0; round < 20; ++round) {
    unsigned by = rotations[round % 8];
    a += b;
    b = (b << by | b >> (32 - by)) ^ a;
    if (round % 4 == 3) {
      unsigned group = round / 4 + 1;
      a += keys[group % 3];
      b += keys[(group + 1) % 3] + group;
    }
  }
  return {a, b};
}

/// One block of four words.
static std::array<uint32_t, 4> philox(uint64_t key, uint64_t lowCounter,
                                      uint64_t highCounter) {
  std::array<uint32_t, 4> x = {low(lowCounter), high(lowCounter),
                               low(highCounter), high(highCounter)};
  uint32_t key0 = low(key), key1 = high(key);
  for (unsigned round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(x[0]) * 0xD2511F53,
             second = uint64_t(x[2]) * 0xCD9E8D57;
    x = {high(second) ^ x[1] ^ key0, low(second), high(first) ^ x[3] ^ key1,
         low(first)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

/// Bits of `word` as an element.
static Element element(const Format &format, uint64_t word) {
  if (format.isInteger())
    return Element::of(format.wrap(word));
  return Element::of(floatOf(format, word));
}

/// The state's words with `blocks` more of them used.
static Array advanced(const Array &state, uint64_t blocks) {
  Array next = state;
  uint64_t before = state[1].integer, after = before + blocks;
  next.set(1).integer = after;
  if (state.size() == 3 && after < before)
    ++next.set(2).integer;
  return next;
}

/// Elements of 64 bits are a block each. The two words of a block of narrower
/// ones go to neighbours along the first even dim (where there is none: the
/// largest, and what is beyond it is lost).
static Array threefryBits(const Array &state, Array result, uint64_t &blocks) {
  uint64_t key = state[0].integer, start = state[1].integer;
  const Format &format = result.format();
  Shape counts(result.shape());
  int64_t split = -1;
  if (format.bits < 64) {
    for (size_t d = 0; d < counts.size() && split < 0; ++d)
      if (counts[d] % 2 == 0)
        split = d;
    if (split < 0 && !counts.empty())
      split = std::max_element(counts.begin(), counts.end()) - counts.begin();
    if (split >= 0)
      counts[split] = (counts[split] + 1) / 2;
  }
  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    uint64_t block = 0;
    for (size_t d = 0; d < counts.size(); ++d)
      block = block * counts[d] +
              (static_cast<int64_t>(d) == split ? index[d] / 2 : index[d]);
    auto [a, b] = threefry(key, start + block);
    uint64_t word = format.bits == 64                     ? join(a, b)
                    : split >= 0 && index[split] % 2 == 1 ? b
                                                          : a;
    result.set(next++) = element(format, word);
  });
  blocks = countElements(counts);
  return result;
}

static Array philoxBits(const Array &state, Array result, uint64_t &blocks) {
  uint64_t key = state[0].integer, start = state[1].integer,
           above = state.size() == 3 ? state[2].integer : key;
  const Format &format = result.format();
  int64_t inBlock = format.bits == 64 ? 2 : 4;
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t counter = start + i / inBlock;
    std::array<uint32_t, 4> x =
        philox(key, counter, above + (counter < start ? 1 : 0));
    uint64_t word =
        format.bits == 64 ? join(x[i % 2 * 2], x[i % 2 * 2 + 1]) : x[i % 4];
    result.set(i) = element(format, word);
  }
  blocks = (result.size() + inBlock - 1) / inBlock;
  return result;
}

static FailureOr<Values> evaluateRngBits(Evaluator &,
                                         stablehlo::RngBitGeneratorOp op,
                                         ArrayRef<Array> in) {
  Format format = formatOf(op.getOutput());
  if (in[0].format().bits != 64 || in[0].size() < 2 || in[0].size() > 3 ||
      format.isComplex())
    return Evaluator::unknown(op, "a generator with a state of another form");
  Array result(format,
               cast<RankedTensorType>(op.getOutput().getType()).getShape());
  uint64_t blocks = 0;
  // DEFAULT is Philox, as XLA has it on CPUs.
  bool isPhilox = op.getRngAlgorithm() != stablehlo::RngAlgorithm::THREE_FRY;
  result = isPhilox ? philoxBits(in[0], result, blocks)
                    : threefryBits(in[0], result, blocks);
  return Values{advanced(in[0], blocks), result};
}

void shardc::interpreter::addRandom(Table &table) {
  table.add<stablehlo::RngBitGeneratorOp>(evaluateRngBits);
}
