//===- Client.cpp - Client, devices, memories and topology ----------------===//
//
// A client is an engine, alone or the member of a job. Its devices are numbered
// from 0 over all processes; each has its memories.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace shardc::pjrt {

//===----------------------------------------------------------------------===//
// Named values
//===----------------------------------------------------------------------===//

NamedValue &NamedValues::append(std::string_view name, NamedValue_Type type,
                                size_t size) {
  texts.push_back(std::make_unique<std::string>(name));
  NamedValue &value = values.emplace_back();
  std::memset(&value, 0, sizeof(value));
  value.struct_size = sizeof(value);
  value.name = texts.back()->data();
  value.name_size = texts.back()->size();
  value.type = type;
  value.value_size = size;
  return value;
}

void NamedValues::add(std::string_view name, std::string_view value) {
  NamedValue &entry = append(name, NamedValue_Type_String, value.size());
  texts.push_back(std::make_unique<std::string>(value));
  entry.string_value = texts.back()->data();
}

void NamedValues::add(std::string_view name, int64_t value) {
  append(name, NamedValue_Type_Int64, 1).int64_value = value;
}

void NamedValues::add(std::string_view name, float value) {
  append(name, NamedValue_Type_Float, 1).float_value = value;
}

void NamedValues::add(std::string_view name, std::vector<int64_t> value) {
  NamedValue &entry = append(name, NamedValue_Type_Int64List, value.size());
  lists.push_back(std::make_unique<std::vector<int64_t>>(std::move(value)));
  entry.int64_array_value = lists.back()->data();
}

//===----------------------------------------------------------------------===//
// The plugin
//===----------------------------------------------------------------------===//

/// Callers write programs for the lower one of this version and their own: it
/// is what the compiler reads.
static const std::vector<int64_t> stablehloVersion = {1, 17, 0};
static const std::vector<int64_t> stablehloMinimum = {1, 0, 0};

Error *Plugin_Initialize(Plugin_Initialize_Args *) {
  if (shardc_api_version() < SHARDC_API_VERSION)
    return makeError(Error_Code_FAILED_PRECONDITION,
                     std::string("libshardc.so is older than this plugin: ") +
                         shardc_version());
  return nullptr;
}

