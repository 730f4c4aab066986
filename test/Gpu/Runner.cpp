//===- Runner.cpp - Run a compiled program, and nothing else --------------===//
//
// For machines that have a GPU and its driver but no LLVM, no Python and no
// network: loads an artifact, gives each rank its shards from a case file
// (prepare.py writes them), compares, and times steps.
//
//   gpu-runner [--transport=auto|host|direct|nccl] [--seconds=S] [--no-graphs]
//              ARTIFACT CASE
//
// Prints one line of fields with tabs between: equal, DIFFERS or FAILED; the
// largest difference; steps timed, and their median and least time in ms; what
// failed. Exits with the runtime's status, 3 where results differ.
//
// A case file is words of 8 bytes: magic, version, ranks, inputs, outputs; two
// doubles, the tolerances; for each input and rank its bytes and its data,
// filled up to 8; for each output its element type, then the same. Of version 2
// inputs have an element type as well, and there are no data: inputs are
// random, and results are not compared ("ran").
//
//===----------------------------------------------------------------------===//

#include "shardrt/ElementType.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using shardrt::ElementType;

static constexpr int64_t caseMagic = 0x3145534143445253; // "SRDCASE1"

namespace {
struct Free {
  void operator()(void *memory) const { std::free(memory); }
};

struct Shard {
  int64_t bytes = 0;
  std::unique_ptr<char, Free> data;
};

struct Output {
  ElementType type = ElementType::F32;
  std::vector<Shard> expected, got; ///< by rank
};

struct Case {
  int64_t ranks = 0;
  double relative = 0, absolute = 0;
  bool hasData = true;
  std::vector<std::vector<Shard>> inputs; ///< by rank
  std::vector<Output> outputs;
};
} // namespace

static Shard makeShard(int64_t bytes) {
  Shard shard;
  shard.bytes = bytes;
  shard.data.reset(static_cast<char *>(
      std::aligned_alloc(64, static_cast<size_t>((bytes + 64) / 64 * 64))));
  return shard;
}

/// Fills `shard` with numbers between -1 and 1 (integers: 0 or 1); zeros would
/// be multiplied faster than others.
static void fillRandom(ElementType type, Shard &shard, uint64_t seed) {
  ElementType part = type == ElementType::Complex64    ? ElementType::F32
                     : type == ElementType::Complex128 ? ElementType::F64
                                                       : type;
  int64_t bytes = shardrt::elementBytes(part);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (int64_t at = 0; at + bytes <= shard.bytes; at += bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    auto number =
        static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-31f;
    double wide = number;
    auto bits = std::bit_cast<uint32_t>(number);
    // Halves of at least 2^-14, or zero.
    uint32_t exponent = bits >> 23 & 255;
    auto half = static_cast<uint16_t>(
        exponent < 113 ? 0
                       : (bits >> 16 & 0x8000) | (exponent - 112) << 10 |
                             (bits >> 13 & 1023));
    auto brain = static_cast<uint16_t>(bits >> 16);
    int64_t whole = static_cast<int64_t>(state >> 63);
    const void *from =
        part == ElementType::F64    ? static_cast<const void *>(&wide)
        : part == ElementType::F32  ? static_cast<const void *>(&number)
        : part == ElementType::F16  ? static_cast<const void *>(&half)
        : part == ElementType::BF16 ? static_cast<const void *>(&brain)
                                    : static_cast<const void *>(&whole);
    std::memcpy(shard.data.get() + at, from, bytes);
  }
}

