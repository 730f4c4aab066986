//===- Program.h - Compiled models, and their runs --------------*- C++ -*-===//
//
// A program is compiled, linked in this process and run on devices of its
// engine. No MLIR here: Compile.cpp has it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_ENGINE_PROGRAM_H
#define SHARDC_ENGINE_PROGRAM_H

#include "shardc/Engine/Buffer.h"
#include "shardc/Engine/Code.h"
#include "shardc/Layout/Exchange.h"
#include "shardrt/shardrt.h"
#include <map>
#include <string_view>

namespace shardc::engine {

/// One rank's part of an argument or result.
struct LocalValue {
  Box box; ///< in global indices
  Dims dims;
  int64_t bytes = 0;
};

struct ProgramValue {
  std::string name, location;
  ElementType type = ElementType::F32;
  std::vector<int64_t> dims; ///< global
  /// Of an argument 1, if it is declared to be given up; of a result the
  /// argument that it may be written over; -1.
  int64_t donated = -1;
  std::vector<LocalValue> ranks;
};

struct Costs {
  double flops = 0, bytesAccessed = 0, transcendentals = 0, bytesMoved = 0;
  int64_t codeBytes = 0, argumentBytes = 0, resultBytes = 0, temporaryBytes = 0;
};

/// What a model is compiled to, before it is linked.
struct CompiledModel {
  std::string object;
  std::string name, metadata, remarks;
  std::string localText; ///< what each rank does; "" until it is printed
  std::vector<ProgramValue> arguments;
  std::vector<ProgramValue> results;
  size_t hidden = 0; ///< results behind those, which nobody asks for
  int64_t numRanks = 1;
  Costs costs;
  // What it was compiled from.
  std::string text;
  std::vector<std::pair<std::string, std::string>> options;
};

struct Execution {
  const int64_t *devices = nullptr; ///< null: 0, 1, …
  const uint8_t *donated = nullptr; ///< null: as the program declares
  HostCalls host;
  Buffer *const *const *arguments = nullptr;
  Buffer **const *results = nullptr;
};

class Program final : public Counted<Program> {
public:
  using Options = std::vector<std::pair<std::string, std::string>>;

  /// Compiles `text`. What the compiler said of it is in the failure.
  static MaybeFailure compile(Engine &engine, std::string_view text,
                              std::string_view name, Options options,
                              Ref<Program> &program);
  ~Program();

  /// Runs it once. `done` (null: nobody) is ready when the results are.
  MaybeFailure execute(const Execution &execution, Ref<Event> *done);

  MaybeFailure siteStats(int64_t site, shardrt_site_info &info,
                         shardrt_site_stats &stats);
  int64_t numSites() const { return shardrt_program_num_sites(loaded.get()); }
  /// What each rank does, as text; of a loaded program compiled once more.
  MaybeFailure localText(const std::string *&text);

  const Ref<Engine> engine;
  const CompiledModel model;
  bool callsHost = false;

  /// A world on certain devices.
  struct World {
    std::vector<Device *> devices; ///< by rank
    std::vector<Device *> sorted;  ///< by number
    std::vector<int64_t> places;
    struct Destroy {
      void operator()(shardrt_world *world) const {
        shardrt_world_destroy(world);
      }
    };
    std::unique_ptr<shardrt_world, Destroy> world;
  };

private:
  friend struct Run;
  Program(Engine &engine, CompiledModel model);
  /// Links the code and reads its tables.
  MaybeFailure load();
  MaybeFailure findWorld(const int64_t *devices, World *&world);
  MaybeFailure checkArgument(const World &world, int64_t rank, size_t index,
                             const Buffer *buffer) const;
  std::string describeArgument(size_t index) const;

  struct DestroyProgram {
    void operator()(shardrt_program *program) const {
      shardrt_program_destroy(program);
    }
  };
  std::unique_ptr<Code> code;
  std::unique_ptr<shardrt_program, DestroyProgram> loaded;
  shardrt_main_fn main = nullptr;
  std::atomic<World *> standard{nullptr}; ///< on devices 0, 1, …
  std::atomic<int64_t> usualNs{-1};       ///< of a run on the caller's thread
  std::mutex mutex;                       ///< guards what follows
  std::map<std::vector<int64_t>, std::unique_ptr<World>> worlds;
  std::unique_ptr<std::string> local;
};

/// Compiles; with MLIR behind it.
MaybeFailure compileModel(const Engine &engine, std::string_view text,
                          std::string_view name,
                          const Program::Options &options,
                          CompiledModel &model);
/// What each rank does, as StableHLO.
MaybeFailure printLocal(const Engine &engine, const CompiledModel &model,
                        std::string &text);

} // namespace shardc::engine

#endif // SHARDC_ENGINE_PROGRAM_H
