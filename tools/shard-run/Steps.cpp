//===- Steps.cpp - Steps that keep state, and survive ---------------------===//
//
// What ranks do together between steps is a task of the runtime: the same code
// whether they are threads or processes, watched as a step is.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "Inputs.h"
#include "shardc/Crypto/Crypto.h"
#include "shardrt/Checkpoint.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace shardc;
using shardrt::elementBytes;
using shardrt::elementTypeNamed;

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

bool StepPlan::gives(size_t input) const {
  return stepNumber == input || any_of(batches, [&](const Batches &batch) {
           return batch.input == input;
         });
}

/// The number of the value that `text` calls by number or name.
static std::optional<size_t> findValue(ArrayRef<ValueMetadata> values,
                                       StringRef text) {
  for (auto [i, value] : enumerate(values))
    if (!value.name.empty() && value.name == text)
      return i;
  size_t number;
  if (!text.getAsInteger(10, number) && number < values.size())
    return number;
  return std::nullopt;
}

static Error noValue(StringRef option, StringRef text, StringRef kind,
                     ArrayRef<ValueMetadata> values) {
  std::string named;
  for (const ValueMetadata &value : values)
    if (!value.name.empty() && named.empty())
      named = ", or its name, such as " + value.name;
  return usage("--" + option + ": the program has no " + kind + " '" + text +
               "'; expected a number from 0 to " + Twine(values.size()) +
               " (not included)" + named);
}

/// The values that "3", "a name" or "0-5" calls.
static Expected<std::vector<size_t>> findRange(StringRef option, StringRef text,
                                               StringRef kind,
                                               ArrayRef<ValueMetadata> values) {
  if (std::optional<size_t> one = findValue(values, text))
    return std::vector<size_t>{*one};
  auto [from, to] = text.split('-');
  std::optional<size_t> first = findValue(values, from),
                        last = findValue(values, to);
  if (!first || !last || *first > *last)
    return noValue(option, text, kind, values);
  std::vector<size_t> range;
  for (size_t i = *first; i <= *last; ++i)
    range.push_back(i);
  return range;
}

static Error addCarries(StepPlan &plan, const ProgramMetadata &program,
                        StringRef text) {
  auto [from, to] = text.rsplit(':');
  Expected<std::vector<size_t>> outputs =
      findRange("carry=" + text.str(), from, "result", program.results);
  if (!outputs)
    return outputs.takeError();
  Expected<std::vector<size_t>> inputs =
      findRange("carry=" + text.str(), to, "argument", program.arguments);
  if (!inputs)
    return inputs.takeError();
  if (outputs->size() != inputs->size())
    return usage("--carry=" + text + ": " + Twine(outputs->size()) +
                 " results for " + Twine(inputs->size()) + " arguments");
  for (auto [output, input] : zip_equal(*outputs, *inputs)) {
    const ValueMetadata &result = program.results[output],
                        &argument = program.arguments[input];
    std::string given = nameOf("result", output, result),
                taken = nameOf("argument", input, argument);
    if (result.elementType != argument.elementType ||
        result.shape != argument.shape)
      return usage(
          "--carry=" + text + ": " + given + " is " +
          describeArray(*elementTypeNamed(result.elementType), result.shape) +
          ", but " + taken + " is " +
          describeArray(*elementTypeNamed(argument.elementType),
                        argument.shape));
    if (!argument.partial.empty())
      return usage("--carry=" + text + ": " + taken +
                   " arrives in parts that are combined, which no result does");
    for (const StepPlan::Carry &other : plan.carries)
      if (other.input == input)
        return usage("--carry=" + text + ": " + taken + " is carried twice");
    plan.carries.push_back({output, input, ""});
  }
  return Error::success();
}

/// Gives carried values names: those of arguments, or of results, or numbers.
static void nameCarries(StepPlan &plan, const ProgramMetadata &program) {
  StringSet<> names;
  auto take = [&](StepPlan::Carry &carry, StringRef name) {
    bool isPlain = !name.empty() && name.size() <= 4096 &&
                   name != "__metadata__" &&
                   all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
    if (carry.name.empty() && isPlain && names.insert(name).second)
      carry.name = name.str();
  };
  for (StepPlan::Carry &carry : plan.carries) {
    take(carry, program.arguments[carry.input].name);
    take(carry, program.results[carry.output].name);
    for (std::string number = "arg" + std::to_string(carry.input);
         carry.name.empty(); number += "'")
      take(carry, number);
  }
}

