#include "symbols/symbol_path.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Folders = std::vector<SymbolPath::Folder>;
using Texts = std::vector<std::string>;

using Servers = std::vector<SymbolPath::Server>;

Texts left_out(const SymbolPath& path) {
  Texts parts;
  for (const SymbolPath::LeftOut& one : path.left_out) parts.push_back(one.part + ' ' + std::string(one.why));
  return parts;
}

TEST(SymbolPathTest, FoldersAndStores) {
  const SymbolPath path =
      parse_symbol_path(R"(C:\sym; D:\more symbols ;srv*C:\store*https://msdl.example/x;)"
                        R"(cache*E:\cache;SymSrv*symsrv.dll*F:\a*G:\b;/home/me/sym;SRV*H:\c)");
  EXPECT_EQ(path.folders, (Folders{{R"(C:\sym)", false},
                                   {R"(D:\more symbols)", false},
                                   {R"(C:\store)", true},
                                   {R"(E:\cache)", true},
                                   {R"(F:\a)", true},
                                   {R"(G:\b)", true},
                                   {"/home/me/sym", false},
                                   {R"(H:\c)", true}}));
  EXPECT_EQ(path.servers, (Servers{{"https://msdl.example/x", {R"(C:\store)"}}}));
  EXPECT_TRUE(path.left_out.empty());
}

TEST(SymbolPathTest, OtherMachinesAreLeftOut) {
  const SymbolPath path = parse_symbol_path(
      R"(\\server\sym;//server/sym;srv*\\server\store*C:\store;\\?\UNC\server\sym;\\.\pipe\x;\\?\C:\long;\\server)", {},
      false);
  EXPECT_EQ(path.folders, (Folders{{R"(C:\store)", true}, {R"(\\?\C:\long)", false}}));
  EXPECT_EQ(left_out(path), (Texts{R"(\\server\sym is on another machine)", "//server/sym is on another machine",
                                   R"(\\server\store is on another machine)", R"(\\?\UNC\server\sym is no folder)",
                                   R"(\\.\pipe\x is no folder)", R"(\\server is no folder)"}));
}

// Where the system opens them. Nothing is put there.
TEST(SymbolPathTest, SharesAreRead) {
  const SymbolPath path = parse_symbol_path(
      R"(\\server\sym;cache*\\server\cache;srv*\\server\store*https://one;srv*C:\a*//server/b*https://two;)"
      R"(\\.\pipe\x)",
      "/d", true);
  EXPECT_EQ(path.folders, (Folders{{R"(\\server\sym)", false},
                                   {R"(\\server\cache)", true},
                                   {R"(\\server\store)", true},
                                   {"/d", true},
                                   {R"(C:\a)", true},
                                   {"//server/b", true}}));
  EXPECT_EQ(path.servers, (Servers{{"https://one", {"/d"}}, {"https://two", {R"(C:\a)"}}}));
  EXPECT_EQ(left_out(path), Texts{R"(\\.\pipe\x is no folder)"});
}

TEST(SymbolPathTest, ServersWithTheStoresBeforeThem) {
  const SymbolPath path = parse_symbol_path(
      "srv*C:\\a*D:\\b*HTTPS://one/x/;srv*https://two;https://three:8080/y;cache*E:\\c;srv*http://four;"
      "symsrv*symsrv.dll*F:\\d*https://five;srv*C:\\a*https://one/x",
      "/default");
  EXPECT_EQ(path.servers, (Servers{{"https://one/x", {"C:\\a", "D:\\b"}},
                                   {"https://two", {"/default"}},
                                   {"https://three:8080/y", {"/default"}},
                                   {"http://four", {"E:\\c"}},
                                   {"https://five", {"E:\\c", "F:\\d"}}}));
  // A file that was loaded is found in its store the next time.
  EXPECT_EQ(path.folders,
            (Folders{{"C:\\a", true}, {"D:\\b", true}, {"/default", true}, {"E:\\c", true}, {"F:\\d", true}}));
  EXPECT_TRUE(path.left_out.empty());
}

TEST(SymbolPathTest, EmptyPartsAreTheDefaultStore) {
  EXPECT_EQ(parse_symbol_path("srv**https://x", "/d").servers, (Servers{{"https://x", {"/d"}}}));
  EXPECT_EQ(parse_symbol_path("srv*C:\\a**https://x", "/d").servers, (Servers{{"https://x", {"C:\\a", "/d"}}}));
  EXPECT_EQ(parse_symbol_path("cache*;srv*https://x", "/d").servers, (Servers{{"https://x", {"/d"}}}));
  EXPECT_EQ(parse_symbol_path("cache*", "/d").folders, (Folders{{"/d", true}}));
  EXPECT_TRUE(parse_symbol_path("cache*", "/d").servers.empty());
  EXPECT_TRUE(parse_symbol_path("srv*C:\\a", "/d").servers.empty());
  // Debuggers read this as Microsoft's server.
  EXPECT_EQ(parse_symbol_path("srv*/a*SRV*/b*https://x", "/d").servers, (Servers{{"https://x", {"/a", "/b"}}}));
  EXPECT_EQ(parse_symbol_path("srv*", "/d").servers, (Servers{{std::string(kMicrosoftServer), {"/d"}}}));
}

