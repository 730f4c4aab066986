//===- Process.cpp - What the system says of a process --------------------===//

#include "Comm/Shared/Process.h"
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace shardrt;

/// A file of /proc, whose size nobody knows before; empty where there is none.
static std::string readFile(const std::string &path) {
  std::string text;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return text;
  char buffer[4096];
  // More than any environment that a launcher sets.
  constexpr size_t most = 4 << 20;
  for (ssize_t count;
       text.size() < most && (count = read(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, count);
  close(file);
  return text;
}

static std::string pathOf(int64_t process) {
  return "/proc/" + std::to_string(process);
}

ProcessState shardrt::stateOf(int64_t process) {
  // Its name, in parentheses, may hold anything.
  std::string text = readFile(pathOf(process) + "/stat");
  size_t end = text.rfind(") ");
  if (end == std::string::npos || end + 4 > text.size())
    return {};
  return {text[end + 2], std::strtoll(text.c_str() + end + 3, nullptr, 10)};
}

std::vector<int64_t> shardrt::childrenOf(int64_t process) {
  std::vector<int64_t> children;
  std::string tasks = pathOf(process) + "/task";
  DIR *directory = opendir(tasks.c_str());
  if (!directory)
    return children;
  while (dirent *entry = readdir(directory)) {
    if (entry->d_name[0] == '.')
      continue;
    std::string text = readFile(tasks + "/" + entry->d_name + "/children");
    for (char *at = text.data(), *end = nullptr;; at = end) {
      int64_t child = std::strtoll(at, &end, 10);
      if (end == at)
        break;
      children.push_back(child);
    }
  }
  closedir(directory);
  return children;
}

std::string shardrt::environmentOf(int64_t process) {
  return readFile(pathOf(process) + "/environ");
}