/// Takes an array whose first dim is the step.
static Error addBatches(StepPlan &plan, const ProgramMetadata &program,
                        size_t input, NpyArray array, StringRef source) {
  const ValueMetadata &value = program.arguments[input];
  ElementType type = *elementTypeNamed(value.elementType);
  ArrayRef<int64_t> shape = array.shape;
  std::string name = nameOf("argument", input, value);
  if (plan.gives(input))
    return usage("--batches: " + name + " has batches twice");
  if (shape.empty() || !canHold(type, array.type) ||
      shape.drop_front() != ArrayRef<int64_t>(value.shape))
    return toolError(
        ExitCode::IO,
        source + ": batches of " + name + " are " +
            describeArray(type, value.shape) +
            " behind one more dim, that of the steps; the file has '" +
            array.type.str() + "' [" +
            join(map_range(shape,
                           [](int64_t size) { return std::to_string(size); }),
                 ", ") +
            "]");
  if (shape.front() == 0)
    return toolError(ExitCode::IO, source + ": holds no batch");
  plan.batches.push_back(
      {input, HostArray{type, array.shape, std::move(array.data),
                        std::move(array.file), array.inFile}});
  return Error::success();
}

static Error readBatches(StepPlan &plan, const ProgramMetadata &program,
                         StringRef text) {
  auto [what, path] = text.split('@');
  if (what.consume_back("=")) {
    std::optional<size_t> input = findValue(program.arguments, what);
    if (!input)
      return noValue("batches=" + text.str(), what, "argument",
                     program.arguments);
    Expected<NpyArray> array = readNpy(path, /*inPlace=*/true);
    if (!array)
      return ioError(array.takeError());
    return addBatches(plan, program, *input, std::move(*array), path);
  }
  if (!what.empty() || path.empty())
    return usage("--batches=" + text + ": expected ARG=@file.npy or @file.npz");
  Expected<NpzArchive> archive = NpzArchive::open(path);
  if (!archive)
    return ioError(archive.takeError());
  for (const std::string &member : archive->names()) {
    StringRef number = member;
    size_t input;
    if (!number.consume_front("in") || number.getAsInteger(10, input) ||
        input >= program.arguments.size())
      return toolError(ExitCode::IO, path + ": has a member '" + member +
                                         "'; expected in0, in1, ... of the " +
                                         Twine(program.arguments.size()) +
                                         " arguments");
    Expected<NpyArray> array =
        archive->read(member, UINT64_MAX, /*inPlace=*/true);
    if (!array)
      return ioError(array.takeError());
    if (Error error = addBatches(plan, program, input, std::move(*array), path))
      return error;
  }
  return Error::success();
}

