#include "walker/cli/output/otlp_session.h"

#include <fmt/format.h>

#include "walker/base/count_words.h"
#include "walker/base/partial_file.h"
#include "walker/cli/output/print_failure.h"

namespace mixwalk {

Outcome<std::unique_ptr<OtlpSession>> OtlpSession::open(const OtlpTarget& target,
                                                        const FrameFilter& filter) {
  const auto folder = target.spool ? path_of(*target.spool) : default_spool_folder();
  if (folder.empty()) {
    return Failure{ExitCode::output, "the system gives no folder for the spool: give one with --spool"};
  }
  auto spool = std::make_unique<Spool>(folder, target.url);
  if (!spool->error().empty()) {
    return Failure{ExitCode::output,
                   "cannot use the spool \"" + utf8_of(spool->folder()) + "\": " + spool->error()};
  }
  return std::unique_ptr<OtlpSession>(new OtlpSession(std::move(spool), target, filter));
}

OtlpSession::OtlpSession(std::unique_ptr<Spool> spool, const OtlpTarget& target,
                         const FrameFilter& filter)
    : spool_(std::move(spool)),
      post_(target.url, target.headers),
      sender_(*spool_, post_, {.filter = filter, .content = target.content}) {}

ExitCode OtlpSession::finish(const Recording& recording) {
  const std::uint64_t left_out = batches_.finish(recording);
  if (left_out != 0) {
    print_failure(
        {ExitCode::output, count_words(left_out, "sample was", "samples were") + " not sent: the disk was too slow"});
  }
  const ExitCode code = finish();
  return left_out == 0 ? code : ExitCode::output;
}

ExitCode OtlpSession::finish() {
  const DeliveryReport sent = sender_.finish();
  for (const std::string& line : sent.lines) print_failure({ExitCode::ok, line});
  if (sent.left_out != 0) print_failure({ExitCode::ok, count_words(sent.left_out, "more message") + " like these"});
  if (sent.waiting != 0) {
    print_failure({ExitCode::ok, fmt::format("kept {} in \"{}\" ({}): the next run with this URL sends {}",
                                             count_words(sent.waiting, "request"), utf8_of(spool_->folder()),
                                             sent.why_waiting, sent.waiting == 1 ? "it" : "them")});
  }
  if (sent.lost != 0) return ExitCode::output;
  if (sent.refused != 0) return ExitCode::rejected;
  return sent.waiting != 0 ? ExitCode::undelivered : ExitCode::ok;
}

}  // namespace mixwalk
