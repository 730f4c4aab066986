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
#include "shardc/Engine/UsualTime.h"
#include "shardc/Layout/Exchange.h"
#include "shardrt/shardrt.h"
#include <functional>
#include <map>
#include <mutex>
#include <string_view>

namespace shardc {
class Balance;
struct ModelOptions;
struct ProgramMetadata;
} // namespace shardc

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
};

/// What one rank has of arguments and results.
struct RankValues {
  std::vector<LocalValue> arguments, results;
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
  std::string code; ///< in place of `object`: a shared object
  /// What its metadata say of arguments and results.
  std::shared_ptr<const ProgramMetadata> values;
  /// Computed when it is first asked for: a process has few of many ranks.
  const RankValues &ofRank(int64_t rank) const;
  struct OnceByRank {
    std::once_flag once;
    RankValues values;
  };
  mutable std::unique_ptr<OnceByRank[]> byRank;
  // What it was compiled from: its text is in the options.
  std::string path;
  std::shared_ptr<const ModelOptions> source;
};

/// The sizes of the shards in which a dim of an argument arrives.
struct GivenSizes {
  int64_t argument = 0, dim = 0;
  std::span<const int64_t> sizes;
};

class Program;

/// The programs of the last `Most` keys that were asked for.
template <typename Key, size_t Most> class LastPrograms {
public:
  Ref<Program> find(const Key &key);
  void store(const Key &key, Ref<Program> program);
  void clear();

private:
  std::mutex mutex;
  uint64_t clock = 0;
  std::map<Key, std::pair<Ref<Program>, uint64_t>> programs;
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
  /// What a program is known by.
  struct Identity {
    std::string key; ///< within the engine; empty: it may be another next time
    uint64_t digest = 0;
  };
  static Identity identify(std::string_view text, const Options &options);
  /// The one that the engine knows; null: none.
  static Ref<Program> find(Engine &engine, const Identity &identity);
  /// The program of `model`, linked, which the engine then knows.
  static MaybeFailure make(Engine &engine, CompiledModel model,
                           const Identity &identity, Ref<Program> &program);
  /// Loads an artifact.
  static MaybeFailure loadArtifact(Engine &engine, std::string_view bytes,
                                   Ref<Program> &program);
  ~Program();

  /// The same program for these sizes of dims that were left open, and these of
  /// all axes of its mesh; none: as they are.
  MaybeFailure bind(std::span<const GivenSizes> given,
                    std::span<const int64_t> mesh, Ref<Program> &bound);
  /// The program, with whatever is left open, as an artifact.
  MaybeFailure serialize(std::string &artifact) const;
  /// Runs it once. `done` (null: nobody) is ready when the results are.
  MaybeFailure execute(const Execution &execution, Ref<Event> *done);

  MaybeFailure siteStats(int64_t site, shardrt_site_info &info,
                         shardrt_site_stats &stats);
  /// What `rank` did, if it is one of this process.
  MaybeFailure rankStats(int64_t rank, shardrt_rank_stats &stats);
  int64_t numSites() const { return shardrt_program_num_sites(loaded.get()); }
  /// What each rank does, as text; of a loaded program compiled once more.
  MaybeFailure localText(const std::string *&text);

  const Ref<Engine> engine;
  /// What was compiled: those that are bound share it.
  const std::shared_ptr<const CompiledModel> compiled;

private:
  const std::unique_ptr<const CompiledModel> ofBinding;

public:
  /// It, or, of a program that is bound, what differs: how arguments and
  /// results lie.
  const CompiledModel &model;
  bool callsHost = false;
  /// Of the model and its options, the same in other processes; 0 of an
  /// artifact.
  uint64_t digest = 0;

  /// A world on certain devices.
  struct World {
    std::vector<Device *> devices; ///< by rank; null: of another process
    std::vector<Device *> sorted;  ///< of this process, by number
    std::vector<int64_t> here;     ///< ranks of this process
    struct Destroy {
      void operator()(shardrt_world *world) const {
        shardrt_world_destroy(world);
      }
    };
    std::unique_ptr<shardrt_world, Destroy> world;
  };

private:
  friend class Enqueuing;
  friend struct Run;
  Program(Engine &engine, std::shared_ptr<const CompiledModel> compiled,
          std::unique_ptr<const CompiledModel> ofBinding);
  /// The program of `model`, linked.
  static MaybeFailure make(Engine &engine, CompiledModel model,
                           Ref<Program> &program);
  /// Links the code and reads its tables.
  MaybeFailure load();
  /// Refuses more ranks than the engine has devices.
  MaybeFailure checkRanks() const;
  MaybeFailure findWorld(const int64_t *devices, World *&world);
  /// Whether a caller's thread may run it: no rank waits for another, or for
  /// the host.
  bool canRunHere(const World &world) const;
  MaybeFailure checkArgument(const World &world, int64_t rank, size_t index,
                             const Buffer *buffer) const;
  std::string describeArgument(size_t index) const;
  /// Refuses a buffer that is given up and given once more to one of `ranks`.
  MaybeFailure checkDonated(const Execution &given,
                            std::span<const int64_t> ranks) const;
  bool isDonated(const Execution &given, size_t index) const {
    return given.donated ? given.donated[index] != 0
                         : model.arguments[index].donated > 0;
  }

  struct DestroyProgram {
    void operator()(shardrt_program *program) const {
      shardrt_program_destroy(program);
    }
  };
  std::shared_ptr<Code> code;
  std::unique_ptr<shardrt_program, DestroyProgram> loaded;
  shardrt_main_fn main = nullptr;
  std::atomic<World *> standard{nullptr}; ///< on devices 0, 1, …
  UsualTime usual;                        ///< of a run's ranks together
  std::mutex mutex;                       ///< guards what follows
  std::map<std::vector<int64_t>, std::unique_ptr<World>> worlds;
  std::unique_ptr<std::string> local;
  LastPrograms<std::vector<int64_t>, 64> bindings; ///< by what was given
};