Expected<std::optional<StepPlan>>
shardc::makeStepPlan(const ProgramMetadata &program,
                     const RunOptions &options) {
  const StepOptions &asked = options.steps;
  if (asked.steps == 0)
    return std::nullopt;
  StepPlan plan;
  plan.steps = asked.steps;
  for (const std::string &carry : asked.carries)
    if (Error error = addCarries(plan, program, carry))
      return std::move(error);
  nameCarries(plan, program);
  for (const std::string &batches : asked.batches)
    if (Error error = readBatches(plan, program, batches))
      return std::move(error);
  if (!asked.stepNumber.empty()) {
    plan.stepNumber = findValue(program.arguments, asked.stepNumber);
    if (!plan.stepNumber)
      return noValue("step-number", asked.stepNumber, "argument",
                     program.arguments);
    const ValueMetadata &value = program.arguments[*plan.stepNumber];
    if (!value.shape.empty() || !value.partial.empty() ||
        !is_contained({"i32", "i64", "ui32", "ui64"},
                      StringRef(value.elementType)))
      return usage(
          "--step-number=" + asked.stepNumber +
          ": expected an integer of 32 or 64 bits, " +
          nameOf("argument", *plan.stepNumber, value) + " is " +
          describeArray(*elementTypeNamed(value.elementType), value.shape));
  }
  for (const StepPlan::Carry &carry : plan.carries)
    if (plan.gives(carry.input))
      return usage(
          nameOf("argument", carry.input, program.arguments[carry.input]) +
          " is carried, and given by --batches or --step-number as well");
  for (const std::string &text : asked.logged) {
    std::optional<size_t> output = findValue(program.results, text);
    if (!output)
      return noValue("log", text, "result", program.results);
    const ValueMetadata &value = program.results[*output];
    if (countElements(value.shape) != 1 ||
        bytesOfShards(value, program.meshShape(), 1) == 0)
      return usage(
          "--log=" + text + ": expected a result of one element, it is " +
          describeArray(*elementTypeNamed(value.elementType), value.shape));
    plan.logged.push_back(*output);
  }
  plan.logsToErrors = options.reportJSON;
  plan.directory = asked.directory;
  plan.saveEvery = asked.saveEvery;
  plan.keep = asked.keep;
  plan.resumes = asked.resumes;
  plan.resumeStep = asked.resumeStep;
  plan.seed = options.seed;
  for (const MeshAxis &axis : program.mesh)
    plan.mesh += (plan.mesh.empty() ? "" : ",") + axis.name + "=" +
                 std::to_string(axis.size);
  if (!plan.directory.empty()) {
    if (plan.carries.empty())
      return usage("--checkpoint saves what --carry keeps from step to step, "
                   "but nothing is carried");
    std::optional<StringRef> text;
    std::unique_ptr<MemoryBuffer> buffer;
    if (options.compile.text)
      text = *options.compile.text;
    else if (auto file = MemoryBuffer::getFile(options.model)) {
      buffer = std::move(*file);
      text = buffer->getBuffer();
    }
    if (text)
      plan.program = crypto::toHex(
          crypto::sha256(crypto::bytesOf({text->data(), text->size()})));
  }
  return std::optional<StepPlan>(std::move(plan));
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {
class Runner {
public:
  Runner(Running &running, const ProgramMetadata &program, const StepPlan &plan,
         int64_t me, Rebinding *rebinding)
      : running(running), program(program), plan(plan), in(running.in),
        out(running.out), me(me), ranks(program.numRanks()),
        rebinding(rebinding) {}
  ~Runner() { shardrt_checkpoints_close(checkpoints); }

  Error run(std::vector<double> &milliseconds);

private:
  using Task = int (Runner::*)(shardrt_context *ctx, int64_t rank);

  /// Does `task` on every rank.
  Error together(Task task);
  Error check(int status) const {
    return status == SHARDRT_OK
               ? Error::success()
               : toolError(static_cast<ExitCode>(status),
                           shardrt_world_error(running.world.get()));
  }
  /// Shows `mine` of rank 0 to the others, which take it to `theirs`.
  int announce(shardrt_context *ctx, int64_t rank, const int64_t *mine,
               int64_t *theirs);

  int open(shardrt_context *ctx, int64_t rank);
  int restore(shardrt_context *ctx, int64_t rank);
  int save(shardrt_context *ctx, int64_t rank);
  int reshard(shardrt_context *ctx, int64_t rank);
  Error openDirectory();
  Error readState();
  Error writeState(int64_t step);
  Error carry();
  Error rebind();
  void give(int64_t step);
  Error log(int64_t step) const;
  /// The boxes of a value, as the runtime takes them.
  std::vector<int64_t> boxesOf(const ShardBuffers &buffers, size_t index) const;

  Running &running;
  const ProgramMetadata &program;
  const StepPlan &plan;
  ShardBuffers &in, &out;
  int64_t me, ranks;
  shardrt_checkpoints *checkpoints = nullptr;
  int64_t begins = 0; ///< the step that the state is of
  shardrt_restore *restored = nullptr;
  std::vector<int64_t> restoredValues; ///< by carry: which one
  shardrt_save *saved = nullptr;
  Rebinding *rebinding;
  std::vector<const StepPlan::Carry *> resharded;
  ShardBuffers *reshardedTo = nullptr; ///< arguments of the next step
};
} // namespace

Error Runner::together(Task task) {
  struct Call {
    Runner *runner;
    Task task;
  } call{this, task};
  return check(shardrt_world_call(
      running.world.get(),
      [](shardrt_context *ctx, void *user) {
        auto *call = static_cast<Call *>(user);
        return (call->runner->*call->task)(ctx, shardrt_rank(ctx));
      },
      &call));
}

int Runner::announce(shardrt_context *ctx, int64_t rank, const int64_t *mine,
                     int64_t *theirs) {
  SmallVector<int64_t> others;
  for (int64_t other = 1; other < ranks; ++other)
    others.push_back(other);
  int64_t first = 0;
  bool isFirst = rank == 0;
  return shardrt_show(
      ctx, mine, isFirst ? sizeof(*mine) : 0, others.data(),
      isFirst ? others.size() : 0, &first, isFirst ? 0 : 1,
      [](void *user, int64_t, const void *data) {
        std::memcpy(user, data, sizeof(int64_t));
      },
      theirs);
}

/// The process of rank 0 makes the directory, takes its lock and says from
/// which step all go on.
int Runner::open(shardrt_context *ctx, int64_t rank) {
  if (rank == 0) {
    char problem[4096] = "";
    auto refuse = [&](int code, const Twine &text) {
      return shardrt_fail(ctx, code, text.str().c_str());
    };
    if (int status =
            shardrt_checkpoints_open(plan.directory.c_str(), plan.saveEvery > 0,
                                     &checkpoints, problem, sizeof(problem)))
      return refuse(status, problem);
    int64_t count = shardrt_checkpoints_steps(checkpoints, nullptr, 0, problem,
                                              sizeof(problem));
    if (count < 0)
      return refuse(SHARDRT_IO, problem);
    std::vector<int64_t> steps(count);
    count = shardrt_checkpoints_steps(checkpoints, steps.data(), count, problem,
                                      sizeof(problem));
    if (count >= 0)
      steps.resize(std::min<size_t>(steps.size(), count));
    StringRef where = plan.directory;
    if (!plan.resumes && plan.saveEvery > 0 && !steps.empty())
      return refuse(
          SHARDRT_IO,
          where + ": holds a checkpoint of step " + Twine(steps.back()) +
              "; --resume goes on from there, or name another directory");
    if (plan.resumes && plan.resumeStep &&
        !is_contained(steps, *plan.resumeStep))
      return refuse(SHARDRT_IO, where + ": holds no checkpoint of step " +
                                    Twine(*plan.resumeStep));
    if (plan.resumes && !steps.empty())
      begins = plan.resumeStep.value_or(steps.back());
    if (plan.saveEvery > 0 && !steps.empty() && steps.back() > begins)
      return refuse(SHARDRT_IO,
                    where + ": holds a checkpoint of step " +
                        Twine(steps.back()) + ", which comes after " +
                        Twine(begins) +
                        "; move it away, or save in another directory");
    if (plan.resumes && begins == 0 && !is_contained(steps, 0))
      errs() << "shard-run: " << where
             << " holds no checkpoint: step 0 is the first\n";
  }
  int64_t announced = 0;
  int status = announce(ctx, rank, &begins, &announced);
  // Ranks that are threads all get the same.
  if (me > 0)
    begins = announced;
  return status;
}

Error Runner::openDirectory() {
  if (plan.directory.empty())
    return Error::success();
  if (Error error = together(&Runner::open))
    return error;
  char problem[4096] = "";
  if (!checkpoints)
    if (int status = shardrt_checkpoints_open(
            plan.directory.c_str(), 0, &checkpoints, problem, sizeof(problem)))
      return toolError(static_cast<ExitCode>(status), problem);
  return Error::success();
}

int Runner::restore(shardrt_context *ctx, int64_t rank) {
  char problem[4096] = "";
  int status =
      shardrt_restore_verify(restored, rank, ranks, problem, sizeof(problem));
  for (size_t i = 0; i < plan.carries.size() && status == SHARDRT_OK; ++i) {
    size_t input = plan.carries[i].input;
    SmallVector<int64_t> box;
    for (Interval interval : in.box(input, rank))
      box.append({interval.begin, interval.end});
    status =
        shardrt_restore_box(restored, restoredValues[i], box.data(),
                            in.data(input, rank), problem, sizeof(problem));
  }
  return status == SHARDRT_OK ? status : shardrt_fail(ctx, status, problem);
}

Error Runner::readState() {
  char problem[4096] = "";
  if (int status = shardrt_restore_begin(checkpoints, begins, &restored,
                                         problem, sizeof(problem)))
    return toolError(static_cast<ExitCode>(status), problem);
  scope_exit end([&] { shardrt_restore_end(restored); });
  std::string where = plan.directory + ", step " + std::to_string(begins);
  int64_t count = shardrt_restore_num_values(restored);
  for (const StepPlan::Carry &carry : plan.carries) {
    const ValueMetadata &argument = program.arguments[carry.input];
    shardrt_checkpoint_value value;
    int64_t number = 0;
    for (; number < count; ++number)
      if (shardrt_restore_value(restored, number, &value) == SHARDRT_OK &&
          value.name == carry.name)
        break;
    if (number == count)
      return toolError(ExitCode::IO,
                       where + ": has no value '" + carry.name + "', which " +
                           nameOf("argument", carry.input, argument) +
                           " is to get");
    if (value.element_type != argument.elementType ||
        ArrayRef(value.shape, value.num_dims) !=
            ArrayRef<int64_t>(argument.shape))
      return toolError(
          ExitCode::IO,
          where + ": value '" + carry.name + "' is " +
              describeArray(*elementTypeNamed(value.element_type),
                            ArrayRef(value.shape, value.num_dims)) +
              ", but " + nameOf("argument", carry.input, argument) + " is " +
              describeArray(*elementTypeNamed(argument.elementType),
                            argument.shape));
    restoredValues.push_back(number);
  }
  if (count != static_cast<int64_t>(plan.carries.size()))
    return toolError(ExitCode::IO,
                     where + ": has " + Twine(count) + " values, but " +
                         Twine(plan.carries.size()) + " are carried");
  if (Error error = together(&Runner::restore))
    return error;
  shardrt_checkpoint_info info;
  shardrt_restore_info(restored, &info);
  if (me <= 0)
    errs() << "shard-run: going on from step " << begins << " of "
           << plan.directory << ", saved by " << info.ranks
           << " ranks with the mesh " << info.mesh
           << (info.program == plan.program ? "" : ", of another program file")
           << "\n";
  return Error::success();
}

std::vector<int64_t> Runner::boxesOf(const ShardBuffers &buffers,
                                     size_t index) const {
  std::vector<int64_t> boxes;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (Interval interval : buffers.box(index, rank)) {
      boxes.push_back(interval.begin);
      boxes.push_back(interval.end);
    }
  return boxes;
}

/// Rank 0 makes the files, all write, rank 0 gathers digests and commits;
/// nobody goes on before that. Whoever fails ends it for all.
int Runner::save(shardrt_context *ctx, int64_t rank) {
  char problem[4096] = "";
  auto failed = [&](int status) { return shardrt_fail(ctx, status, problem); };
  int64_t word = 0, unused;
  if (rank == 0)
    if (int status = shardrt_save_create(saved, problem, sizeof(problem)))
      return failed(status);
  if (int status = announce(ctx, rank, &word, &unused))
    return status;
  std::vector<const void *> data;
  for (const StepPlan::Carry &carry : plan.carries)
    data.push_back(out.data(carry.output, rank));
  if (int status = shardrt_save_write(saved, rank, data.data(), problem,
                                      sizeof(problem)))
    return failed(status);
  int64_t bytes, first = 0;
  void *mine = shardrt_save_digests(saved, rank, &bytes);
  SmallVector<int64_t> others;
  for (int64_t other = 1; other < ranks; ++other)
    others.push_back(other);
  bool isFirst = rank == 0;
  int status = shardrt_show(
      ctx, mine, bytes, &first, isFirst ? 0 : 1, others.data(),
      isFirst ? others.size() : 0,
      [](void *user, int64_t source, const void *data) {
        int64_t bytes;
        void *theirs = shardrt_save_digests(static_cast<shardrt_save *>(user),
                                            source, &bytes);
        // Those of threads are there already.
        if (bytes > 0 && theirs != data)
          std::memcpy(theirs, data, bytes);
      },
      saved);
  if (status != SHARDRT_OK)
    return status;
  if (rank == 0 && (status = shardrt_save_commit(saved, plan.keep, problem,
                                                 sizeof(problem))))
    return failed(status);
  return announce(ctx, rank, &word, &unused);
}

Error Runner::writeState(int64_t step) {
  std::vector<shardrt_checkpoint_value> values;
  std::vector<std::vector<int64_t>> boxes;
  for (const StepPlan::Carry &carry : plan.carries) {
    const ValueMetadata &result = program.results[carry.output];
    boxes.push_back(boxesOf(out, carry.output));
    values.push_back({carry.name.c_str(), result.elementType.c_str(),
                      static_cast<int64_t>(result.shape.size()),
                      result.shape.data(), boxes.back().data()});
  }
  shardrt_checkpoint_info info = {step, plan.seed, ranks, plan.mesh.c_str(),
                                  plan.program.c_str()};
  char problem[4096] = "";
  if (int status =
          shardrt_save_begin(checkpoints, &info, values.data(), values.size(),
                             &saved, problem, sizeof(problem)))
    return toolError(static_cast<ExitCode>(status), problem);
  Error error = together(&Runner::save);
  shardrt_save_end(saved);
  return error;
}

int Runner::reshard(shardrt_context *ctx, int64_t rank) {
  ShardBuffers &to = *reshardedTo;
  for (const StepPlan::Carry *carry : resharded) {
    int64_t width = elementBytes(out.type(carry->output));
    // Who gives which box: the reader itself, or else the lowest that has it.
    auto sourcesOf = [&](int64_t reader) {
      SmallVector<int64_t> sources;
      const Box &wanted = to.box(carry->input, reader);
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const Box &box = out.box(carry->output, rank);
        bool isRead = all_of(zip_equal(wanted, box), [](auto pair) {
          auto [a, b] = pair;
          return std::max(a.begin, b.begin) < std::min(a.end, b.end);
        });
        bool isFirst = rank == reader ||
                       (out.box(carry->output, reader) != box &&
                        none_of(seq<int64_t>(0, rank), [&](int64_t lower) {
                          return out.box(carry->output, lower) == box;
                        }));
        if (isRead && isFirst)
          sources.push_back(rank);
      }
      return sources;
    };
    SmallVector<int64_t> readers, sources = sourcesOf(rank);
    for (int64_t other = 0; other < ranks; ++other)
      if (other != rank && is_contained(sourcesOf(other), rank))
        readers.push_back(other);
    const Box &wanted = to.box(carry->input, rank);
    char *target = to.data(carry->input, rank);
    auto take = [&](int64_t source, const void *data) {
      copyCommon(out.box(carry->output, source),
                 static_cast<const char *>(data), wanted, target, width);
    };
    if (is_contained(sources, rank)) {
      take(rank, out.data(carry->output, rank));
      erase(sources, rank);
    }
    int status = shardrt_show(
        ctx, out.data(carry->output, rank), out.bytesOf(carry->output, rank),
        readers.data(), readers.size(), sources.data(), sources.size(),
        [](void *user, int64_t source, const void *data) {
          (*static_cast<decltype(take) *>(user))(source, data);
        },
        &take);
    if (status != SHARDRT_OK)
      return status;
  }
  return SHARDRT_OK;
}