TEST(SymbolPathTest, PartsThatCannotBeUsed) {
  EXPECT_EQ(left_out(parse_symbol_path("srv*https://x*C:\\a*https://y", "/d")),
            (Texts{"C:\\a follows a server", "https://y follows a server"}));
  EXPECT_EQ(left_out(parse_symbol_path("srv*https://x")), Texts{"https://x has no store for its files"});
  EXPECT_EQ(left_out(parse_symbol_path("cache*https://x", "/d")), Texts{"https://x is no folder"});
  for (const char* url : {"ftp://x", "https://", "https:///", "https://x/?token=1",
                          "https://x/#y", "https://x/a b", "https://x\\y", "https://\xC3\xA4/y", "://x"}) {
    const SymbolPath path = parse_symbol_path("srv*C:\\a*" + std::string(url));
    EXPECT_TRUE(path.servers.empty()) << url;
    EXPECT_EQ(left_out(path), Texts{std::string(url) + " is no URL of a symbol server"});
  }
  EXPECT_EQ(left_out(parse_symbol_path("srv*C:\\a*https://me:secret@x/y;https://x*https://me:secret@y", "/d")),
            (Texts{"https://...@x/y is no URL of a symbol server", "https://...@y follows a server"}));
  EXPECT_EQ(left_out(parse_symbol_path("srv*https://x*C:\\me@corp\\sym", "/d")),
            Texts{"C:\\me@corp\\sym follows a server"});
  // Only a shell replaces it, and not behind a star.
  const SymbolPath home = parse_symbol_path("~/sym;srv*~/a*https://x;~", "/d");
  EXPECT_EQ(home.folders, (Folders{{"/d", true}}));
  EXPECT_EQ(home.servers, (Servers{{"https://x", {"/d"}}}));
  EXPECT_EQ(home.left_out.size(), 3u);
  EXPECT_EQ(left_out(home)[0], "~/sym is no folder: nothing has replaced ~");
  for (const char* folder : {"%LOCALAPPDATA%\\sym", "C:\\%TMP%", "%ProgramFiles(x86)%\\sym", "$HOME/sym", "${HOME}/sym",
                             "$env:TEMP\\sym"}) {
    const SymbolPath path = parse_symbol_path("srv*" + std::string(folder) + "*https://x;" + folder, "/d");
    EXPECT_EQ(path.folders, (Folders{{"/d", true}})) << folder;
    EXPECT_EQ(path.servers, (Servers{{"https://x", {"/d"}}})) << folder;
    EXPECT_EQ(left_out(path),
              Texts(2, std::string(folder) + " is no folder: nothing has replaced the variable")) << folder;
  }
  for (const char* folder : {"C:\\100%", "C:\\5%\\6%\\x", "/a%20b%2e", "/b%C3%A4r", "%%", "C:\\$Recycle.Bin", "/a/$x",
                             "$", "~x"}) {
    EXPECT_EQ(parse_symbol_path(folder).folders, (Folders{{folder, false}})) << folder;
  }
}

TEST(SymbolPathTest, OnlineAndOffline) {
  const auto servers = [](const char* text, SymbolAsking asking) {
    Texts urls;
    for (const auto& server : parse_symbol_path(text, "/d", asking).servers) urls.push_back(server.url);
    return urls;
  };
  const Texts microsoft{std::string(kMicrosoftServer)};
  EXPECT_EQ(servers("", SymbolAsking::by_path), Texts());
  EXPECT_EQ(servers("C:\\a", SymbolAsking::online), microsoft);
  EXPECT_EQ(servers("srv*https://x", SymbolAsking::by_path), Texts{"https://x"});
  EXPECT_EQ(servers("srv*https://x", SymbolAsking::online), Texts{"https://x"});
  EXPECT_EQ(servers("srv*https://x", SymbolAsking::offline), Texts());
  // The stores are read nevertheless.
  EXPECT_EQ(parse_symbol_path("srv*https://x", "/d", SymbolAsking::offline).folders, (Folders{{"/d", true}}));
}

TEST(SymbolPathTest, FoldersAsText) {
  const SymbolPath path = parse_symbol_path("C:\\a;srv*https://x;cache*/b", "/d");
  EXPECT_EQ(folders_text(path), "C:\\a;srv*/d;srv*/b");
  EXPECT_EQ(parse_symbol_path(folders_text(path)).folders, path.folders);
}

TEST(SymbolPathTest, NothingInNothing) {
  for (const char* text :
       {"", ";", " ; ;", "cache*", "symsrv*", "symsrv*symsrv.dll", "srv", "\"\""}) {
    EXPECT_TRUE(parse_symbol_path(text).folders.empty()) << text;
    EXPECT_TRUE(parse_symbol_path(text).left_out.empty()) << text;
  }
  // Real case: a container without HOME. Microsoft's server was not asked, and no line said so.
  for (const char* text : {"srv*", "srv**"}) {
    EXPECT_TRUE(parse_symbol_path(text).servers.empty()) << text;
    EXPECT_EQ(left_out(parse_symbol_path(text)), Texts{std::string(kMicrosoftServer) + " has no store for its files"});
  }
}

