//===- Cudnn.cpp - Convolutions by cuDNN ----------------------------------===//
//
// Through cuDNN's graph backend: a graph of one op, engine configurations from
// its heuristics, the first that may be used. Engines that round factors to
// fewer bits than they have (tf32 among them), change the order of work from
// run to run, or go over Winograd's or Fourier's forms are not used.
//
//===----------------------------------------------------------------------===//

#include "Device/Cuda/LibraryCalls.h"
#include <map>

using namespace shardrt;
using namespace shardrt::libraries;
using namespace shardrt::libraries::dnn;

namespace {
/// A descriptor of cuDNN's, destroyed with this.
class Descriptor {
public:
  Descriptor() = default;
  Descriptor(const Cudnn &library, int type) : library(&library) {
    status = library.descriptorCreate(type, &handle);
  }
  Descriptor(Descriptor &&other) { *this = std::move(other); }
  Descriptor &operator=(Descriptor &&other) {
    std::swap(library, other.library);
    std::swap(handle, other.handle);
    std::swap(status, other.status);
    return *this;
  }
  ~Descriptor() {
    if (handle)
      library->descriptorDestroy(handle);
  }

  Descriptor &set(int attribute, int type, int64_t count, const void *values) {
    if (status == 0)
      status = library->set(handle, attribute, type, count, values);
    return *this;
  }
  template <typename T> Descriptor &set(int attribute, int type, T value) {
    return set(attribute, type, 1, &value);
  }
  Descriptor &set(int attribute, const Descriptor &other) {
    return set(attribute, TypeDescriptor, 1, &other.handle);
  }
  Descriptor &finalize() {
    if (status == 0)
      status = library->finalize(handle);
    return *this;
  }

  const Cudnn *library = nullptr;
  void *handle = nullptr;
  Status status = 0; ///< of the first call that failed
};

class Convolutions final : public Provider {
public:
  Convolutions(const Cudnn &library, Device &device, Workspace &workspace)
      : library(library), device(device), workspace(workspace) {}
  ~Convolutions() override {
    plans.clear();
    if (handle)
      library.destroy(handle);
  }
  Outcome run(const Call &call, std::string &why) override;

private:
  struct Plan {
    Descriptor plan;
    /// What it was made of.
    std::vector<Descriptor> parts;
    int64_t bytes = 0;
    bool offered = false;
  };
  bool check(Status status, const char *what, std::string &why) {
    if (status == 0)
      return true;
    why = std::string("cuDNN: ") + what +
          " failed: " + library.getErrorString(status);
    return false;
  }
  bool prepare(const Call &call, Plan &plan, std::string &why);
  /// The first configuration of `graph` that may be used.
  bool choose(const Descriptor &graph, int mode, ElementType type, Plan &plan);
  bool mayUse(void *config, ElementType type);

  const Cudnn &library;
  Device &device;
  Workspace &workspace;
  void *handle = nullptr;
  std::map<std::vector<int64_t>, Plan> plans;
};
} // namespace

static int typeOf(ElementType type) {
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

/// Operands of a call by what they are: x, w and y.
static std::array<const Operand *, 3> byRole(const Call &call) {
  const Operand *first = &call.operands[0], *second = &call.operands[1],
                *result = &call.result();
  if (call.numbers[0] == SHARDRT_CALL_FILTER)
    return {first, result, second};
  return {first, second, result};
}

/// Whether cuDNN finds as many points as the result, or y, has.
static bool sizesAgree(const Call &call) {
  auto [x, w, y] = byRole(call);
  for (int64_t i = 0; i < call.numbers[1]; ++i) {
    int64_t stride = call.numbers[3 + i], dilation = call.numbers[6 + i];
    int64_t rest = x->sizes[2 + i] + 2 * call.numbers[9 + i] -
                   (w->sizes[2 + i] - 1) * dilation - 1;
    if (stride < 1 || dilation < 1 || rest < 0 ||
        rest / stride + 1 != y->sizes[2 + i])
      return false;
  }
  int64_t groups = call.numbers[2];
  return groups >= 1 && x->sizes[0] == y->sizes[0] &&
         x->sizes[1] == groups * w->sizes[1] && w->sizes[0] == y->sizes[1] &&
         w->sizes[0] % groups == 0;
}

bool Convolutions::mayUse(void *config, ElementType type) {
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
    if (notes[i] == NoteTensorCore && type == ElementType::F32)
      return false; // by tf32
    if (notes[i] == NoteDownConvert || notes[i] == NoteReducedReduction ||
        notes[i] == NoteNondeterministic || notes[i] == NoteFft ||
        (notes[i] >= NoteWinograd && notes[i] <= NoteWinogradLast))
      return false;
  }
  return true;
}

