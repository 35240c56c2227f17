// A program that consists mostly of its standard library, with deep chains of inlined calls and long names.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Word {
  std::string text;
  std::size_t count = 0;
};

std::vector<Word> count_words(const std::string& text) {
  std::unordered_map<std::string, std::size_t> counts;
  std::istringstream in(text);
  for (std::string word; in >> word;) ++counts[word];
  std::vector<Word> words;
  for (const auto& [word, count] : counts) words.push_back({word, count});
  std::sort(words.begin(), words.end(), [](const Word& left, const Word& right) {
    return std::tie(right.count, left.text) < std::tie(left.count, right.text);
  });
  return words;
}

struct Node {
  std::map<char, std::unique_ptr<Node>> next;
  std::function<void(const std::string&)> found;
};

void add(Node& root, const std::string& word) {
  Node* at = &root;
  for (const char c : word) {
    auto& next = at->next[c];
    if (!next) next = std::make_unique<Node>();
    at = next.get();
  }
  at->found = [word](const std::string& text) { std::printf("%s in %s\n", word.c_str(), text.c_str()); };
}

}  // namespace

int main(int count, char** arguments) {
  Node root;
  std::string all;
  for (int i = 0; i < count; ++i) all += std::string(arguments[i]) + ' ';
  for (const Word& word : count_words(all)) {
    std::printf("%s %zu\n", word.text.c_str(), word.count);
    add(root, word.text);
  }
  for (const auto& [letter, node] : root.next) {
    if (node->found) node->found(std::string(1, letter));
  }
}