Error Runner::carry() {
  // Buffers of a result that is one argument more are copied first.
  resharded.clear();
  SmallVector<const StepPlan::Carry *> swapped;
  for (const StepPlan::Carry &carry : plan.carries) {
    bool isTaken = any_of(swapped, [&](const StepPlan::Carry *other) {
      return other->output == carry.output;
    });
    if (isTaken || out.firstOtherBox(carry.output, in, carry.input) >= 0)
      resharded.push_back(&carry);
    else
      swapped.push_back(&carry);
  }
  reshardedTo = &in;
  if (!resharded.empty())
    if (Error error = together(&Runner::reshard))
      return error;
  for (const StepPlan::Carry *carry : swapped)
    in.swap(carry->input, out, carry->output);
  return Error::success();
}

/// Goes on with other sizes: what is carried moves to where these want it.
Error Runner::rebind() {
  if (Error error = rebinding->bind())
    return error;
  SmallVector<size_t> carried;
  resharded.clear();
  for (const StepPlan::Carry &carry : plan.carries) {
    carried.push_back(carry.input);
    resharded.push_back(&carry);
  }
  Expected<Running> next = rebinding->begin(carried);
  if (!next)
    return next.takeError();
  reshardedTo = &next->in;
  if (!resharded.empty())
    if (Error error = together(&Runner::reshard))
      return error;
  running = std::move(*next);
  return Error::success();
}

