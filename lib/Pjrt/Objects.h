//===- Objects.h - What the opaque types of PJRT are ------------*- C++ -*-===//
//
// The classes behind the pointers that callers hold. Each is a thin cover of
// an object of shardc's C API, which is all that this room knows of shardc.
// Errors are values: a function returns null or an Error that its caller owns.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PJRT_OBJECTS_H
#define SHARDC_PJRT_OBJECTS_H

#include "Abi.h"
#include "Report.h"
#include "shardc-c/shardc.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Callers may go through the table of functions instead of the API's.
struct Error {
  const Error_FunctionTable *vtable;
  Error_Code code;
  std::string message;
};

const Error_FunctionTable *errorFunctions();
/// Makes an error that the caller owns.
Error *makeError(Error_Code code, std::string message);
/// An argument that cannot be: Error_Code_INVALID_ARGUMENT.
Error *invalid(std::string message);
/// What the C API said, with its location before it; takes `error` over. Null
/// for null.
Error *takeError(shardc_error *error);
/// The way back: an error of the C API, null for OK.
shardc_error *giveError(Error_Code code, const char *message, size_t size);

//===----------------------------------------------------------------------===//
// Handles of the C API
//===----------------------------------------------------------------------===//

struct ReleaseBuffer {
  void operator()(shardc_buffer *buffer) const {
    shardc_buffer_release(buffer);
  }
};
using BufferHandle = std::unique_ptr<shardc_buffer, ReleaseBuffer>;

using EventHandle = std::shared_ptr<shardc_event>;
EventHandle ownEvent(shardc_event *event);

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Ready from the first where `handle` is null.
struct Event {
  EventHandle handle;
  /// Of one that its owner sets: whether that was done.
  std::atomic<bool> isSet = false;

  explicit Event(EventHandle handle = nullptr) : handle(std::move(handle)) {}
};

//===----------------------------------------------------------------------===//
// Values that callers read: name and number, text or list
//===----------------------------------------------------------------------===//

/// A list of named values and what they point to. Not copied: pointers go
/// inside.
class NamedValues {
public:
  NamedValues() = default;
  NamedValues(const NamedValues &) = delete;
  NamedValues &operator=(const NamedValues &) = delete;

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, int64_t value);
  void add(std::string_view name, float value);
  void add(std::string_view name, std::vector<int64_t> value);
  const NamedValue *data() const { return values.data(); }
  size_t size() const { return values.size(); }

private:
  NamedValue &append(std::string_view name, NamedValue_Type type, size_t size);
  std::vector<NamedValue> values;
  std::vector<std::unique_ptr<std::string>> texts;
  std::vector<std::unique_ptr<std::vector<int64_t>>> lists;
};

//===----------------------------------------------------------------------===//
// Client, devices, memories, topology
//===----------------------------------------------------------------------===//

struct DeviceDescription {
  int32_t id;
  int process = 0;
  std::string kind, debugString, string;
  NamedValues attributes;
};

/// Memories that a device reaches, by their place in its list: its own, which
/// it computes in, and two names for the host's. Where devices compute in the
/// host's memory the three are one, and a value is in the one that its program
/// or its owner says.
inline constexpr std::string_view memoryKinds[] = {"device", "pinned_host",
                                                   "unpinned_host"};
inline constexpr int32_t numMemoryKinds = 3;
/// The place of a kind in that list; -1 for one that there is not.
int32_t memoryKindOf(std::string_view name);

struct Memory {
  const Memory_FunctionTable *vtable;
  int32_t id;
  int32_t kind; ///< in memoryKinds
  std::string debugString, string;
  Device *device;
  /// What callers attached, by their keys, and who frees it.
  struct UserData {
    void *data;
    void (*destroy)(void *);
  };
  std::mutex mutex;
  std::map<const void *, UserData> userData;
  ~Memory();
};

struct Device {
  Client *client;
  bool isHere = true;  ///< of this process, where it is the
  int32_t localId = 0; ///< so manieth
  DeviceDescription description;
  /// The host's only where devices compute there: a GPU reaches its own.
  std::vector<std::unique_ptr<Memory>> owned;
  std::vector<Memory *> memories;
  Memory &memory() const { return *memories.front(); }
};

