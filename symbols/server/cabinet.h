#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Expands the only file of a cabinet, the form in which some stores keep files ("app.pd_"). Returns an empty text, or
// why the file was not expanded, in one line. Not frozen-safe.
std::string expand_cabinet(const std::filesystem::path& cabinet, const std::filesystem::path& file);

}  // namespace mixwalk