void Runner::give(int64_t step) {
  for (const StepPlan::Batches &batches : plan.batches) {
    const HostArray &all = batches.all;
    HostArray one{all.type,
                  std::vector<int64_t>(all.shape.begin() + 1, all.shape.end()),
                  {}};
    int64_t bytes = one.numElements() * elementBytes(one.type);
    const char *from = all.bytes() + step % all.shape[0] * bytes;
    if (all.file) {
      one.file = all.file;
      one.inFile = {from, static_cast<size_t>(bytes)};
    } else {
      one.data.assign(from, from + bytes);
    }
    in.scatter(batches.input, one);
  }
  if (plan.stepNumber) {
    HostArray number{in.type(*plan.stepNumber), {}, {}};
    number.data.resize(elementBytes(number.type));
    std::memcpy(number.data.data(), &step, number.data.size());
    in.scatter(*plan.stepNumber, number);
  }
}

Error Runner::log(int64_t step) const {
  if (plan.logged.empty() || me > 0)
    return Error::success();
  raw_fd_ostream &stream = plan.logsToErrors ? errs() : outs();
  stream << "step " << step << ":";
  for (size_t output : plan.logged) {
    const std::string &name = program.results[output].name;
    stream << ' ' << (name.empty() ? "output " + std::to_string(output) : name)
           << " = " << printElement(out.type(output), out.data(output, 0));
  }
  stream << "\n";
  stream.flush();
  // Nobody reads on, or a disk is full: said now, not after the last step.
  if (!stream.has_error() || plan.logsToErrors)
    return Error::success();
  std::string why = stream.error().message();
  stream.clear_error();
  return toolError(ExitCode::IO, "stdout: " + why);
}

