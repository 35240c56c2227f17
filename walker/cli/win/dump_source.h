#pragma once

#include <optional>
#include <string>

#include "walker/base/failure.h"
#include "walker/cli/options.h"
#include "walker/model/snapshot.h"
#include "walker/session/win/target_session.h"

namespace mixwalk {

// Takes the dumps of one process that the command line asks for. From inside, mixwalk attaches once and stays until the
// last dump. The first dump decides between inside and outside.
class DumpSource {
 public:
  // The source keeps a copy of the command, because after the first dump the copy names the process by its id.
  explicit DumpSource(const DumpCommand& command);
  DumpSource(const DumpSource&) = delete;
  DumpSource& operator=(const DumpSource&) = delete;

  // `last`: mixwalk.dll leaves the process once the stacks have arrived. The frames of native code have no names yet.
  Outcome<Snapshot> next(bool last);
  // Detaches from the process before the last dump, if mixwalk is attached.
  void leave();

 private:
  Outcome<Snapshot> inside(const Visit& how, bool last);
  Outcome<Snapshot> first(bool last);
  std::optional<Snapshot> outside_patches();

  DumpCommand command_;
  bool taken_ = false;
  std::optional<TargetSession> session_;  // no value if not attached
  std::string way_reason_;                // Snapshot::way_reason
};

}  // namespace mixwalk
