//===- Program.cpp - Compiled models --------------------------------------===//

#include "shardc/Engine/Program.h"
#include "Run.h"
#include "shardc/Crypto/Crypto.h"
#include "shardrt/Symbols.h"
#include <algorithm>

using namespace shardc::engine;

/// Digest of `parts`, as hexadecimal digits.
static std::string digestOf(const std::vector<std::string_view> &parts) {
  shardc::crypto::Sha256 hash;
  for (std::string_view part : parts) {
    uint64_t size = part.size();
    hash.update({reinterpret_cast<const uint8_t *>(&size), sizeof(size)});
    hash.update(shardc::crypto::bytesOf(part));
  }
  return shardc::crypto::toHex(hash.finish());
}

/// The first 64 bits of `digest`.
static uint64_t numberOf(const std::string &digest) {
  return std::stoull(digest.substr(0, 16), nullptr, 16);
}

Program::Program(Engine &engine, std::shared_ptr<const CompiledModel> compiled,
                 std::unique_ptr<const CompiledModel> given)
    : engine(&engine), compiled(std::move(compiled)),
      ofBinding(std::move(given)),
      model(ofBinding ? *ofBinding : *this->compiled) {}

Program::~Program() = default;

Program::Identity Program::identify(std::string_view text,
                                    const Options &options) {
  // Files that options name may be others by now, and so may tiles that were
  // measured.
  bool isFixed = std::none_of(options.begin(), options.end(), [](auto &option) {
    return option.second.ends_with(".json") || option.first == "tuned";
  });
  std::vector<std::string_view> parts = {text};
  for (const auto &[option, value] : options) {
    parts.push_back(option);
    parts.push_back(value);
  }
  std::string digest = digestOf(parts);
  return {isFixed ? digest : std::string(), numberOf(digest)};
}

Ref<Program> Program::find(Engine &engine, const Identity &identity) {
  return engine.programs().find(identity.key);
}

MaybeFailure Program::compile(Engine &engine, std::string_view text,
                              std::string_view name, Options options,
                              Ref<Program> &program) {
  if (MaybeFailure failure = engine.checkUsable())
    return failure;
  Identity identity = identify(text, options);
  if ((program = find(engine, identity)))
    return nullptr;
  CompiledModel model;
  if (MaybeFailure failure = compileModel(engine, text, name, options, model))
    return failure;
  return make(engine, std::move(model), identity, program);
}

MaybeFailure Program::make(Engine &engine, CompiledModel model,
                           const Identity &identity, Ref<Program> &program) {
  Ref<Program> made;
  if (MaybeFailure failure = make(engine, std::move(model), made))
    return failure;
  // Functions of the host have numbers of their process.
  made->digest = made->callsHost ? numberOf(digestOf({made->model.name}))
                                 : identity.digest;
  if (!identity.key.empty())
    engine.programs().store(identity.key, made);
  program = std::move(made);
  return nullptr;
}

MaybeFailure Program::loadArtifact(Engine &engine, std::string_view bytes,
                                   Ref<Program> &program) {
  if (MaybeFailure failure = engine.checkUsable())
    return failure;
  CompiledModel model;
  if (MaybeFailure failure = openArtifact(engine, bytes, model))
    return failure;
  return make(engine, std::move(model), program);
}

MaybeFailure Program::serialize(std::string &artifact) const {
  return makeArtifact(*compiled, artifact);
}

MaybeFailure Program::make(Engine &engine, CompiledModel model,
                           Ref<Program> &program) {
  auto made = Ref<Program>::adopt(new Program(
      engine, std::make_shared<CompiledModel>(std::move(model)), nullptr));
  if (MaybeFailure failure = made->load())
    return failure;
  // What is still to be bound may have fewer.
  bool isOpen = false;
  for (int64_t axis = 0;
       axis < shardrt_program_num_mesh_axes(made->loaded.get()); ++axis)
    isOpen |= shardrt_program_mesh_axis_is_open(made->loaded.get(), axis) != 0;
  if (!isOpen)
    if (MaybeFailure failure = made->checkRanks())
      return failure;
  program = std::move(made);
  return nullptr;
}

