//===- CudnnGraph.cpp - Calls that are graphs of cuDNN's ------------------===//

#include "Device/Cuda/CudnnGraph.h"

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::dnn;

int dnn::typeOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return Half;
  case ElementType::BF16:
    return BFloat16;
  case ElementType::F32:
    return Float;
  case ElementType::F64:
    return Double;
  default:
    return -1;
  }
}

GraphProvider::~GraphProvider() {
  plans.clear();
  if (handle)
    library.destroy(handle);
}

bool GraphProvider::check(Status status, const char *what, std::string &why) {
  if (status == 0)
    return true;
  why = std::string("cuDNN: ") + what +
        " failed: " + library.getErrorString(status);
  return false;
}

bool GraphProvider::start(std::string &why) {
  return handle || check(library.create(&handle), "starting", why);
}

bool GraphProvider::mayUse(void *config, bool onTensorCores) {
  // The configuration's engine is copied into a descriptor of ours.
  Descriptor engine(library, Engine);
  int64_t count = 0;
  if (engine.status != 0 || library.get(config, ConfigEngine, TypeDescriptor, 1,
                                        &count, &engine.handle) != 0)
    return false;
  int notes[NoteCount] = {};
  if (library.get(engine.handle, EngineNotes, TypeNote, NoteCount, &count,
                  notes) != 0)
    return false;
  for (int64_t i = 0; i < count && i < NoteCount; ++i) {
    if (notes[i] == NoteTensorCore && !onTensorCores)
      return false;
    if (notes[i] == NoteDownConvert || notes[i] == NoteReducedReduction ||
        notes[i] == NoteNondeterministic || notes[i] == NoteFft ||
        (notes[i] >= NoteWinograd && notes[i] <= NoteWinogradLast))
      return false;
  }
  return true;
}

bool GraphProvider::configure(const Descriptor &graph, int mode,
                              bool onTensorCores, GraphPlan &plan) {
  Descriptor heuristics(library, Heuristics);
  heuristics.set(HeuristicsGraph, graph)
      .set(HeuristicsMode, TypeHeuristicsMode, mode)
      .finalize();
  if (heuristics.status != 0)
    return false;
  constexpr int64_t most = 16;
  std::vector<Descriptor> configs;
  std::vector<void *> handles;
  for (int64_t i = 0; i < most; ++i) {
    configs.emplace_back(library, EngineConfig);
    if (configs.back().status != 0)
      return false;
    handles.push_back(configs.back().handle);
  }
  int64_t found = 0;
  if (library.get(heuristics.handle, HeuristicsResults, TypeDescriptor, most,
                  &found, handles.data()) != 0)
    return false;
  for (int64_t i = 0; i < found && i < most; ++i) {
    if (!mayUse(handles[i], onTensorCores))
      continue;
    Descriptor candidate(library, dnn::Plan);
    candidate.set(PlanHandle, TypeHandle, handle)
        .set(PlanConfig, configs[i])
        .finalize();
    int64_t bytes = 0, count = 0;
    if (candidate.status != 0 ||
        library.get(candidate.handle, PlanWorkspace, TypeInt64, 1, &count,
                    &bytes) != 0 ||
        bytes > Workspace::most)
      continue;
    plan.plan = std::move(candidate);
    plan.parts.push_back(std::move(configs[i]));
    plan.bytes = bytes;
    return plan.offered = true;
  }
  return false;
}

void GraphProvider::choose(const std::vector<void *> &operations,
                           bool onTensorCores, GraphPlan &plan) {
  Descriptor graph(library, Graph);
  graph.set(GraphHandle, TypeHandle, handle)
      .set(GraphOperations, TypeDescriptor,
           static_cast<int64_t>(operations.size()), operations.data())
      .finalize();
  // What it does not take is refused on the way.
  bool isWhole = graph.status == 0;
  for (const Descriptor &part : plan.parts)
    isWhole &= part.status == 0;
  if (isWhole && !configure(graph, HeuristicsA, onTensorCores, plan))
    configure(graph, HeuristicsFallback, onTensorCores, plan);
  plan.parts.push_back(std::move(graph));
}

Outcome GraphProvider::execute(const GraphPlan &plan,
                               const std::vector<int64_t> &ids,
                               const std::vector<void *> &addresses,
                               const char *what, std::string &why) {
  if (!plan.offered)
    return Outcome::NotOffered;
  void *memory = nullptr;
  if (plan.bytes > 0 && !(memory = workspace.get(plan.bytes))) {
    why = "no memory for " + std::to_string(plan.bytes) +
          " bytes of cuDNN's: " + device.error;
    return Outcome::Failed;
  }
  auto count = static_cast<int64_t>(ids.size());
  Descriptor pack(library, VariantPack);
  auto held = device.hold();
  pack.set(PackIds, TypeInt64, count, ids.data())
      .set(PackPointers, TypePointer, count, addresses.data())
      .set(PackWorkspace, TypePointer, memory)
      .finalize();
  if (!check(pack.status, "naming its operands", why) ||
      !check(library.setStream(handle, device.stream()), "giving it a stream",
             why) ||
      !check(library.execute(handle, plan.plan.handle, pack.handle), what, why))
    return Outcome::Failed;
  return Outcome::Done;
}