Error *Plugin_Attributes(Plugin_Attributes_Args *args) {
  static const NamedValues *attributes = [] {
    auto *values = new NamedValues;
    values->add("xla_version", int64_t(2));
    values->add("stablehlo_current_version", stablehloVersion);
    values->add("stablehlo_minimum_version", stablehloMinimum);
    values->add("shardc_version", std::string_view(shardc_version()));
    return values;
  }();
  args->attributes = attributes->data();
  args->num_attributes = attributes->size();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Functions of the host
//===----------------------------------------------------------------------===//

static std::atomic<shardc_host_fn> hostFunction = nullptr;

int callHost(void *, const shardc_host_call *call, char *message,
             size_t messageSize) {
  if (shardc_host_fn function = hostFunction)
    return function(nullptr, call, message, messageSize);
  static const char text[] =
      "the program calls a function of the host, and the Python package "
      "jax_plugins.shardc, which knows them, was not loaded";
  if (messageSize) {
    std::strncpy(message, text, messageSize - 1);
    message[messageSize - 1] = 0;
  }
  return SHARDC_USAGE;
}

bool isCalledByJax() { return hostFunction; }

/// Says who calls functions of Python for programs, for all clients. Null: no
/// one.
extern "C" SHARDC_EXPORT void shardc_pjrt_set_host(shardc_host_fn function) {
  hostFunction = function;
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

static void *getUserData(Memory *memory, const void *key) {
  std::lock_guard lock(memory->mutex);
  auto found = memory->userData.find(key);
  return found == memory->userData.end() ? nullptr : found->second.data;
}

static void setUserData(Memory *memory, const void *key, void *data,
                        void (*destroy)(void *)) {
  Memory::UserData old = {nullptr, nullptr};
  {
    std::lock_guard lock(memory->mutex);
    Memory::UserData &entry = memory->userData[key];
    old = entry;
    entry = {data, destroy};
  }
  if (old.data && old.data != data && old.destroy)
    old.destroy(old.data);
}

static const Memory_FunctionTable memoryFunctions = {
    sizeof(Memory_FunctionTable), nullptr, sizeof(void *), getUserData,
    setUserData};

int32_t memoryKindOf(std::string_view name) {
  const auto *found =
      std::find(std::begin(memoryKinds), std::end(memoryKinds), name);
  return found == std::end(memoryKinds)
             ? -1
             : int32_t(found - std::begin(memoryKinds));
}

Memory::~Memory() {
  for (auto &[key, entry] : userData)
    if (entry.data && entry.destroy)
      entry.destroy(entry.data);
}

//===----------------------------------------------------------------------===//
// Client
//===----------------------------------------------------------------------===//

namespace {
/// What the caller's options and the environment ask for.
struct Settings {
  int64_t devices = 1;
  int64_t threads = 0;
  int64_t timeout = 0;
  int64_t processes = 1, process = 0;
  std::string host;
  std::string target = "cpu";
};
} // namespace

static Error *readNumber(const std::string &name, const std::string &text,
                         int64_t least, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  long long number = std::strtoll(text.c_str(), &end, 10);
  if (errno || text.empty() || *end || number < least)
    return invalid(name + "=" + text + ": expected a number from " +
                   std::to_string(least) + " on");
  value = number;
  return nullptr;
}

static Error *set(Settings &settings, const std::string &name,
                  const std::string &key, const std::string &value) {
  if (key == "devices")
    return readNumber(name, value, 1, settings.devices);
  if (key == "threads")
    return readNumber(name, value, 0, settings.threads);
  if (key == "timeout_ms")
    return readNumber(name, value, -1, settings.timeout);
  if (key == "num_nodes")
    return readNumber(name, value, 1, settings.processes);
  if (key == "node_id")
    return readNumber(name, value, 0, settings.process);
  if (key == "shardc_host")
    settings.host = value;
  if (key == "device")
    settings.target = value;
  return nullptr; // callers add options of their own
}

static Error *readSettings(const Client_Create_Args &args, Settings &settings) {
  static const std::pair<const char *, const char *> environment[] = {
      {"SHARDC_DEVICES", "devices"},
      {"SHARDC_DEVICE", "device"},
      {"SHARDC_THREADS", "threads"},
      {"SHARDC_TIMEOUT_MS", "timeout_ms"}};
  for (auto [name, key] : environment)
    if (const char *value = std::getenv(name); value && *value)
      if (Error *error = set(settings, name, key, value))
        return error;
  for (size_t i = 0; i < args.num_options; ++i) {
    const NamedValue &option = args.create_options[i];
    std::string name(option.name, option.name_size), value;
    if (option.type == NamedValue_Type_String)
      value.assign(option.string_value, option.value_size);
    else if (option.type == NamedValue_Type_Int64)
      value = std::to_string(option.int64_value);
    else
      continue;
    if (Error *error = set(settings, name, name, value))
      return error;
  }
  if (settings.processes > 1 &&
      (!args.kv_get_callback || !args.kv_put_callback))
    return invalid("num_nodes=" + std::to_string(settings.processes) +
                   " without a key-value store: call "
                   "jax.distributed.initialize() first");
  return nullptr;
}

namespace {
/// The caller's key-value store, for one client: words of clients that it had
/// before are others.
class KeyValues {
public:
  explicit KeyValues(const Client_Create_Args &args) : args(args) {
    static std::atomic<int64_t> clients = 0;
    prefix = "shardc/" + std::to_string(clients++) + "/";
    words.size = sizeof(words);
    words.put = [](void *user, const char *name, const char *value) {
      return static_cast<KeyValues *>(user)->put(name, value);
    };
    words.get = [](void *user, const char *name, int64_t timeoutMs, char *value,
                   size_t size) {
      return static_cast<KeyValues *>(user)->get(name, timeoutMs, value, size);
    };
    words.user = this;
  }
  const shardc_key_values *get() const { return &words; }
  /// What the store said when it last failed.
  const std::string &why() const { return said; }

private:
  int report(Error *error) {
    if (!error)
      return 0;
    said = error->message;
    delete error;
    return 1;
  }
  static Error *makeCallbackError(Error_Code code, const char *message,
                                  size_t size) {
    return makeError(code, std::string(message, size));
  }
  int put(const char *name, std::string_view value) {
    std::string key = prefix + name;
    CallbackError onError = makeCallbackError;
    KeyValuePutCallback_Args call = {};
    call.struct_size = sizeof(call);
    call.key = key.data();
    call.key_size = key.size();
    call.value = value.data();
    call.value_size = value.size();
    call.callback_error = &onError;
    call.user_arg = args.kv_put_user_arg;
    return report(args.kv_put_callback(&call));
  }
  int get(const char *name, int64_t timeoutMs, char *value, size_t size) {
    std::string key = prefix + name;
    CallbackError onError = makeCallbackError;
    KeyValueGetCallback_Args call = {};
    call.struct_size = sizeof(call);
    call.key = key.data();
    call.key_size = key.size();
    call.timeout_in_ms = int(std::min<int64_t>(timeoutMs, INT32_MAX));
    call.callback_error = &onError;
    call.user_arg = args.kv_get_user_arg;
    if (int failed = report(args.kv_get_callback(&call)))
      return failed;
    bool fits = call.value_size < size;
    if (fits) {
      std::memcpy(value, call.value, call.value_size);
      value[call.value_size] = 0;
    }
    if (call.value_deleter_callback)
      call.value_deleter_callback(call.value);
    return fits ? 0 : 1;
  }

  const Client_Create_Args &args;
  std::string prefix, said;
  shardc_key_values words = {};
};
} // namespace

/// Fills in what does not change: devices, memories and their names.
static void describe(Client &client) {
  client.platformVersion = std::string("shardc ") + shardc_version();
  int64_t numDevices = shardc_engine_num_devices(client.engine), first;
  int64_t numHere = shardc_engine_num_local_devices(client.engine, &first);
  client.process = int(shardc_engine_process(client.engine));
  for (int32_t id = 0; id < numDevices; ++id) {
    auto device = std::make_unique<Device>();
    std::string number = std::to_string(id);
    device->client = &client;
    device->isHere = id >= first && id < first + numHere;
    device->localId = int32_t(id - first);
    device->description.process =
        int(shardc_engine_device_process(client.engine, id));
    device->description.id = id;
    device->description.kind = "shardc";
    device->description.debugString = "shardc:" + number;
    device->description.string = "ShardcDevice(id=" + number + ")";
    for (int32_t kind = 0; kind < (client.onHost ? numMemoryKinds : 1);
         ++kind) {
      auto memory = std::make_unique<Memory>();
      std::string name(memoryKinds[kind]);
      memory->vtable = &memoryFunctions;
      memory->id = kind * int32_t(numDevices) + id;
      memory->kind = kind;
      memory->debugString = name + " memory of shardc:" + number;
      memory->string = "ShardcMemory(id=" + std::to_string(memory->id) +
                       ", kind=" + name + ")";
      memory->device = device.get();
      device->memories.push_back(memory.get());
      if (device->isHere)
        client.memories.push_back(memory.get());
      device->owned.push_back(std::move(memory));
    }
    client.devices.push_back(device.get());
    if (device->isHere)
      client.here.push_back(device.get());
    client.topology.descriptions.push_back(&device->description);
    client.owned.push_back(std::move(device));
  }
  client.topology.platformVersion = client.platformVersion;
  client.topology.numMemoryKinds =
      client.devices.empty() ? 0 : client.devices.front()->memories.size();
}

Client::~Client() {
  removeClient(this);
  shardc_engine_destroy(engine);
}

Error *Client_Create(Client_Create_Args *args) {
  Settings settings;
  if (Error *error = readSettings(*args, settings))
    return error;
  shardc_engine_options options = {};
  options.size = sizeof(options);
  options.devices = settings.devices;
  options.target = settings.target.c_str();
  options.threads = settings.threads;
  options.timeout_ms = settings.timeout;
  options.host = callHost;
  options.partition = cutCall;
  auto client = std::make_unique<Client>();
  KeyValues words(*args);
  shardc_job_options job = {};
  if (settings.processes > 1) {
    job.size = sizeof(job);
    job.processes = settings.processes;
    job.process = settings.process;
    job.host = settings.host.empty() ? nullptr : settings.host.c_str();
    job.key_values = words.get();
    options.job = &job;
  }
  if (Error *error =
          takeError(shardc_engine_create(&options, &client->engine))) {
    if (!words.why().empty())
      error->message += ": " + words.why();
    return error;
  }
  client->onHost = settings.target != "cuda";
  if (const char *path = std::getenv("SHARDC_REPORT"); path && *path)
    client->report = std::make_shared<Report>(path);
  describe(*client);
  addClient(client.get());
  args->client = client.release();
  return nullptr;
}

Error *Client_Destroy(Client_Destroy_Args *args) {
  delete args->client;
  return nullptr;
}

Error *Client_PlatformName(Client_PlatformName_Args *args) {
  args->platform_name = platformName.data();
  args->platform_name_size = platformName.size();
  return nullptr;
}

Error *Client_ProcessIndex(Client_ProcessIndex_Args *args) {
  args->process_index = args->client->process;
  return nullptr;
}

Error *Client_PlatformVersion(Client_PlatformVersion_Args *args) {
  args->platform_version = args->client->platformVersion.data();
  args->platform_version_size = args->client->platformVersion.size();
  return nullptr;
}

Error *Client_TopologyDescription(Client_TopologyDescription_Args *args) {
  args->topology = &args->client->topology;
  return nullptr;
}

Error *Client_Devices(Client_Devices_Args *args) {
  args->devices = args->client->devices.data();
  args->num_devices = args->client->devices.size();
  return nullptr;
}

Error *Client_AddressableDevices(Client_AddressableDevices_Args *args) {
  args->addressable_devices = args->client->here.data();
  args->num_addressable_devices = args->client->here.size();
  return nullptr;
}

static Error *lookUp(Client *client, int32_t id, Device *&device) {
  if (id < 0 || size_t(id) >= client->devices.size())
    return invalid("no device " + std::to_string(id) + ": there are " +
                   std::to_string(client->devices.size()));
  device = client->devices[id];
  return nullptr;
}

Error *Client_LookupDevice(Client_LookupDevice_Args *args) {
  return lookUp(args->client, args->id, args->device);
}

Error *
Client_LookupAddressableDevice(Client_LookupAddressableDevice_Args *args) {
  const std::vector<Device *> &here = args->client->here;
  int32_t id = args->local_hardware_id;
  if (id < 0 || size_t(id) >= here.size())
    return invalid("no device " + std::to_string(id) +
                   " of this process: there are " +
                   std::to_string(here.size()));
  args->addressable_device = here[size_t(id)];
  return nullptr;
}

Error *Client_AddressableMemories(Client_AddressableMemories_Args *args) {
  args->addressable_memories = args->client->memories.data();
  args->num_addressable_memories = args->client->memories.size();
  return nullptr;
}

Error *
Client_DefaultDeviceAssignment(Client_DefaultDeviceAssignment_Args *args) {
  int64_t count = int64_t(args->num_replicas) * args->num_partitions;
  if (args->num_replicas < 1 || args->num_partitions < 1 ||
      size_t(count) > args->default_assignment_size)
    return invalid("a device assignment of " +
                   std::to_string(args->num_replicas) + " replicas and " +
                   std::to_string(args->num_partitions) +
                   " partitions does not fit");
  if (size_t(count) > args->client->devices.size())
    return invalid("a program for " + std::to_string(count) +
                   " devices, where there are " +
                   std::to_string(args->client->devices.size()));
  // What fits is of this process.
  const Client &client = *args->client;
  bool fits = size_t(count) <= client.here.size();
  for (int64_t i = 0; i < count; ++i)
    args->default_assignment[i] =
        (fits ? client.here : client.devices)[size_t(i)]->description.id;
  return nullptr;
}

// Processes that end are noticed by those that wait for them.
Error *Client_UpdateGlobalProcessInfo(Client_UpdateGlobalProcessInfo_Args *) {
  return nullptr;
}

// Memory of the host is what devices compute in: nothing is to be mapped.
Error *Client_DmaMap(Client_DmaMap_Args *) { return nullptr; }
Error *Client_DmaUnmap(Client_DmaUnmap_Args *) { return nullptr; }

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Memory &memoryOf(const Client *client, Device *device, Memory *memory) {
  if (memory)
    return *memory;
  return (device ? device : client->here.front())->memory();
}

Error *DeviceDescription_Id(DeviceDescription_Id_Args *args) {
  args->id = args->device_description->id;
  return nullptr;
}

Error *
DeviceDescription_ProcessIndex(DeviceDescription_ProcessIndex_Args *args) {
  args->process_index = args->device_description->process;
  return nullptr;
}

Error *DeviceDescription_Attributes(DeviceDescription_Attributes_Args *args) {
  args->attributes = args->device_description->attributes.data();
  args->num_attributes = args->device_description->attributes.size();
  return nullptr;
}

Error *DeviceDescription_Kind(DeviceDescription_Kind_Args *args) {
  args->device_kind = args->device_description->kind.data();
  args->device_kind_size = args->device_description->kind.size();
  return nullptr;
}

Error *DeviceDescription_DebugString(DeviceDescription_DebugString_Args *args) {
  args->debug_string = args->device_description->debugString.data();
  args->debug_string_size = args->device_description->debugString.size();
  return nullptr;
}

Error *DeviceDescription_ToString(DeviceDescription_ToString_Args *args) {
  args->to_string = args->device_description->string.data();
  args->to_string_size = args->device_description->string.size();
  return nullptr;
}

Error *Device_GetDescription(Device_GetDescription_Args *args) {
  args->device_description = &args->device->description;
  return nullptr;
}

Error *Device_IsAddressable(Device_IsAddressable_Args *args) {
  args->is_addressable = args->device->isHere;
  return nullptr;
}

Error *Device_LocalHardwareId(Device_LocalHardwareId_Args *args) {
  args->local_hardware_id = args->device->isHere ? args->device->localId : -1;
  return nullptr;
}

Error *Device_AddressableMemories(Device_AddressableMemories_Args *args) {
  args->memories = args->device->memories.data();
  args->num_memories = args->device->memories.size();
  return nullptr;
}

Error *Device_DefaultMemory(Device_DefaultMemory_Args *args) {
  args->memory = &args->device->memory();
  return nullptr;
}

Error *Device_MemoryStats(Device_MemoryStats_Args *args) {
  shardc_memory_stats stats = {};
  stats.size = sizeof(stats);
  if (Error *error = takeError(shardc_engine_memory_stats(
          args->device->client->engine, args->device->description.id, &stats)))
    return error;
  Device_MemoryStats_Args answer = {};
  answer.struct_size = args->struct_size;
  answer.extension_start = args->extension_start;
  answer.device = args->device;
  answer.bytes_in_use = stats.bytes_in_use;
  answer.peak_bytes_in_use = stats.peak_bytes_in_use;
  answer.peak_bytes_in_use_is_set = true;
  answer.num_allocs = stats.num_allocs;
  answer.num_allocs_is_set = true;
  answer.bytes_limit = stats.bytes_limit;
  answer.bytes_limit_is_set = stats.bytes_limit != 0;
  // Devices of the host share its memory: what each can have if all have as
  // much. JAX's callers read it wherever there are figures at all.
  const Client &client = *args->device->client;
  answer.bytes_reservable_limit =
      stats.bytes_limit / (client.onHost ? client.here.size() : 1);
  answer.bytes_reservable_limit_is_set = answer.bytes_limit_is_set;
  *args = answer;
  return nullptr;
}

Error *Device_ClearMemoryStats(Device_ClearMemoryStats_Args *) {
  return makeError(Error_Code_UNIMPLEMENTED,
                   "peaks of memory count from the start of the process on");
}

Error *Device_GetAttributes(Device_GetAttributes_Args *args) {
  args->attributes = args->device->description.attributes.data();
  args->num_attributes = args->device->description.attributes.size();
  args->device_attributes = nullptr;
  args->attributes_deleter = [](Device_Attributes *) {};
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Memories, for callers
//===----------------------------------------------------------------------===//

Error *Memory_Id(Memory_Id_Args *args) {
  args->id = args->memory->id;
  return nullptr;
}

Error *Memory_Kind(Memory_Kind_Args *args) {
  std::string_view kind = memoryKinds[args->memory->kind];
  args->kind = kind.data();
  args->kind_size = kind.size();
  return nullptr;
}

Error *Memory_Kind_Id(Memory_Kind_Id_Args *args) {
  args->kind_id = args->memory->kind;
  return nullptr;
}

Error *Memory_DebugString(Memory_DebugString_Args *args) {
  args->debug_string = args->memory->debugString.data();
  args->debug_string_size = args->memory->debugString.size();
  return nullptr;
}

Error *Memory_ToString(Memory_ToString_Args *args) {
  args->to_string = args->memory->string.data();
  args->to_string_size = args->memory->string.size();
  return nullptr;
}

Error *Memory_AddressableByDevices(Memory_AddressableByDevices_Args *args) {
  args->devices = &args->memory->device;
  args->num_devices = 1;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Topology: that of a client
//===----------------------------------------------------------------------===//

Error *TopologyDescription_Destroy(TopologyDescription_Destroy_Args *) {
  return nullptr; // part of its client
}

Error *
TopologyDescription_PlatformName(TopologyDescription_PlatformName_Args *args) {
  args->platform_name = platformName.data();
  args->platform_name_size = platformName.size();
  return nullptr;
}

Error *TopologyDescription_PlatformVersion(
    TopologyDescription_PlatformVersion_Args *args) {
  args->platform_version = args->topology->platformVersion.data();
  args->platform_version_size = args->topology->platformVersion.size();
  return nullptr;
}

Error *TopologyDescription_GetDeviceDescriptions(
    TopologyDescription_GetDeviceDescriptions_Args *args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

/// Identifies a topology.
static std::string identity(const TopologyDescription &topology) {
  return topology.platformVersion + ", " +
         std::to_string(topology.descriptions.size()) + " devices";
}

Error *TopologyDescription_Serialize(TopologyDescription_Serialize_Args *args) {
  auto *text = new std::string(identity(*args->topology));
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_topology = reinterpret_cast<SerializedTopology *>(text);
  args->serialized_topology_deleter = [](SerializedTopology *topology) {
    delete reinterpret_cast<std::string *>(topology);
  };
  return nullptr;
}

Error *
TopologyDescription_Attributes(TopologyDescription_Attributes_Args *args) {
  args->attributes = args->topology->attributes.data();
  args->num_attributes = args->topology->attributes.size();
  return nullptr;
}

Error *
TopologyDescription_Fingerprint(TopologyDescription_Fingerprint_Args *args) {
  args->fingerprint = std::hash<std::string>()(identity(*args->topology));
  return nullptr;
}

Error *TopologyDescription_GetMemorySpaceKindIds(
    TopologyDescription_GetMemorySpaceKindIds_Args *args) {
  static const int kinds[numMemoryKinds] = {0, 1, 2};
  args->memory_space_kind_ids = kinds;
  args->num_memory_space_kind_ids = args->topology->numMemoryKinds;
  return nullptr;
}

} // namespace shardc::pjrt
