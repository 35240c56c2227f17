#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

#include "walker/locks/object_paths.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What a work item of the thread pool will do.
struct WorkItem {
  std::string method;  // of a delegate, or an async method; the item's type if it is neither; empty if it is no object
  std::uint32_t task = AsyncTask::kNone;  // an index into Snapshot::tasks
};

// Names the work items of the thread pool. Nothing of the target is trusted. Not frozen-safe.
class WorkItems {
 public:
  // Both must outlive this object, and the tasks must not change meanwhile.
  WorkItems(ObjectPaths& objects, const Snapshot& snapshot);

  WorkItem of(std::uint64_t item);
  // Adds the objects through which an item leads to what it runs, itself included.
  void add_objects(std::uint64_t item, std::unordered_set<std::uint64_t>& found);

 private:
  std::string method_of(std::uint64_t object, int depth);

  ObjectPaths& objects_;
  const Snapshot& snapshot_;
  std::map<std::uint64_t, std::uint32_t> tasks_;  // indices by address
};

}  // namespace mixwalk
