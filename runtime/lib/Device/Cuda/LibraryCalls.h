//===- LibraryCalls.h - Operators done by the vendor's libraries *- C++ -*-===//
//
// One interface for all libraries: a call (shardrt/LibraryCall.h) is done, is
// not offered (the library is not there, or does not take such operands), or
// fails. What a library has to prepare for operands of some sizes and layouts
// is kept for the next step.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_LIBRARYCALLS_H
#define SHARDRT_DEVICE_CUDA_LIBRARYCALLS_H

#include "Device/Cuda/Libraries.h"
#include "Device/Device.h"
#include "shardrt/ElementType.h"
#include "shardrt/LibraryCall.h"
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace shardrt::libraries {

/// One operand: its dims are those that the kind of call names.
struct Operand {
  char *address = nullptr;
  ElementType type = ElementType::F32;
  int64_t rank = 0;
  std::array<int64_t, SHARDRT_CALL_DIMS> sizes{}, strides{};

  bool isDense() const;
  int64_t count() const;
};

struct Call {
  int64_t kind = 0, epilogue = 0;
  bool tf32 = false; ///< factors of f32 may be rounded to it
  std::array<int64_t, SHARDRT_CALL_HEAD - SHARDRT_CALL_NUMBERS> numbers{};
  std::array<Operand, SHARDRT_CALL_MOST_OPERANDS> operands;
  int64_t numOperands = 0;
  /// All but addresses, of which `alignmentOf` is kept: what a plan is made
  /// for.
  std::vector<int64_t> key;

  const Operand &result() const { return operands[numOperands - 1]; }
};

/// Bytes, at most 256, of which `address` is a multiple.
int64_t alignmentOf(const void *address);

enum class Outcome { Done, NotOffered, Failed };

/// Memory that libraries use while they work, in the order of the device's
/// work.
class Workspace {
public:
  explicit Workspace(Device &device) : device(device) {}
  ~Workspace();
  /// At least `bytes`, aligned to 256; NULL where they cannot be had. What was
  /// given before stays: recorded steps use it.
  void *get(int64_t bytes);
  /// Most that a plan may ask for.
  static constexpr int64_t most = 64 << 20;

private:
  Device &device;
  std::vector<void *> all;
  int64_t bytes = 0;
};

/// A library in use by one rank.
class Provider {
public:
  virtual ~Provider() = default;
  /// Does `call` on the device's stream. Says in `why` what it does not take or
  /// what went wrong.
  virtual Outcome run(const Call &call, std::string &why) = 0;
  /// Plans that are kept, at most; further operands are not taken.
  static constexpr size_t mostPlans = 1024;
};

std::unique_ptr<Provider> makeProducts(const CublasLt &, Device &, Workspace &);
std::unique_ptr<Provider> makeConvolutions(const Cudnn &, Device &,
                                           Workspace &);
std::unique_ptr<Provider> makeAttention(const Cudnn &, Device &, Workspace &);
std::unique_ptr<Provider> makeTransforms(const Cufft &, Device &, Workspace &);

/// What a rank's program asks of libraries.
class LibraryCalls {
public:
  explicit LibraryCalls(Device &device) : device(device), workspace(device) {}

  /// Does what `words` describe, and sets the first of them; 0 or the status to
  /// fail with, with `error` set. `location` is the op's source line, or "".
  int run(int64_t *words, const char *location, std::string &error);
  /// What was asked for, a line for each place in the program.
  const char *asked() const { return lines.c_str(); }
  /// Which libraries are not there on a device whose kernels are far slower
  /// than them, a line each.
  const std::string &lacking() const { return lacks; }

private:
  struct Use {
    bool tried = false, isSaid = false;
    std::unique_ptr<Provider> provider;
    std::string absent;
  };
  Use &use(int64_t kind);
  /// Adds a line, once for each place that asks.
  void note(const Call &call, const char *location, bool done);

  Device &device;
  Workspace workspace;
  std::set<const char *> places;
  std::string lines, lacks;
  std::array<Use, 4> uses; ///< by kind; they go before the workspace
};

} // namespace shardrt::libraries

#endif // SHARDRT_DEVICE_CUDA_LIBRARYCALLS_H