Error Runner::run(std::vector<double> &milliseconds) {
  if (Error error = openDirectory())
    return error;
  if (begins >= plan.steps) {
    if (me <= 0)
      errs() << "shard-run: " << plan.directory << " is of step " << begins
             << " already: no step is left to do\n";
    return Error::success();
  }
  if (begins > 0)
    if (Error error = readState())
      return error;
  shardrt_world_reset_stats(running.world.get());
  for (int64_t step = begins; step < plan.steps; ++step) {
    give(step);
    auto began = std::chrono::steady_clock::now();
    if (Error error = check(shardrt_world_run(running.world.get(),
                                              in.addresses(), out.addresses())))
      return error;
    ++running.steps;
    milliseconds.push_back(std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - began)
                               .count());
    if (Error error = log(step))
      return error;
    bool isLast = step + 1 == plan.steps;
    if (plan.saveEvery > 0 && (isLast || (step + 1) % plan.saveEvery == 0))
      if (Error error = writeState(step + 1))
        return error;
    bool isMoved = false;
    if (rebinding) {
      Expected<bool> moves = rebinding->look(running);
      if (!moves)
        return moves.takeError();
      isMoved = *moves;
    }
    if (!isLast)
      if (Error error = isMoved ? rebind() : carry())
        return error;
  }
  return Error::success();
}

Error shardc::runSteps(Running &running, const ProgramMetadata &program,
                       const StepPlan &plan, int64_t me, Rebinding *rebinding,
                       std::vector<double> &milliseconds) {
  return Runner(running, program, plan, me, rebinding).run(milliseconds);
}
