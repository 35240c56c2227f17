#pragma once

#include <string_view>

// The fixed parts of the HTML report, as bundle.cmake puts them into the program.
namespace mixwalk::page_parts {

std::string_view html() noexcept;       // page/report.html
std::string_view style() noexcept;      // page/report.css
std::string_view script() noexcept;     // page/*.js, one after the other
std::string_view libraries() noexcept;  // scripts of others, each with its licence
// A style sheet that one of the libraries adds to the page by itself.
std::string_view library_style() noexcept;

}  // namespace mixwalk::page_parts