MaybeFailure Program::checkRanks() const {
  auto count = static_cast<int64_t>(engine->devices.size());
  if (model.numRanks <= count)
    return nullptr;
  return usage("the program has " + std::to_string(model.numRanks) +
               " ranks, but the engine has " + std::to_string(count) +
               " devices; make one with more, or give the mesh other sizes "
               "(option \"mesh\")");
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

MaybeFailure Program::bind(std::span<const GivenSizes> given,
                           std::span<const int64_t> mesh, Ref<Program> &bound) {
  if (MaybeFailure failure = engine->checkUsable())
    return failure;
  std::vector<int64_t> key = {static_cast<int64_t>(mesh.size())};
  key.insert(key.end(), mesh.begin(), mesh.end());
  for (const GivenSizes &sizes : given) {
    key.insert(key.end(), {sizes.argument, sizes.dim,
                           static_cast<int64_t>(sizes.sizes.size())});
    key.insert(key.end(), sizes.sizes.begin(), sizes.sizes.end());
  }
  if ((bound = bindings.find(key)))
    return nullptr;
  std::vector<int64_t> sizesOfAxes(mesh.begin(), mesh.end());
  if (mesh.empty())
    for (int64_t axis = 0; axis < shardrt_program_num_mesh_axes(loaded.get());
         ++axis)
      sizesOfAxes.push_back(shardrt_program_mesh_axis_size(loaded.get(), axis));
  std::vector<shardrt_given> list;
  for (const GivenSizes &sizes : given)
    list.push_back({sizes.argument, sizes.dim,
                    static_cast<int64_t>(sizes.sizes.size()),
                    sizes.sizes.data()});
  char problem[1024] = "";
  shardrt_program *made = nullptr;
  int status = shardrt_program_bind_mesh(
      loaded.get(), sizesOfAxes.data(),
      static_cast<int64_t>(sizesOfAxes.size()), list.data(),
      static_cast<int64_t>(list.size()), &made, problem, sizeof(problem));
  if (status != SHARDRT_OK)
    return fail(static_cast<Status>(status), problem);
  std::unique_ptr<shardrt_program, DestroyProgram> numbers(made);
  auto lies = std::make_unique<CompiledModel>();
  if (MaybeFailure failure = readBinding(model, sizesOfAxes,
                                         shardrt_program_metadata(made), *lies))
    return failure;
  auto result =
      Ref<Program>::adopt(new Program(*engine, compiled, std::move(lies)));
  if (MaybeFailure failure = result->checkRanks())
    return failure;
  result->callsHost = callsHost;
  result->digest = digest;
  result->code = code;
  result->main = main;
  result->loaded = std::move(numbers);
  bindings.store(key, result);
  bound = std::move(result);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Programs that are kept
//===----------------------------------------------------------------------===//

std::shared_ptr<ProgramCache> shardc::engine::makeProgramCache() {
  return std::make_shared<ProgramCache>();
}

void shardc::engine::clear(ProgramCache &programs) { programs.clear(); }

template <typename Key, size_t Most>
Ref<Program> LastPrograms<Key, Most>::find(const Key &key) {
  std::lock_guard lock(mutex);
  auto known = programs.find(key);
  if (known == programs.end())
    return nullptr;
  known->second.second = ++clock;
  return known->second.first;
}

template <typename Key, size_t Most>
void LastPrograms<Key, Most>::store(const Key &key, Ref<Program> program) {
  // What goes, goes without the lock.
  Ref<Program> oldest;
  std::lock_guard lock(mutex);
  programs[key] = {std::move(program), ++clock};
  if (programs.size() <= Most)
    return;
  auto first =
      std::min_element(programs.begin(), programs.end(), [](auto &a, auto &b) {
        return a.second.second < b.second.second;
      });
  oldest = std::move(first->second.first);
  programs.erase(first);
}

template <typename Key, size_t Most> void LastPrograms<Key, Most>::clear() {
  decltype(programs) all;
  std::lock_guard lock(mutex);
  all.swap(programs);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

MaybeFailure Program::load() {
  bool isObject = compiled->code.empty();
  const std::string &bytes = isObject ? compiled->object : compiled->code;
  callsHost = bytes.find("shardrt_call_host") != std::string::npos;
  std::unique_ptr<Code> linked;
  if (MaybeFailure failure =
          isObject ? Code::load(bytes, linked) : Code::map(bytes, linked))
    return failure;
  code = std::move(linked);
  main = reinterpret_cast<shardrt_main_fn>(code->find("shardc_main"));
  if (!main)
    return fail(Status::Artifact, "the program's code lacks shardc_main");
  // Runs come in through our own entry point.
  auto find = [](void *user, const char *symbol) -> void * {
    if (std::string_view(symbol) == "shardc_main")
      return reinterpret_cast<void *>(&Run::runRank);
    return static_cast<const Code *>(user)->find(symbol);
  };
  char problem[1024] = "";
  shardrt_program *made = nullptr;
  int status = shardrt_program_create_from(find, code.get(), &made, problem,
                                           sizeof(problem));
  if (status != SHARDRT_OK)
    return fail(static_cast<Status>(status), problem);
  loaded.reset(made);
  return nullptr;
}

MaybeFailure Program::findWorld(const int64_t *devices, World *&world) {
  if (!devices && (world = standard.load(std::memory_order_acquire)))
    return nullptr;
  int64_t ranks = model.numRanks;
  const auto count = static_cast<int64_t>(engine->devices.size());
  std::vector<int64_t> numbers, places, here;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    numbers.push_back(devices ? devices[rank] : rank);
    int64_t device = numbers.back();
    bool isOther = device >= 0 && device < count && !engine->isHere(device);
    if (MaybeFailure failure =
            isOther ? nullptr : engine->checkDevice(device)) {
      failure->message =
          "rank " + std::to_string(rank) + ": " + failure->message;
      return failure;
    }
    if (std::find(numbers.begin(), numbers.end() - 1, device) !=
        numbers.end() - 1)
      return usage("device " + std::to_string(device) +
                   " is given to two ranks");
    if (engine->isHere(device)) {
      here.push_back(rank);
      places.push_back(device - engine->firstDevice());
    }
  }
  if (here.empty())
    return usage("none of the devices that the program is laid over is of this "
                 "process");
  std::lock_guard lock(mutex);
  std::unique_ptr<World> &known = worlds[numbers];
  if (!known) {
    shardrt_crew *crew;
    if (MaybeFailure failure = engine->findCrew(crew))
      return failure;
    auto made = std::make_unique<World>();
    made->here = here;
    for (int64_t device : numbers) {
      made->devices.push_back(engine->devices[device].get());
      if (Device *mine = made->devices.back())
        made->sorted.push_back(mine);
    }
    std::sort(made->sorted.begin(), made->sorted.end(),
              [](Device *a, Device *b) { return a->index < b->index; });
    shardrt_world_options options = {};
    options.size = sizeof(options);
    options.timeout_ms = engine->options.timeoutMs;
    options.host = &Run::callHost;
    if (!callsHost)
      options.host = nullptr;
    options.crew = crew;
    options.places = places.data();
    if (static_cast<int64_t>(here.size()) < ranks) {
      options.job = engine->job();
      options.job_ranks = numbers.data();
      options.program_digest = digest;
    }
    char problem[1024] = "";
    shardrt_world *created = nullptr;
    int status = shardrt_world_create(loaded.get(), &options, &created, problem,
                                      sizeof(problem));
    if (status != SHARDRT_OK)
      return fail(static_cast<Status>(status), problem);
    made->world.reset(created);
    known = std::move(made);
  }
  world = known.get();
  if (!devices)
    standard.store(world, std::memory_order_release);
  return nullptr;
}

MaybeFailure Program::siteStats(int64_t site, shardrt_site_info &info,
                                shardrt_site_stats &stats) {
  if (shardrt_program_site_info(loaded.get(), site, &info) != SHARDRT_OK)
    return usage("the program has no site " + std::to_string(site));
  stats = {};
  std::lock_guard lock(mutex);
  for (const auto &[places, world] : worlds) {
    shardrt_site_stats part;
    if (!world || shardrt_world_site_stats(world->world.get(), -1, site,
                                           &part) != SHARDRT_OK)
      continue;
    stats.count += part.count;
    stats.bytes_received += part.bytes_received;
    stats.total_ns += part.total_ns;
    stats.wait_ns += part.wait_ns;
    stats.overlap_ns += part.overlap_ns;
  }
  return nullptr;
}

MaybeFailure Program::rankStats(int64_t rank, shardrt_rank_stats &stats) {
  stats = {};
  if (rank < 0 || rank >= model.numRanks)
    return usage("there is no rank " + std::to_string(rank) +
                 ": the program has " + std::to_string(model.numRanks));
  std::lock_guard lock(mutex);
  for (const auto &[places, world] : worlds) {
    shardrt_rank_stats part;
    if (!world)
      continue;
    if (shardrt_world_rank_stats(world->world.get(), rank, &part) != SHARDRT_OK)
      return usage("rank " + std::to_string(rank) +
                   " is one of another process");
    stats.steps += part.steps;
    stats.total_ns += part.total_ns;
    stats.wait_ns += part.wait_ns;
  }
  return nullptr;
}

MaybeFailure Program::localText(const std::string *&text) {
  if (!compiled->localText.empty()) {
    text = &compiled->localText;
    return nullptr;
  }
  std::lock_guard lock(mutex);
  if (!local) {
    std::string printed;
    if (MaybeFailure failure = printLocal(*engine, *compiled, printed))
      return failure;
    local = std::make_unique<std::string>(std::move(printed));
  }
  text = local.get();
  return nullptr;
}