struct TopologyDescription {
  std::string platformVersion;
  std::vector<DeviceDescription *> descriptions;
  size_t numMemoryKinds = 0;
  NamedValues attributes;
};

struct Client {
  shardc_engine *engine = nullptr;
  /// Whether devices use the memory of the host.
  bool onHost = true;
  std::string platformVersion;
  std::vector<std::unique_ptr<Device>> owned;
  int process = 0;
  std::vector<Device *> devices;
  // Of this process.
  std::vector<Device *> here;
  std::vector<Memory *> memories;
  TopologyDescription topology;
  /// Of what programs do; null unless it was asked for.
  std::shared_ptr<Report> report;
  ~Client();
};

inline constexpr std::string_view platformName = "shardc";

/// For the profiler, which knows no client: those that there are.
void addClient(Client *client);
void removeClient(Client *client);
const Profiler_Api *profilerFunctions();

/// The memory that a call names, or that of the device that it names; the
/// first device's where it names none.
Memory &memoryOf(const Client *client, Device *device, Memory *memory);

/// Functions of the process that programs call: given by the Python package.
int callHost(void *user, const shardc_host_call *call, char *message,
             size_t messageSize);
/// Whether that package is there: programs are JAX's then.
bool isCalledByJax();
/// Cuts a custom call, as who was given by Partitioner_Register says.
int cutCall(void *user, const shardc_partition_call *call, char *message,
            size_t messageSize);

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

struct Buffer {
  Memory *memory;
  Device *device; ///< the memory's
  BufferHandle handle;
  Buffer_Type type;
  /// The handle's, or `ordered`: a step makes and drops hundreds of buffers.
  std::span<const int64_t> dims;
  /// Null for row-major. Else `handle` has the dims in another order.
  Layouts_MemoryLayout *layout;
  /// With a layout: the dims as callers count them.
  std::vector<int64_t> ordered;
  /// How often callers hold its memory.
  std::atomic<int64_t> pins = 0;
  /// Whether a caller has looked into it. What was read once is with the host.
  std::atomic<bool> wasRead = false;

  /// Takes `handle` over.
  Buffer(Memory &memory, shardc_buffer *handle,
         Layouts_MemoryLayout *layout = nullptr);
  ~Buffer();
  /// Makes it a token to callers, who cannot read that.
  void becomeToken();
};

/// A dense layout: the order of dims in memory.
struct Layouts_MemoryLayout {
  std::vector<int64_t> majorToMinor, minorToMajor;
  /// As callers read it: dims from the fastest to the slowest, `{1,0}`.
  std::string text;
};

/// The one object for a layout; never deleted.
Layouts_MemoryLayout *layoutOf(const std::vector<int64_t> &majorToMinor);
/// That of dense row-major arrays of this many dims.
Layouts_MemoryLayout *rowMajor(size_t numDims);

/// PJRT's type of a code of the C API; INVALID for one that it lacks.
Buffer_Type bufferType(shardc_element_type type);
/// The C API's code of `type`; 0 for one that it lacks.
shardc_element_type elementType(Buffer_Type type);
std::string_view bufferTypeName(Buffer_Type type);

/// A buffer that is filled, or fails, when `ready` is set.
Error *createLater(Memory &memory, Buffer_Type type, const int64_t *dims,
                   size_t numDims, const Buffer_MemoryLayout *layout,
                   shardc_event *ready, std::unique_ptr<Buffer> &buffer);
/// An error that says which call used a buffer that was given up; else null.
Error *checkAlive(const Buffer &buffer, const char *call);

/// The distance in bytes from element to element of each dim that `layout`
/// says, of `dims` elements of `elementBytes`; dense and row-major for null.
Error *byteStrides(const Buffer_MemoryLayout *layout,
                   std::span<const int64_t> dims, int64_t elementBytes,
                   std::vector<int64_t> &strides);
/// Refuses layouts of devices but the dense row-major one.
Error *checkRowMajor(const Buffer_MemoryLayout *layout, size_t numDims);

} // namespace shardc::pjrt

#endif // SHARDC_PJRT_OBJECTS_H
