#include "symbols/pdb/source_server.h"

#include <gtest/gtest.h>

#include "symbols/web_url.h"

namespace mixwalk {
namespace {

std::string stream(const std::string& variables, const std::string& files) {
  return "SRCSRV: ini ------------------------------------------------\r\nVERSION=2\r\nVERCTRL=http\r\n"
         "SRCSRV: variables ------------------------------------------\r\n" +
         variables + "SRCSRV: source files ---------------------------------------\r\n" + files +
         "SRCSRV: end ------------------------------------------------\r\n";
}

std::string url(const std::string& variables, const std::string& files = "c:\\src\\a.cpp*one*sub/a.cpp\r\n",
                std::string_view path = "c:\\src\\a.cpp") {
  const std::string text = stream(variables, files);
  return SourceServer(text).url_of(path);
}

TEST(SourceServerTest, TargetThatIsAUrl) {
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/%var2%/%var3%\r\n"), "https://example.org/one/sub/a.cpp");
  EXPECT_EQ(url("HTTP_ALIAS=https://example.org/raw\r\nHTTP_TARGET=%HTTP_ALIAS%/%var3%\r\n"
                "SRCSRVTRG=%http_target%\r\nSRCSRVCMD=\r\n"),
            "https://example.org/raw/sub/a.cpp");
  EXPECT_EQ(url("srcsrvtrg=http://example.org/%VAR3%\n"), "http://example.org/sub/a.cpp");
}

TEST(SourceServerTest, Functions) {
  EXPECT_EQ(url("one=https://example.org\r\nSRCSRVTRG=%fnvar%(%var2%)/%fnfile%(%var1%)\r\n"),
            "https://example.org/a.cpp");
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/%fnbksl%(%var3%)\r\n"), "https://example.org/sub\\a.cpp");
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/%fnfile%(none)\r\n"), "https://example.org/none");
}

TEST(SourceServerTest, FilesByTheirPaths) {
  const std::string variables = "SRCSRVTRG=https://example.org/%var2%\r\n";
  const std::string files = "C:\\b.cpp*b\r\nc:/A.cpp*a\r\n\r\nC:\\b.cpp*second\r\n";
  EXPECT_EQ(url(variables, files, "c:\\B.CPP"), "https://example.org/b") << "the first line counts";
  EXPECT_EQ(url(variables, files, "C:\\a.cpp"), "https://example.org/a");
  EXPECT_EQ(url(variables, files, "C:\\c.cpp"), "");
  EXPECT_EQ(url(variables, files, "C:\\a.cp"), "");
  EXPECT_EQ(url(variables, files, ""), "");
}

// A source control system's command puts the file at the target, which is a path of the debugger's machine.
TEST(SourceServerTest, FilesThatNeedACommandHaveNone) {
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/%var3%\r\nSRCSRVCMD=fetch %var3%\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/%var3%\r\nSRCSRVCMD=%unknown%\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=%targ%\\%var2%\\%fnfile%(%var1%)\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=\\\\server\\%var3%\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=file:///%var3%\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=javascript:%var3%\r\n"), "");
  EXPECT_EQ(url("SRCSRVTRG=https://example.org/a b\r\n"), "") << "no browser reads it as one address";
}

TEST(SourceServerTest, TextsThatCannotBeExpanded) {
  const std::string host = "SRCSRVTRG=https://example.org/";
  for (const char* target : {"%unknown%", "%var4%", "%var0%", "%var11%", "%var99999999999999999999%", "%varx%", "%var1",
                             "%", "%fnvar%", "%fnvar%(one", "%fnvar%(%unknown%)", "%fnbksl%(%srcsrvtrg%)",
                             "%srcsrvtrg%"}) {
    EXPECT_EQ(url(host + target + "\r\n"), "") << target;
  }
  EXPECT_EQ(url(""), "") << "no target";
  // Each variable doubles the work of the next one, or the text.
  std::string empty = "v0=\r\n", long_text = "v0=abcdefgh\r\n", many = "v0=%v1%\r\n";
  for (int i = 1; i < 64; ++i) {
    const std::string before = "%v" + std::to_string(i - 1) + "%";
    empty += "v" + std::to_string(i) + "=" + before + before + "\r\n";
    long_text += "v" + std::to_string(i) + "=" + before + before + "\r\n";
    many += "v" + std::to_string(i) + "=%v" + std::to_string(i + 1) + "%\r\n";
  }
  EXPECT_EQ(url(empty + host + "%v63%\r\n"), "");
  EXPECT_EQ(url(empty + host + "%v18%\r\n"), "");
  EXPECT_EQ(url(long_text + host + "%v12%\r\n"), "");
  EXPECT_EQ(url(many + host + "%v0%\r\n"), "");
  EXPECT_EQ(url(host + std::string(kMaxWebUrl, 'a') + "\r\n"), "");
}

TEST(SourceServerTest, AnyTextIsNoCrash) {
  const std::string whole = stream("one=https://example.org\r\nSRCSRVTRG=%fnvar%(%var2%)/%fnfile%(%var1%)\r\n",
                                   "c:\\src\\a.cpp*one*sub/a.cpp\r\n");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::string cut = whole.substr(0, i);
    SourceServer(cut).url_of("c:\\src\\a.cpp");
    for (const char c : {'\0', '%', '*', '\n', '(', ')', '\xFF'}) {
      std::string wrong = whole;
      wrong[i] = c;
      const std::string found = SourceServer(wrong).url_of("c:\\src\\a.cpp");
      EXPECT_TRUE(found.empty() || is_web_url(found)) << found;
    }
  }
  EXPECT_EQ(SourceServer("").url_of("a"), "");
}

}  // namespace
}  // namespace mixwalk
