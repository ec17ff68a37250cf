// SPDX-License-Identifier: BSD-3-Clause
#include "scale/description.h"

#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace nagaya::bench::scale {
namespace {

using Json = nlohmann::json;

// A figure is a number, or three (by distance), in `value`; beside it stands its source.
double number(const Json& figures, const char* name) {
  return figures.at(name).at("value").get<double>();
}
void numbers(const Json& figures, const char* name, double (&to)[kDistances]) {
  const Json& values = figures.at(name).at("value");
  for (size_t n = 0; n < kDistances; ++n) to[n] = values.at(n).get<double>();
}

Description of_json(const Json& json) {
  Description machine;
  machine.name = json.at("name");
  machine.title = json.at("title");
  machine.sockets = json.at("sockets");
  machine.clusters = json.at("clusters_of_a_socket");
  machine.cores = json.at("cores_of_a_cluster");
  machine.line_bytes = json.at("line_bytes");
  const Json& figures = json.at("figures");
  machine.access_ns = number(figures, "access_ns");
  machine.look_ns = number(figures, "look_ns");
  machine.call_ns = number(figures, "call_ns");
  machine.reduce_ns = number(figures, "reduce_ns");
  machine.shared_ns = number(figures, "shared_ns");
  machine.memory_ns = number(figures, "memory_ns");
  machine.outstanding = number(figures, "outstanding");
  machine.short_outstanding = number(figures, "short_outstanding");
  machine.stream_outstanding = number(figures, "stream_outstanding");
  machine.short_store_outstanding = number(figures, "short_store_outstanding");
  machine.store_outstanding = number(figures, "store_outstanding");
  machine.own_stream_ns = number(figures, "own_stream_ns");
  machine.cluster_gbs = number(figures, "cluster_gbs");
  machine.memory_gbs = number(figures, "memory_gbs");
  machine.core_cache_bytes = number(figures, "core_cache_bytes");
  machine.cluster_cache_bytes = number(figures, "cluster_cache_bytes");
  machine.yield_ns = number(figures, "yield_ns");
  numbers(figures, "transfer_ns", machine.transfer_ns);
  numbers(figures, "service_ns", machine.service_ns);
  return machine;
}

}  // namespace

Description Description::read(const std::string& file) {
  try {
    std::ifstream input(file);
    if (!input) throw std::runtime_error("it cannot be read");
    return of_json(Json::parse(input));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace nagaya::bench::scale
