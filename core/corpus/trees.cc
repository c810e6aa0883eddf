#include "corpus/trees.hh"

#include <algorithm>
#include <charconv>

#include "base/counted.hh"
#include "base/errors.hh"
#include "corpus/annotation.hh"

namespace hyperbaton {

namespace {

constexpr std::string_view kEndsOfWord = " ()";

// "12<TAB>(TREE)" → 12, leaving the tree in `line`; 0 if the line does not have this form.
std::size_t take_number(std::string_view& line) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const auto n_digits = to_size(end - line.data());
  if (error != std::errc() || n_digits >= line.size() || line[n_digits] != '\t') return 0;
  line.remove_prefix(n_digits + 1);
  return number;
}

}  // namespace

void TreeReader::add_line(std::string_view line) {
  ++n_lines_;
  if (const auto fault = find_fault(line, format_ != Format::Dense); fault != LineFault::Fine)
    throw LineError(n_lines_, describe(fault));
  const bool blank = line.find_first_not_of(' ') == std::string_view::npos;
  if (format_ == Format::Unknown && !blank) {
    auto rest = line;
    format_ = take_number(rest) > 0 ? Format::Sparse : Format::Dense;
    if (format_ == Format::Sparse) trees_.offsets.assign(1, 0);  // blank lines so far were not sentences
    if (format_ == Format::Dense && line.find('\t') != std::string_view::npos)
      throw LineError(n_lines_, describe(LineFault::Control));
  }
  if (format_ == Format::Sparse) {
    if (blank) return;
    const std::size_t number = take_number(line);
    if (number == 0) throw LineError(n_lines_, "expected a sentence number, a tab and a tree, found " + in_quotes(line));
    if (number <= sentence())
      throw LineError(n_lines_,
                      "sentence " + std::to_string(number) + " is repeated or out of order: numbers must increase");
    if (number > text_.n_sentences())
      throw LineError(n_lines_, "there is no sentence " + std::to_string(number) + ": the text has " +
                                    std::to_string(text_.n_sentences()));
    while (sentence() + 1 < number) end_sentence();
  } else if (sentence() >= text_.n_sentences() && format_ == Format::Dense) {
    throw LineError(n_lines_, "more lines than the " + std::to_string(text_.n_sentences()) + " of the text");
  }
  if (!blank) add_tree(line);
  end_sentence();
}

void TreeReader::add_tree(std::string_view tree) {
  const std::size_t s = sentence();
  const auto first = to_size(trees_.offsets.back());
  std::int32_t current = -1;
  std::size_t position = 0;
  bool hollow = false;  // some bracket contains no word
  while (!tree.empty()) {
    const auto n_node = trees_.labels.size() - first;
    if (tree.front() == ' ') {
      tree.remove_prefix(1);
    } else if (tree.front() == '(') {
      if (current < 0 && n_node > 0) throw LineError(n_lines_, "more than one tree on the line");
      tree.remove_prefix(1);
      const auto label = tree.substr(0, tree.find_first_of(kEndsOfWord));
      tree.remove_prefix(label.size());
      trees_.labels.push_back(add_label(labels_, label, n_lines_));
      trees_.begins.push_back(static_cast<std::uint16_t>(position));
      trees_.ends.push_back(0);
      trees_.parents.push_back(current);
      current = static_cast<std::int32_t>(n_node);
    } else if (tree.front() == ')') {
      if (current < 0) throw LineError(n_lines_, "there is one closing bracket too many");
      tree.remove_prefix(1);
      const auto node = first + to_size(current);
      hollow = hollow || trees_.begins[node] == position;
      trees_.ends[node] = static_cast<std::uint16_t>(position);
      current = trees_.parents[node];
    } else {
      const auto word = tree.substr(0, tree.find_first_of(kEndsOfWord));
      if (current < 0) throw LineError(n_lines_, "expected a bracketed tree, found " + in_quotes(word));
      tree.remove_prefix(word.size());
      check_word(word, text_, s, position, n_lines_);
      ++position;
    }
  }
  if (current >= 0) throw LineError(n_lines_, "a bracket is not closed");
  if (position == 0) {
    for (auto* column : {&trees_.labels, &trees_.begins, &trees_.ends}) column->resize(first);
    trees_.parents.resize(first);
    return;
  }
  if (hollow) throw LineError(n_lines_, "a bracket contains no word");
  check_length(position, text_, s, n_lines_);
}

void TreeReader::finish() {
  splitter_.finish([this](std::string_view line) { add_line(line); });
  const std::size_t n = text_.n_sentences();
  if (format_ == Format::Sparse) {
    while (sentence() < n) end_sentence();
  } else if (sentence() != n) {
    throw LineError(std::min(sentence(), n) + 1,
                    counted(sentence(), "line") + " for the " + std::to_string(n) + " of the text");
  }
}

std::string format_trees(const TreesView& trees, const Vocabulary& labels, const SpelledText& text,
                         std::span<const std::int64_t> sentences) {
  if (trees.offsets.size() != text.offsets.size())
    throw Error("trees of " + counted(trees.offsets.size() - 1, "sentence") + " for a text of " +
                std::to_string(text.n_sentences()));
  check_sentences(sentences, text.n_sentences());
  const std::size_t n_nodes = trees.labels.size();
  const auto fits = [](bool true_of_sound_arrays) {
    if (!true_of_sound_arrays) throw Error("the arrays of the trees do not match");
  };
  fits(trees.begins.size() == n_nodes && trees.ends.size() == n_nodes && trees.parents.size() == n_nodes);
  std::string out;
  const auto append_word = [&](std::string_view word) {
    out.push_back(' ');
    for (const char c : word) {
      if (c == '(' || c == ')') {
        out.append(c == '(' ? "-LRB-" : "-RRB-");
      } else {
        out.push_back(c);
      }
    }
  };
  for (const auto number : sentences) {
    const auto s = to_size(number);
    const auto first = to_size(trees.offsets[s]), last = to_size(trees.offsets[s + 1]);
    fits(first <= last && last <= n_nodes);
    std::int32_t open = -1;  // the innermost node whose bracket is open
    std::size_t position = 0;
    const auto words_until = [&](std::size_t end) {
      for (; position < std::min(end, text.length(s)); ++position) append_word(text.word(s, position));
    };
    const auto close_until = [&](std::int32_t parent) {
      while (open != parent && open >= 0) {
        words_until(trees.ends[first + to_size(open)]);
        out.push_back(')');
        open = trees.parents[first + to_size(open)];
      }
    };
    for (auto node = first; node < last; ++node) {
      const auto parent = trees.parents[node];
      fits(parent >= -1 && parent < static_cast<std::int32_t>(node - first) && trees.labels[node] < labels.size());
      close_until(parent);
      words_until(trees.begins[node]);
      if (open >= 0) out.push_back(' ');
      out.push_back('(');
      out.append(labels.word(trees.labels[node]));
      open = static_cast<std::int32_t>(node - first);
    }
    close_until(-1);
    out.push_back('\n');
  }
  return out;
}

}  // namespace hyperbaton
