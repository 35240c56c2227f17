#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "symbols/image_files.h"
#include "walker/base/name_value.h"
#include "walker/export/recording_exporter.h"

namespace mixwalk {

// OTLP profiles as of opentelemetry-proto 1.11.0 (v1development: it may still change), one
// ExportProfilesServiceRequest. Samples of one thread and stack are one there, with all its times
// and values; attributes `thread.id` and `thread.name`. Each location of a real frame says
// `profile.frame.type`: dotnet (managed code and what the runtime made) or native.
class OtlpExporter final : public RecordingExporter {
 public:
  using ProfileId = std::array<std::byte, 16>;
  struct Options {
    // Of the resource: they replace what the recording says under the same name. Without
    // `service.name` among them it is `unknown_service:` and the name of the executable, as
    // OpenTelemetry has it.
    std::vector<NameValue> attributes;
    bool command_line = false;  // it may hold secrets
    // None: a digest of the profile, so that the same recording gives the same bytes.
    std::optional<ProfileId> profile_id;
  };

  // An image whose file is in `images` gets a build id, `process.executable.build_id.htlhash`.
  explicit OtlpExporter(ImageFiles& images) : OtlpExporter(images, Options{}) {}
  OtlpExporter(ImageFiles& images, Options options)
      : images_(images), options_(std::move(options)) {}
  bool write(const Recording& recording, ByteSink& sink) const override;

 private:
  ImageFiles& images_;
  const Options options_;
};

}  // namespace mixwalk