/// Reads the case file at `path`; false if it is none.
static bool readCase(const char *path, Case &result) {
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path, "rb"),
                                                        &std::fclose);
  if (!file)
    return false;
  auto read = [&](void *to, int64_t bytes) {
    return std::fread(to, 1, static_cast<size_t>(bytes), file.get()) ==
           static_cast<size_t>(bytes);
  };
  auto readShard = [&](Shard &shard) {
    int64_t bytes = 0;
    if (!read(&bytes, 8) || bytes < 0 || bytes > int64_t(1) << 40)
      return false;
    shard = makeShard(bytes);
    return shard.data &&
           (!result.hasData || read(shard.data.get(), (bytes + 7) / 8 * 8));
  };
  int64_t head[5];
  if (!read(head, sizeof(head)) || head[0] != caseMagic || head[1] < 1 ||
      head[1] > 2 || head[2] < 1 || head[2] > 65536 || head[3] < 0 ||
      head[3] > 65536 || head[4] < 0 || head[4] > 65536 ||
      !read(&result.relative, 8) || !read(&result.absolute, 8))
    return false;
  result.ranks = head[2];
  result.hasData = head[1] == 1;
  result.inputs.resize(result.ranks);
  for (int64_t i = 0; i < head[3]; ++i) {
    ElementType type = ElementType::F32;
    if (!result.hasData &&
        (!read(&type, 8) || shardrt::elementBytes(type) == 0))
      return false;
    for (std::vector<Shard> &ofRank : result.inputs) {
      if (!readShard(ofRank.emplace_back()))
        return false;
      if (!result.hasData)
        fillRandom(type, ofRank.back(), static_cast<uint64_t>(i));
    }
  }
  for (int64_t i = 0; i < head[4]; ++i) {
    Output &output = result.outputs.emplace_back();
    if (!read(&output.type, 8) || shardrt::elementBytes(output.type) == 0)
      return false;
    for (int64_t rank = 0; rank < result.ranks; ++rank) {
      if (!readShard(output.expected.emplace_back()))
        return false;
      output.got.push_back(makeShard(output.expected.back().bytes));
    }
  }
  return true;
}

/// The number at `at`, of floating-point type `type`.
static double toDouble(ElementType type, const char *at) {
  if (type == ElementType::F64) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  if (type == ElementType::F32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  if (type == ElementType::BF16)
    return std::bit_cast<float>(uint32_t(bits) << 16);
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31 ? (fraction ? std::nan("") : HUGE_VAL)
                 : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                : std::ldexp(fraction, -24);
  return bits >> 15 ? -value : value;
}

/// How far apart the two buffers are; infinity where they differ by more than
/// is allowed. Integers and narrow floating-point types must be the same.
static double compare(const Output &output, const Shard &got,
                      const Shard &expected, const Case &test) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::memcmp(got.data.get(), expected.data.get(), got.bytes) == 0)
    return 0;
  ElementType part = output.type == ElementType::Complex64    ? ElementType::F32
                     : output.type == ElementType::Complex128 ? ElementType::F64
                                                              : output.type;
  double least = part == ElementType::F16    ? 0x1p-10
                 : part == ElementType::BF16 ? 0x1p-7
                                             : 0;
  if (part != ElementType::F16 && part != ElementType::BF16 &&
      part != ElementType::F32 && part != ElementType::F64)
    return infinity;
  double relative = test.relative > 0 ? std::max(test.relative, least) : 0;
  double largest = 0;
  for (int64_t at = 0; at < got.bytes; at += shardrt::elementBytes(part)) {
    double x = toDouble(part, got.data.get() + at),
           y = toDouble(part, expected.data.get() + at);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double apart = std::fabs(x - y);
    // NaN is not within anything.
    if (!(apart <= test.absolute + relative * std::fabs(y)) ||
        std::isinf(apart))
      return infinity;
    largest = std::max(largest, apart);
  }
  return largest;
}

static int report(int status, const char *verdict, double difference,
                  int64_t steps, double median, double least,
                  std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::printf("%s\t%.1e\t%lld\t%.4f\t%.4f\t%s\n", verdict, difference,
              static_cast<long long>(steps), median, least, text.c_str());
  return status;
}

