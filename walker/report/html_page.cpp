#include "walker/report/html_page.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "unmanaged/sha256.h"
#include "walker/export/buffered_sink.h"
#include "walker/report/page_parts.h"
#include "walker/report/script_safe_sink.h"

namespace mixwalk {
namespace {

// RFC 4648, with padding, as Content-Security-Policy requires for its hashes.
std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

// The name of an inline script or style in the Content-Security-Policy.
std::string hash_source(std::string_view text) {
  return "'sha256-" + base64(sha256(std::as_bytes(std::span(text)))) + "'";
}

std::string policy() {
  return "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " +
         hash_source(page_parts::libraries()) + " " + hash_source(page_parts::script()) + "; style-src " +
         hash_source(page_parts::style()) + " " + hash_source(page_parts::library_style()) +
         "; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">";
}

std::string element(std::string_view begin, std::string_view content, std::string_view end) {
  return std::string(begin) + std::string(content) + std::string(end);
}

// The part of the page that replaces a comment <!--NAME-->.
struct Slot {
  std::string_view comment;
  std::function<bool(ByteSink&)> write;
};

}  // namespace

bool write_html_page(const std::function<void(JsonWriter&)>& write_data, ByteSink& sink) {
  const auto data = [&](ByteSink& to) {
    if (!to.write("<script type=\"application/json\" id=\"data\">")) return false;
    ScriptSafeSink safe(to);
    JsonWriter json(safe);
    write_data(json);
    return json.finish() && to.write("</script>");
  };
  const auto scripts = [](ByteSink& to) {
    return to.write(element("<script>", page_parts::libraries(), "</script>\n")) &&
           to.write(element("<script>", page_parts::script(), "</script>"));
  };
  const std::array<Slot, 4> slots = {
      Slot{"<!--policy-->", [](ByteSink& to) { return to.write(policy()); }},
      Slot{"<!--style-->",
           [](ByteSink& to) { return to.write(element("<style>", page_parts::style(), "</style>")); }},
      Slot{"<!--data-->", data},
      Slot{"<!--scripts-->", scripts}};
  std::string_view rest = page_parts::html();
  BufferedSink out(sink);
  for (const Slot& slot : slots) {
    const std::size_t at = rest.find(slot.comment);
    if (at == std::string_view::npos) return false;  // the page has all comments, in this order
    if (!out.write(rest.substr(0, at)) || !slot.write(out)) return false;
    rest.remove_prefix(at + slot.comment.size());
  }
  return out.write(rest) && out.flush();
}

}  // namespace mixwalk
