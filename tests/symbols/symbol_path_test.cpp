#include "symbols/symbol_path.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Folders = std::vector<SymbolPath::Folder>;
using Texts = std::vector<std::string>;

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
  EXPECT_EQ(path.left_out, Texts{"https://msdl.example/x"});
}

TEST(SymbolPathTest, OtherMachinesAreLeftOut) {
  const SymbolPath path = parse_symbol_path(
      R"(\\server\sym;//server/sym;srv*\\server\store*C:\store;http://x/;\\?\UNC\server\sym;\\.\pipe\x;\\?\C:\long)");
  EXPECT_EQ(path.folders, (Folders{{R"(C:\store)", true}, {R"(\\?\C:\long)", false}}));
  EXPECT_EQ(path.left_out.size(), 6u);
}

TEST(SymbolPathTest, NothingInNothing) {
  for (const char* text :
       {"", ";", " ; ;", "srv*", "cache*", "srv**", "symsrv*", "symsrv*symsrv.dll", "srv", "\"\""}) {
    EXPECT_TRUE(parse_symbol_path(text).folders.empty()) << text;
    EXPECT_TRUE(parse_symbol_path(text).left_out.empty()) << text;
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

}  // namespace
}  // namespace mixwalk