int main(int argc, char **argv) {
  shardrt_world_options options = {};
  options.size = sizeof(options);
  double seconds = 0;
  std::vector<const char *> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    const char *const names[] = {"auto", "host", "direct", "nccl"};
    bool known = false;
    for (int t = 0; t < 4; ++t)
      if (argument == std::string("--transport=") + names[t]) {
        options.transport = t;
        known = true;
      }
    if (argument == "--no-graphs") {
      options.no_graphs = 1;
      known = true;
    }
    if (argument.rfind("--seconds=", 0) == 0) {
      seconds = std::atof(argument.c_str() + 10);
      known = true;
    }
    if (!known && argument[0] != '-') {
      files.push_back(argv[i]);
      known = true;
    }
    if (!known)
      return report(SHARDRT_USAGE, "FAILED", 0, 0, 0, 0,
                    "unknown option " + argument);
  }
  if (files.size() != 2)
    return report(SHARDRT_USAGE, "FAILED", 0, 0, 0, 0,
                  "give an artifact and a case file");
  Case test;
  if (!readCase(files[1], test))
    return report(SHARDRT_IO, "FAILED", 0, 0, 0, 0,
                  std::string(files[1]) + " is no case file");
  char error[1024] = "";
  shardrt_program *program = nullptr;
  shardrt_world *world = nullptr;
  int status =
      shardrt_program_load_trusted(files[0], &program, error, sizeof(error));
  if (status == SHARDRT_OK && shardrt_program_num_ranks(program) != test.ranks)
    return report(SHARDRT_USAGE, "FAILED", 0, 0, 0, 0,
                  "artifact and case are for different meshes");
  if (status == SHARDRT_OK)
    status =
        shardrt_world_create(program, &options, &world, error, sizeof(error));
  if (status != SHARDRT_OK)
    return report(status, "FAILED", 0, 0, 0, 0, error);

  std::vector<std::vector<void *>> in(test.ranks), out(test.ranks);
  std::vector<void *const *> ins, outs;
  for (int64_t rank = 0; rank < test.ranks; ++rank) {
    for (const Shard &shard : test.inputs[rank])
      in[rank].push_back(shard.data.get());
    for (const Output &output : test.outputs)
      out[rank].push_back(output.got[rank].data.get());
    ins.push_back(in[rank].data());
    outs.push_back(out[rank].data());
  }
  double difference = 0;
  auto runOnce = [&] {
    status = shardrt_world_run(world, ins.data(), outs.data());
    for (const Output &output : test.outputs)
      for (int64_t rank = 0;
           test.hasData && status == SHARDRT_OK && rank < test.ranks; ++rank)
        difference = std::max(difference, compare(output, output.got[rank],
                                                  output.expected[rank], test));
  };
  runOnce();
  std::vector<double> times;
  if (status == SHARDRT_OK && !std::isinf(difference) && seconds > 0) {
    // How many steps fill the time, from ten of them.
    times.resize(10);
    status = shardrt_world_run_repeated(world, ins.data(), outs.data(), 10,
                                        times.data());
    std::sort(times.begin(), times.end());
    auto steps = static_cast<int64_t>(
        std::clamp(1000 * seconds / std::max(times[5], 1e-3), 10.0, 10000.0));
    if (status == SHARDRT_OK && 10 * times[5] < 1000 * seconds) {
      times.resize(steps);
      status = shardrt_world_run_repeated(world, ins.data(), outs.data(), steps,
                                          times.data());
      std::sort(times.begin(), times.end());
    }
    // Once more: nothing must have gone wrong on the way.
    if (status == SHARDRT_OK)
      runOnce();
  }
  std::string text = shardrt_world_error(world), libraries;
  if (const char *asked = shardrt_world_libraries(world, 0))
    libraries = asked;
  shardrt_world_destroy(world);
  shardrt_program_destroy(program);
  if (status != SHARDRT_OK)
    return report(status, "FAILED", 0, 0, 0, 0, text);
  auto steps = static_cast<int64_t>(times.size());
  double median = steps ? times[steps / 2] : 0, least = steps ? times[0] : 0;
  bool differs = std::isinf(difference);
  // One that is asked for everything and does nothing is not timed.
  if (libraries.rfind("generated: ", 0) == 0)
    text = "not done by the library: " + libraries.substr(11);
  const char *verdict = differs ? "DIFFERS" : test.hasData ? "equal" : "ran";
  return report(differs ? 3 : 0, verdict, difference, steps, median, least,
                text);
}