/// Programs of an engine that are likely to be compiled again: the last ones.
class ProgramCache final : public LastPrograms<std::string, 256> {};

/// Compiles, or finds what was compiled before; with MLIR behind it.
MaybeFailure compileModel(Engine &engine, std::string_view text,
                          std::string_view name,
                          const Program::Options &options,
                          CompiledModel &model);
/// The same in two steps: `work`, which any thread may do once, does all but
/// what asks the caller. It ends early, and fails, once `cancelled` is set.
MaybeFailure prepareCompile(const Engine &engine, std::string_view text,
                            std::string_view name,
                            const Program::Options &options,
                            std::shared_ptr<const std::atomic<bool>> cancelled,
                            std::function<MaybeFailure(CompiledModel &)> &work);
/// The same of what an artifact holds: its code where the user's key signed it,
/// else what it carries is compiled.
MaybeFailure openArtifact(const Engine &engine, std::string_view bytes,
                          CompiledModel &model);
/// What chooses sizes of dims that the program leaves open (Layout/Balance.h).
MaybeFailure makeBalance(const CompiledModel &model,
                         std::unique_ptr<Balance> &balance);
/// An artifact of `model`.
MaybeFailure makeArtifact(const CompiledModel &model, std::string &artifact);
/// Fills `model` with what `json`, a program's metadata, says.
MaybeFailure readMetadata(CompiledModel &model, const std::string &json);
/// Fills `model` with what `json` says of a program that was bound from what
/// `from` says, to a mesh of these sizes: boundaries and bytes of temporaries
/// are read, all else is as it was.
MaybeFailure readBinding(const CompiledModel &from,
                         std::span<const int64_t> mesh, std::string_view json,
                         CompiledModel &model);
/// What each rank does, as StableHLO.
MaybeFailure printLocal(const Engine &engine, const CompiledModel &model,
                        std::string &text);

} // namespace shardc::engine

#endif // SHARDC_ENGINE_PROGRAM_H