bool Convolutions::choose(const Descriptor &graph, int mode, ElementType type,
                          Plan &plan) {
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
    if (!mayUse(handles[i], type))
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

/// A tensor of (n, channels, spatial...) as cuDNN describes one.
static Descriptor tensorOf(const Cudnn &library, const Operand &operand,
                           int64_t id) {
  Descriptor tensor(library, Tensor);
  int64_t strides[SHARDRT_CALL_DIMS];
  for (int64_t dim = 0; dim < operand.rank; ++dim)
    strides[dim] = operand.strides[dim];
  // A dim of one element still says where the next would be.
  for (int64_t dim = operand.rank; dim-- > 0;)
    if (operand.sizes[dim] == 1 && strides[dim] < 1)
      strides[dim] = 1;
  tensor.set(TensorDataType, TypeDataType, typeOf(operand.type))
      .set(TensorDimensions, TypeInt64, operand.rank, operand.sizes.data())
      .set(TensorStrides, TypeInt64, operand.rank, strides)
      .set(TensorId, TypeInt64, id)
      .set(TensorAlignment, TypeInt64, alignmentOf(operand.address))
      .finalize();
  return tensor;
}

bool Convolutions::prepare(const Call &call, Plan &plan, std::string &why) {
  if (!handle && !check(library.create(&handle), "starting", why))
    return false;
  int64_t what = call.numbers[0], dims = call.numbers[1];
  std::array<const Operand *, 3> operands = byRole(call);
  bool isDouble = call.result().type == ElementType::F64;
  Descriptor convolution(library, Convolution);
  convolution
      .set(ConvolutionCompute, TypeDataType, int(isDouble ? Double : Float))
      .set(ConvolutionMode, TypeConvolutionMode, int(CrossCorrelation))
      .set(ConvolutionSpatialDims, TypeInt64, dims)
      .set(ConvolutionStrides, TypeInt64, dims, &call.numbers[3])
      .set(ConvolutionDilations, TypeInt64, dims, &call.numbers[6])
      .set(ConvolutionPrePaddings, TypeInt64, dims, &call.numbers[9])
      .set(ConvolutionPostPaddings, TypeInt64, dims, &call.numbers[9])
      .finalize();
  Descriptor x = tensorOf(library, *operands[0], 1),
             w = tensorOf(library, *operands[1], 2),
             y = tensorOf(library, *operands[2], 3);
  bool isFilter = what == SHARDRT_CALL_FILTER;
  int first = isFilter ? FilterAlpha : ForwardAlpha;
  Descriptor op(library, isFilter ? OperationFilter : OperationForward);
  float one32 = 1, zero32 = 0;
  double one64 = 1, zero64 = 0;
  if (isDouble)
    op.set(first, TypeDouble, one64).set(first + 1, TypeDouble, zero64);
  else
    op.set(first, TypeFloat, one32).set(first + 1, TypeFloat, zero32);
  // Both ops name w, x and y in this order.
  op.set(first + 2, convolution)
      .set(first + 3, w)
      .set(first + 4, x)
      .set(first + 5, y)
      .finalize();
  Descriptor graph(library, Graph);
  graph.set(GraphHandle, TypeHandle, handle)
      .set(GraphOperations, op)
      .finalize();
  // What it does not take is refused on the way.
  for (const Descriptor *each : {&convolution, &x, &w, &y, &op, &graph})
    if (each->status != 0)
      return true;
  ElementType type = call.operands[0].type;
  if (!choose(graph, HeuristicsA, type, plan))
    choose(graph, HeuristicsFallback, type, plan);
  for (Descriptor *each : {&convolution, &x, &w, &y, &op, &graph})
    plan.parts.push_back(std::move(*each));
  return true;
}

Outcome Convolutions::run(const Call &call, std::string &why) {
  int64_t dims = call.numbers[1];
  if (call.numOperands != 3 || call.epilogue != 0 || dims < 1 || dims > 3)
    return Outcome::NotOffered;
  for (int64_t i = 0; i < 3; ++i)
    if (call.operands[i].rank != dims + 2 || typeOf(call.operands[i].type) < 0)
      return Outcome::NotOffered;
  if (!sizesAgree(call))
    return Outcome::NotOffered;
  auto known = plans.find(call.key);
  if (known == plans.end()) {
    if (plans.size() >= mostPlans)
      return Outcome::NotOffered;
    Plan plan;
    if (!prepare(call, plan, why))
      return Outcome::Failed;
    known = plans.emplace(call.key, std::move(plan)).first;
  }
  const Plan &plan = known->second;
  if (!plan.offered)
    return Outcome::NotOffered;
  void *memory = nullptr;
  if (plan.bytes > 0 && !(memory = workspace.get(plan.bytes))) {
    why = "no memory for " + std::to_string(plan.bytes) +
          " bytes of cuDNN's: " + device.error;
    return Outcome::Failed;
  }
  std::array<const Operand *, 3> operands = byRole(call);
  int64_t ids[] = {1, 2, 3};
  void *addresses[] = {operands[0]->address, operands[1]->address,
                       operands[2]->address};
  Descriptor pack(library, VariantPack);
  auto held = device.hold();
  pack.set(PackIds, TypeInt64, 3, ids)
      .set(PackPointers, TypePointer, 3, addresses)
      .set(PackWorkspace, TypePointer, memory)
      .finalize();
  if (!check(pack.status, "naming its operands", why) ||
      !check(library.setStream(handle, device.stream()), "giving it a stream",
             why) ||
      !check(library.execute(handle, plan.plan.handle, pack.handle),
             "a convolution", why))
    return Outcome::Failed;
  return Outcome::Done;
}

std::unique_ptr<Provider> libraries::makeConvolutions(const Cudnn &library,
                                                      Device &device,
                                                      Workspace &workspace) {
  return std::make_unique<Convolutions>(library, device, workspace);
}
