#pragma once

#include <filesystem>
#include <string>

namespace mixwalk {

// Why no cabinet can be expanded on this machine, in one line; empty if they can. Not frozen-safe.
std::string cabinet_obstacle();

// Expands the only file of a cabinet, the form in which some stores keep files ("app.pd_"). Returns an empty text, or
// why the file was not expanded, in one line. Not frozen-safe.
std::string expand_cabinet(const std::filesystem::path& cabinet, const std::filesystem::path& file);

}  // namespace mixwalk
