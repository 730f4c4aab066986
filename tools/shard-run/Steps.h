//===- Steps.h - Steps that keep state, and survive -------------*- C++ -*-===//
//
// A step's results become arguments of the next one, in the memory of the
// ranks; batches come from files; after every N steps the state is saved
// (Checkpoint.h of the runtime), and a later run, on any mesh, goes on from
// there.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_RUN_STEPS_H
#define SHARDC_TOOLS_SHARD_RUN_STEPS_H

#include "Options.h"
#include "Shards.h"
#include "shardrt/shardrt.h"
#include <memory>

namespace shardc {

/// What happens between the steps of a program.
struct StepPlan {
  /// A result that is an argument of the next step.
  struct Carry {
    size_t output, input;
    std::string name; ///< in checkpoints
  };
  /// An argument that is another in each step: element [step mod n] of `all`.
  struct Batches {
    size_t input;
    HostArray all;
  };
  int64_t steps = 0;
  std::vector<Carry> carries;
  std::vector<Batches> batches;
  std::optional<size_t> stepNumber; ///< the argument that gets it, from 0
  std::vector<size_t> logged;       ///< results of one element
  bool logsToErrors = false;

  std::string directory; ///< of checkpoints; empty: none
  int64_t saveEvery = 0; ///< 0: never
  int64_t keep = 0;      ///< of the last checkpoints; 0: all
  bool resumes = false;
  std::optional<int64_t> resumeStep; ///< the last one, if nothing is said
  int64_t seed = 0;
  std::string program; ///< SHA-256 of the model
  std::string mesh;

  /// Whether the plan gives argument `input` in every step.
  bool gives(size_t input) const;
};

/// A program at work. With other sizes all of it becomes another.
struct Running {
  struct Destroy {
    void operator()(shardrt_world *world) const {
      shardrt_world_destroy(world);
    }
  };
  std::unique_ptr<shardrt_world, Destroy> world;
  ShardBuffers in, out;
  int64_t steps = 0; ///< that the world has made since its statistics began
};

/// What may change sizes between steps. All processes of a job ask it alike.
class Rebinding {
public:
  virtual ~Rebinding() = default;
  /// Looks at the step that was made: whether another program, or other sizes,
  /// come next.
  virtual llvm::Expected<bool> look(const Running &running) = 0;
  /// Takes them: the program's metadata are those of the new one.
  virtual llvm::Error bind() = 0;
  /// A world for that, and buffers, with all arguments but `carried`.
  virtual llvm::Expected<Running>
  begin(llvm::ArrayRef<size_t> carried) const = 0;
};

/// What `options` ask for, in terms of `program`'s arguments and results.
/// Nothing where they say no --steps.
llvm::Expected<std::optional<StepPlan>>
makeStepPlan(const ProgramMetadata &program, const RunOptions &options);

/// Runs the steps of `plan` that are left. `me`: the rank of this process in
/// its job; -1: it has all. Appends the time of each step to `milliseconds`.
/// Sizes change as `rebinding` says; none: never.
llvm::Error runSteps(Running &running, const ProgramMetadata &program,
                     const StepPlan &plan, int64_t me, Rebinding *rebinding,
                     std::vector<double> &milliseconds);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_STEPS_H
