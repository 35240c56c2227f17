#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "symbols/image_files.h"
#include "walker/base/byte_sink.h"
#include "walker/base/name_value.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

using OtlpProfileId = std::array<std::byte, 16>;

struct OtlpOptions {
  // Attributes of the resource. They replace attributes of the recording with the same name. If none of them is
  // `service.name`, that attribute is `unknown_service:` and the name of the executable, as OpenTelemetry prescribes.
  std::vector<NameValue> attributes;
  bool command_line = false;  // off by default, because it may contain secrets
  // If this has no value, the id is a digest of the profile, so that the same recording gives the same bytes.
  std::optional<OtlpProfileId> profile_id;
};

// OTLP profiles of opentelemetry-proto 1.11.0, as one ExportProfilesServiceRequest. (The version is v1development, so
// the format may still change.) Samples of the same thread and stack become one OTLP sample, with all their times and
// values and the attributes `thread.id` and `thread.name`. Each location of a real frame has `profile.frame.type`:
// dotnet (managed code and code that the runtime made) or native. An image whose file is in `images` gets a build id,
// `process.executable.build_id.htlhash`.
bool write_otlp(const ShownRecording& shown, ImageFiles& images, ByteSink& sink, const OtlpOptions& options = {});

}  // namespace mixwalk
