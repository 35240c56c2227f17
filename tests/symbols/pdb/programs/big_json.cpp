// nlohmann-json, instantiated for separate types in each program part (OBJECT, REAL, INTEGER, RUN).
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::basic_json<OBJECT, std::vector, std::string, bool, INTEGER, unsigned INTEGER, REAL>;

int RUN(const char* text) {
  Json json = Json::parse(text);
  std::map<std::string, std::size_t> sizes;
  for (const auto& [key, value] : json.items()) sizes[key] = value.size();
  for (const auto& [key, size] : sizes) std::printf("%s %zu\n", key.c_str(), size);
  std::puts(json.dump().c_str());
  Json other = Json::from_cbor(Json::to_cbor(json));
  json = json.patch(Json::diff(json, other));
  json.merge_patch(other);
  other = Json::from_msgpack(Json::to_msgpack(json));
  other = Json::from_ubjson(Json::to_ubjson(other));
  other = Json::from_bson(Json::to_bson(other));
  return static_cast<int>(json.flatten().size()) + (json == other) + (json < other);
}
