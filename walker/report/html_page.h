#pragma once

#include <functional>

#include "walker/export/json_writer.h"

namespace mixwalk {

// Writes the report's page: one self-contained HTML file that loads nothing from a network. `write_data` writes the
// document that the page's script shows, as one JSON value. The page's Content-Security-Policy allows only its own
// scripts and styles, each by its SHA-256, so that nothing in the data could ever run. Returns false if the sink
// refused.
bool write_html_page(const std::function<void(JsonWriter&)>& write_data, ByteSink& sink);

}  // namespace mixwalk
