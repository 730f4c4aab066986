//===- CudnnGraph.h - Calls that are graphs of cuDNN's ----------*- C++ -*-===//
//
// Through cuDNN's graph backend: a graph of ops, engine configurations from its
// heuristics, the first that may be used. Engines that round factors to fewer
// bits than they have (tf32 among them), change the order of work from run to
// run, or go over Winograd's or Fourier's forms are not used.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_CUDNNGRAPH_H
#define SHARDRT_DEVICE_CUDA_CUDNNGRAPH_H

#include "Device/Cuda/LibraryCalls.h"
#include <map>

namespace shardrt::libraries::dnn {

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

/// cudnnDataType_t; -1 where there is none.
int typeOf(ElementType type);

/// The result of a graph.
struct GraphPlan {
  Descriptor plan;
  /// What it was made of. Destroyed behind it.
  std::vector<Descriptor> parts;
  int64_t bytes = 0;
  bool offered = false;
};

/// Does calls as graphs.
class GraphProvider : public Provider {
public:
  GraphProvider(const Cudnn &library, Device &device, Workspace &workspace)
      : library(library), device(device), workspace(workspace) {}
  ~GraphProvider() override;

protected:
  /// Makes a graph of `operations`, which are among `plan.parts` with all that
  /// they name, and plans it; not offered where cuDNN refused any of these.
  /// Tensor cores round f32 to tf32: they are used only if `onTensorCores`.
  void choose(const std::vector<void *> &operations, bool onTensorCores,
              GraphPlan &plan);
  /// The plan that is kept for `key`, or a new one that `fill` fills in; null
  /// where there are too many, or cuDNN does not start.
  template <typename Fill>
  const GraphPlan *planFor(const std::vector<int64_t> &key, std::string &why,
                           Fill fill) {
    auto known = plans.find(key);
    if (known == plans.end()) {
      if (plans.size() >= mostPlans || !start(why))
        return nullptr;
      known = plans.emplace(key, GraphPlan()).first;
      fill(known->second);
    }
    return &known->second;
  }
  /// Runs `plan` on the device's stream; `what` is it as a message names it.
  Outcome execute(const GraphPlan &plan, const std::vector<int64_t> &ids,
                  const std::vector<void *> &addresses, const char *what,
                  std::string &why);

  const Cudnn &library;
  Device &device;
  Workspace &workspace;

private:
  bool start(std::string &why);
  bool check(Status status, const char *what, std::string &why);
  /// The first configuration of `graph` that may be used.
  bool configure(const Descriptor &graph, int mode, bool onTensorCores,
                 GraphPlan &plan);
  bool mayUse(void *config, bool onTensorCores);

  void *handle = nullptr;
  std::map<std::vector<int64_t>, GraphPlan> plans;
};

} // namespace shardrt::libraries::dnn

#endif // SHARDRT_DEVICE_CUDA_CUDNNGRAPH_H
