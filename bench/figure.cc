// SPDX-License-Identifier: BSD-3-Clause
#include "figure.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "machine.h"

namespace nagaya::bench {
namespace {

using Json = nlohmann::ordered_json;

double percentile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

Json json_of(const Spread& spread) {
  return {{"p50", spread.p50}, {"p10", spread.p10}, {"p90", spread.p90},    {"p99", spread.p99},
          {"min", spread.min}, {"max", spread.max}, {"count", spread.count}};
}

Json json_of(const Series& series) {
  Json json{{"name", series.name}};
  json.update(json_of(spread_of(series.rounds)));
  json["rounds"] = series.rounds;
  return json;
}

Json json_of(const Figure& figure) {
  Json json{{"title", figure.title}, {"unit", figure.unit}, {"subject", json_of(figure.subject)}};
  if (figure.incumbent) {
    json["incumbent"] = json_of(*figure.incumbent);
    json["ratio"] = json_of(spread_of(ratios(figure.subject, *figure.incumbent)));
  }
  if (figure.floor) {
    json["floor"] = json_of(*figure.floor);
    json["floor_ratio"] = json_of(spread_of(ratios(figure.subject, *figure.floor)));
  }
  return json;
}

void print_json(const Result& result) {
  const Machine machine = this_machine();
  Json json{{"program", result.program},
            {"quick", result.quick},
            {"machine",
             {{"cpu", machine.cpu},
              {"cores", machine.cores},
              {"kernel", machine.kernel},
              {"libc", machine.libc}}},
            {"commit", machine.commit},
            {"figures", Json::object()}};
  for (const Figure& figure : result.figures) json["figures"][figure.name] = json_of(figure);
  for (const Derived& derived : result.derived)
    json["figures"][derived.name] = {
        {"title", derived.title}, {"note", derived.note}, {"value", derived.value}};
  fmt::print("{}\n", json.dump(2));
}

std::string value_text(const Spread& spread) {
  const int decimals = spread.p50 < 10 ? 3 : spread.p50 < 1000 ? 1 : 0;
  return fmt::format("{:.{}f}", spread.p50, decimals);
}

std::string ratio_text(const Series& subject, const std::optional<Series>& other) {
  if (!other) return "";
  const Spread spread = spread_of(ratios(subject, *other));
  return fmt::format("{:.3f} [{:.3f}..{:.3f}]", spread.p50, spread.p10, spread.p90);
}

void print_figure(const Figure& figure) {
  const auto side = [](const std::optional<Series>& series) {
    return series ? value_text(spread_of(series->rounds)) : std::string();
  };
  fmt::print("{:<22} {:<16} {:>9} {:>6} {:>9} {:>9}  {:<22} {:<22}\n", figure.name, figure.unit,
             value_text(spread_of(figure.subject.rounds)),
             value_text(spread_of({spread_of(figure.subject.rounds).p99})), side(figure.incumbent),
             side(figure.floor), ratio_text(figure.subject, figure.incumbent),
             ratio_text(figure.subject, figure.floor));
}

void print_legend(const Figure& figure) {
  fmt::print("  {}: {}\n", figure.name, figure.title);
  if (figure.incumbent)
    fmt::print("    p50 {}; incumbent {}; floor {}\n", figure.subject.name, figure.incumbent->name,
               figure.floor ? figure.floor->name : "none");
}

void print_table(const Result& result) {
  const Machine machine = this_machine();
  fmt::print("{}{}\n{}, {} cores, Linux {}, {}, commit {}\n", result.program,
             result.quick ? " (--quick: proves that it works, measures nothing)" : "", machine.cpu,
             machine.cores, machine.kernel, machine.libc, machine.commit);
  fmt::print("{:<22} {:<16} {:>9} {:>6} {:>9} {:>9}  {:<22} {:<22}\n", "figure", "unit", "p50",
             "p99", "incumbent", "floor", "/incumbent [p10..p90]", "/floor [p10..p90]");
  for (const Figure& figure : result.figures) print_figure(figure);
  for (const Derived& derived : result.derived)
    fmt::print("{:<22} {:.3f}  {}\n", derived.name, derived.value, derived.note);
  for (const Figure& figure : result.figures) print_legend(figure);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.min = values.front(),
          .p10 = percentile(values, 0.10),
          .p50 = percentile(values, 0.50),
          .p90 = percentile(values, 0.90),
          .p99 = percentile(values, 0.99),
          .max = values.back(),
          .count = values.size()};
}

double median_of(std::vector<double> values) {
  return spread_of(std::move(values)).p50;
}

void add_round(Result& result, std::vector<Figure> figures) {
  if (result.figures.empty()) {
    result.figures = std::move(figures);
    return;
  }
  for (size_t n = 0; n < figures.size(); ++n) {
    Figure &all = result.figures[n], &one = figures[n];
    all.subject.rounds.push_back(one.subject.rounds[0]);
    if (one.floor) all.floor->rounds.push_back(one.floor->rounds[0]);
  }
}

std::vector<double> ratios(const Series& subject, const Series& other) {
  std::vector<double> all;
  for (size_t n = 0; n < std::min(subject.rounds.size(), other.rounds.size()); ++n)
    all.push_back(subject.rounds[n] / other.rounds[n]);
  return all;
}

void progress(const std::string& text) {
  static const bool terminal = ::isatty(2) == 1;
  fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "", text, terminal ? "" : "\n");
  std::fflush(stderr);
}

void print(const Result& result, bool json) {
  if (::isatty(2) == 1) progress("");
  json ? print_json(result) : print_table(result);
}

}  // namespace nagaya::bench
