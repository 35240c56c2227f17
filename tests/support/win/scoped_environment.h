#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mixwalk {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Sets environment variables of this process, and so of the programs that it starts, during the life of this object.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const Environment& variables);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::vector<std::string> names_;
};

// The variables of a program whose dynamic methods are collected. Folklore: under Wine, the finalizer of a dynamic
// method ends the program if W^X is on ("Internal CLR error" in DynamicResolver+DestroyScout.Finalize), also without
// mixwalk. Event sources, expressions and ClrMD make such methods.
Environment dynamic_methods_may_end();

// The variables of a program that the runtime may end by itself ("Internal CLR error"): the runtime then writes the
// stacks of all threads to the dump file `path`, which `mixwalk dump` reads.
Environment crash_dump(const std::string& path);

}  // namespace mixwalk
