// SPDX-License-Identifier: BSD-3-Clause
// figure.h - the report of a benchmark program, as a table or, with --json, as JSON.
//
// A figure is one quantity, measured in several rounds. In each round the subject (Nagaya), the
// incumbent (users have it today) and the floor (the limit of machine or kernel) are measured one
// after the other; the ratio is formed within the round, so that a slow drift of the machine
// cancels, and the spread is that of the ratios.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nagaya::bench {

// How values spread over rounds or repetitions.
struct Spread {
  double min = 0, p10 = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  size_t count = 0;
};
Spread spread_of(std::vector<double> values);
double median_of(std::vector<double> values);

// One side of a comparison: its name and its value in each round.
struct Series {
  std::string name;
  std::vector<double> rounds;
};

struct Figure {
  std::string name;   // the key in JSON, [a-z0-9_]
  std::string title;  // for people
  std::string unit;   // "ns per page"
  Series subject;     // a floor program measures its floor as the subject
  std::optional<Series> incumbent;
  std::optional<Series> floor;
};

// Returns the subject's values divided by those of the incumbent (or floor), round by round.
std::vector<double> ratios(const Series& subject, const Series& other);

// A figure that is derived from others, such as the worst of several ratios.
struct Derived {
  std::string name, title, note;
  double value = 0;
};

struct Result {
  std::string program;
  bool quick = false;
  std::vector<Figure> figures;
  std::vector<Derived> derived;
};

// Adds the figures of one more round, in the order of the first round's.
void add_round(Result& result, std::vector<Figure> figures);

// The options that every benchmark program has.
struct Options {
  bool json = false;
  bool quick = false;    // few, short rounds: proves that the program works, measures nothing
  bool corrupt = false;  // falsifies data on purpose: the program's own check must then fail
  int rounds = 0;        // 0: the program's default
  int rounds_or(int full, int fast) const { return rounds > 0 ? rounds : quick ? fast : full; }
};

// Prints the name of the present measurement on stderr; on a terminal it overwrites the last one.
void progress(const std::string& text);

// Prints the result to stdout in the wanted form.
void print(const Result& result, bool json);

}  // namespace nagaya::bench