TEST(SymbolPathTest, QuotesAreNoPartOfAFolder) {
  EXPECT_EQ(parse_symbol_path("\"C:\\my symbols\"").folders, (Folders{{R"(C:\my symbols)", false}}));
}

CodeViewId id_of(const std::string& path) {
  CodeViewId id{.age = 0x1A, .path = path};
  id.guid.fill(std::byte{0x12});
  return id;
}
constexpr const char* kId = "121212121212121212121212121212121A";

TEST(PdbCandidatesTest, BesideTheImageThenWhereItWasWrittenThenTheFolders) {
  const std::string id = kId;
  EXPECT_EQ(pdb_candidates(R"(C:\app\app.exe)", id_of(R"(D:\build\app.pdb)"),
                           parse_symbol_path(R"(E:\sym;srv*F:\store\;/home/me)")),
            (Texts{R"(C:\app\app.pdb)", R"(D:\build\app.pdb)", R"(E:\sym\app.pdb)",
                   R"(E:\sym\app.pdb\)" + id + R"(\app.pdb)", R"(F:\store\app.pdb\)" + id + R"(\app.pdb)",
                   "/home/me/app.pdb", "/home/me/app.pdb/" + id + "/app.pdb",
                   "/home/me/app.pdb/121212121212121212121212121212121a/app.pdb"}));
}

TEST(PdbCandidatesTest, StoresInSmallLetters) {
  CodeViewId id = id_of("App.PDB");
  id.age = 1;
  EXPECT_EQ(pdb_candidates("", id, parse_symbol_path("srv*/sym")),
            (Texts{"/sym/App.PDB/121212121212121212121212121212121/App.PDB",
                   "/sym/app.pdb/121212121212121212121212121212121/app.pdb"}));
}

TEST(PdbCandidatesTest, StoresOfTwoTiers) {
  CodeViewId id = id_of("App.PDB");
  id.age = 1;
  SymbolPath path = parse_symbol_path("srv*/sym");
  path.folders[0].two_tier = true;
  EXPECT_EQ(pdb_candidates("", id, path), (Texts{"/sym/Ap/App.PDB/121212121212121212121212121212121/App.PDB",
                                                 "/sym/ap/app.pdb/121212121212121212121212121212121/app.pdb",
                                                 "/sym/App.PDB/121212121212121212121212121212121/App.PDB",
                                                 "/sym/app.pdb/121212121212121212121212121212121/app.pdb"}));
}

TEST(PdbCandidatesTest, FirstTierThatWouldLeadOutOfTheStore) {
  SymbolPath path = parse_symbol_path("srv*/sym");
  path.folders[0].two_tier = true;
  for (const std::string& candidate : pdb_candidates("", id_of("..x.pdb"), path)) {
    EXPECT_TRUE(candidate.starts_with("/sym/..x.pdb/")) << candidate;
  }
}

TEST(PdbCandidatesTest, EachPathOnce) {
  EXPECT_EQ(pdb_candidates("/a/app.exe", id_of("/a/app.pdb"), {}), Texts{"/a/app.pdb"});
  EXPECT_EQ(pdb_candidates("/a/app.exe", id_of("app.pdb"), {}), Texts{"/a/app.pdb"});
  EXPECT_TRUE(pdb_candidates("app.exe", id_of("app.pdb"), {}).empty());
}

TEST(PdbCandidatesTest, NamesThatAreNoFiles) {
  const SymbolPath path = parse_symbol_path("C:\\sym");
  for (const char* name : {"", "a\\", "..", "a\\..", "CON", "x\\com1.pdb", "LPT9", "nul.pdb", "a|b", "a*.pdb",
                           "a\nb", "name.", "name ", "COM\xC2\xB9.pdb", "aux .pdb", "conin$"}) {
    EXPECT_TRUE(pdb_candidates("C:\\app\\app.exe", id_of(name), path).empty()) << name;
  }
  EXPECT_FALSE(is_file_name(std::string(256, 'x')));
  for (const char* name : {"app.pdb", "console.pdb", "com.pdb", "com10.pdb", "ä.pdb", ".pdb"}) {
    EXPECT_FALSE(pdb_candidates("C:\\app\\app.exe", id_of(name), path).empty()) << name;
  }
}

TEST(SymchkManifestTest, EachPdbOnce) {
  EXPECT_EQ(symchk_manifest({{"b.pdb", "2"}, {"a.pdb", "1"}, {"b.pdb", "2"}}), "a.pdb,1,1\nb.pdb,2,1\n");
  EXPECT_EQ(symchk_manifest({}), "");
}

TEST(StoreIdTest, HexadecimalDigitsOnly) {
  EXPECT_TRUE(is_store_id("0123456789abcdefABCDEF"));
  for (const char* id : {"", "..", "12/34", "12\\34", "12.", "G", "1 2", "%2e%2e"}) EXPECT_FALSE(is_store_id(id)) << id;
  EXPECT_FALSE(is_store_id(std::string(65, '1')));
}

}  // namespace
}  // namespace mixwalk
