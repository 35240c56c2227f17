#pragma once

#include <cstddef>
#include <memory>

#include "walker/base/failure.h"
#include "walker/cli/options/options.h"
#include "walker/otlp/batches.h"
#include "walker/otlp/beast_post.h"
#include "walker/otlp/sender.h"
#include "walker/otlp/spool.h"

namespace mixwalk {

// A command's access to a collector: the spool, the threads that post, and the messages about them on standard error.
class OtlpSession {
 public:
  // Opens the session. Requests that wait in the spool are sent from now on.
  static Outcome<std::unique_ptr<OtlpSession>> open(const OtlpTarget& target,
                                                    const FrameFilter& filter);

  // Offers a whole recording. To be called at most once.
  void offer(Recording recording) { sender_.offer(std::move(recording)); }
  // Takes samples of a recording in progress: those from the index `first` on are new. Never waits.
  void take(const Recording& recording, std::size_t first) { batches_.take(recording, first); }
  // To be called before the recording begins anew (RecordingCollector::begin_piece).
  void cut(const Recording& recording) { batches_.cut(recording); }

  // Reports what happened to everything that was offered or taken.
  ExitCode finish();
  ExitCode finish(const Recording& recording);

 private:
  OtlpSession(std::unique_ptr<Spool> spool, const OtlpTarget& target, const FrameFilter& filter);

  const std::unique_ptr<Spool> spool_;
  BeastPost post_;
  OtlpSender sender_;
  OtlpBatches batches_{sender_};
};

}  // namespace mixwalk
