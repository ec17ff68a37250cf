// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi1_spawn.h"

#include "launch/spawn_info.h"

namespace nagaya::tools {
namespace {

using Values = std::map<std::string, std::string>;

// Returns the values of the fields <kind>_val_0, _1, ... by the keys <kind>_key_0, _1, ...
Values values_in(const Pmi1Fields& fields, const std::string& kind) {
  Values values;
  const auto count = fields.number_or<uint32_t>(kind + "_num", 0);
  for (uint32_t n = 0; n < count; ++n) {
    const std::string number = std::to_string(n);
    values[fields.text(kind + "_key_" + number)] =
        fields.text(kind + "_val_" + number, kPmi1ValueMaxBytes);
  }
  return values;
}

Application application_of(const Pmi1Fields& fields) {
  Values info = values_in(fields, "info");
  require_this_host(info["host"]);
  Application application;
  application.command = {program_in(info["path"], fields.text("execname"))};
  const auto arguments = fields.number_or<uint32_t>("argcnt", 0);
  for (uint32_t n = 1; n <= arguments; ++n)
    application.command.push_back(fields.text("arg" + std::to_string(n)));
  application.count = fields.number<uint32_t>("nprocs");
  application.directory = info["wdir"];
  return application;
}

}  // namespace

Pmi1Spawn spawn_of(const Pmi1Command& command) {
  Pmi1Spawn spawn;
  for (const Pmi1Fields& part : command.parts) spawn.applications.push_back(application_of(part));
  require_sound_counts(spawn.applications);
  spawn.preset_values = values_in(command.fields(), "preput");
  return spawn;
}

}  // namespace nagaya::tools
