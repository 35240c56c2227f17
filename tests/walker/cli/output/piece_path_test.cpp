#include "walker/cli/output/piece_path.h"

#include <gtest/gtest.h>

#include "walker/cli/options/default_output.h"

namespace mixwalk {
namespace {

TEST(PiecePath, TheNumberStandsBeforeTheExtension) {
  EXPECT_EQ(piece_path("orders.mixwalk", 1), "orders.mixwalk");
  EXPECT_EQ(piece_path("orders.mixwalk", 2), "orders.2.mixwalk");
  EXPECT_EQ(piece_path("C:\\a.b\\orders.v1.mixwalk", 10), "C:\\a.b\\orders.v1.10.mixwalk");
}

TEST(PiecePath, WithoutExtension) {
  EXPECT_EQ(piece_path("orders", 2), "orders.2");
  EXPECT_EQ(piece_path("C:\\a.b\\orders", 2), "C:\\a.b\\orders.2");
  EXPECT_EQ(piece_path("../orders", 2), "../orders.2");
  EXPECT_EQ(piece_path(".orders", 2), ".orders.2");
}

TEST(PieceNumber, IsWhatThePathWasMadeOf) {
  for (const std::string path :
       {"orders.mixwalk", "C:\\a.b\\orders.v1.mixwalk", "orders", "C:\\a.b\\orders", ".orders"}) {
    for (const int piece : {2, 3, 10, 12345}) {
      const std::string further = piece_path(path, piece);
      const std::string name = further.substr(further.find_last_of("/\\") + 1);
      EXPECT_EQ(piece_number(path, name), piece) << further;
    }
  }
  EXPECT_EQ(piece_number("Orders.mixwalk", "ORDERS.2.MIXWALK"), 2);
}

TEST(PieceNumber, OfOtherNames) {
  for (const char* name :
       {"", "orders.mixwalk", "orders.1.mixwalk", "orders.0.mixwalk", "orders.-2.mixwalk",
        "orders.02.mixwalk", "orders.+2.mixwalk", "orders.2x.mixwalk", "orders..mixwalk",
        "orders.2.mixwalk.old", "orders-2.mixwalk", "other.2.mixwalk", "orders.2.folded",
        "orders.99999999999.mixwalk", "orders.2.3.mixwalk"}) {
    EXPECT_EQ(piece_number("orders.mixwalk", name), std::nullopt) << name;
  }
}

TEST(PiecePath, IsNoDefaultNameThatWasTaken) {
  const RecordingFormat& format = *format_by_name("mixwalk");
  const std::string taken = "orders-20261121-170721.mixwalk";
  EXPECT_NE(piece_path(taken, 2), numbered_output(taken, format, 2));
  EXPECT_EQ(piece_path(numbered_output(taken, format, 2), 2), "orders-20261121-170721-2.2.mixwalk");
}

}  // namespace
}  // namespace mixwalk
