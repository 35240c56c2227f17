#include "walker/otlp/beast_post.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <string>

#include "walker/base/version.h"

namespace mixwalk {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

std::string words(const error_code& error) {
  return error == beast::error::timeout ? "no answer in time" : error.message();
}

// One connection. Beast has time-outs only for asynchronous calls, so each call is started asynchronously and awaited.
class Connection {
 public:
  explicit Connection(const BeastPost::Limits& limits) : limits_(limits) {
    parser_.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser_.body_limit(limits.body_bytes);
  }

  error_code connect(const CollectorUrl& url) {
    error_code error;
    const auto found = tcp::resolver(context_).resolve(url.host, std::to_string(url.port),
                                                       tcp::resolver::numeric_service, error);
    if (error) return error;
    stream_.expires_after(limits_.connect);
    return await([&](auto done) { stream_.async_connect(found, done); });
  }

  error_code write(const http::request<http::span_body<const char>>& request) {
    stream_.expires_after(limits_.write);
    return await([&](auto done) { http::async_write(stream_, request, done); });
  }

  HttpAnswer read() {
    stream_.expires_after(limits_.read);
    HttpAnswer answer;
    error_code error =
        await([&](auto done) { http::async_read_header(stream_, buffer_, parser_, done); });
    // If the announced length of a body is too large, the body is refused, although the status was read.
    if (error && error != http::error::body_limit) {
      answer.problem = words(error);
      return answer;
    }
    const auto& message = parser_.get();
    answer.status = static_cast<int>(message.result_int());
    answer.content_type = std::string(message[http::field::content_type]);
    answer.retry_after = std::string(message[http::field::retry_after]);
    if (!error) {
      error = await([&](auto done) { http::async_read(stream_, buffer_, parser_, done); });
    }
    if (error) answer.problem = words(error);
    answer.body = message.body();
    return answer;
  }

 private:
  template <class Start>
  error_code await(const Start& start) {
    error_code result;
    start([&result](const error_code& error, const auto&) { result = error; });
    context_.restart();
    context_.run();
    return result;
  }

  const BeastPost::Limits& limits_;
  asio::io_context context_;
  beast::tcp_stream stream_{context_};
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

}  // namespace

HttpAnswer BeastPost::post(std::string_view request) {
  http::request<http::span_body<const char>> message{http::verb::post, url_.path, 11};
  message.set(http::field::host, authority(url_));
  message.set(http::field::user_agent, std::string("mixwalk/") + kVersion);
  message.set(http::field::content_type, "application/x-protobuf");
  message.set(http::field::content_encoding, "gzip");
  message.set(http::field::connection, "close");
  for (const auto& [name, value] : headers_) message.set(name, value);
  message.body() = {request.data(), request.size()};
  message.prepare_payload();

  Connection connection(limits_);
  if (const error_code error = connection.connect(url_)) return {.problem = words(error)};
  const error_code unwritten = connection.write(message);
  if (unwritten == beast::error::timeout) return {.problem = words(unwritten)};
  // A server that answers 413 or 503 need not have read the whole request.
  HttpAnswer answer = connection.read();
  if (unwritten && answer.status == 0) answer.problem = words(unwritten);
  return answer;
}

}  // namespace mixwalk
