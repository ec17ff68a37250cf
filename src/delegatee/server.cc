// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/server.h"

#include <cstdlib>

#include "fabric/module.h"

namespace nagaya::delegatee {

Server::Server(task::SpaceHeader& space)
    : memory_(llcl::create_board(space)),
      board_(*static_cast<llcl::Board*>(space.upper_floors)),
      node_(board_) {}

Server::~Server() {
  if (!thread_.joinable()) return;
  delegatee_->stop();
  thread_.join();
}

std::string Server::answer(const std::string& question) {
  const Question asked = decode_question(question);
  if (asked.kind == Question::Kind::kAddress) return address(asked);
  connect(asked);
  return {};
}

std::string Server::address(const Question& question) {
  if (thread_.joinable())
    throw base::Error(-EALREADY, "the nodes of this job are connected already");
  for (const std::string& variable : question.variables) {
    const size_t equals = variable.find('=');
    if (!variable.starts_with("FI_") || equals == std::string::npos)
      throw base::Error(-EPROTO, variable + ": not a variable of libfabric");
    ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  if (fabric_ == nullptr) fabric_ = fabric::open_libfabric();
  return fabric_->address();
}

void Server::connect(const Question& question) {
  if (fabric_ == nullptr || thread_.joinable())
    throw base::Error(-EPROTO, "nodes are connected once, after their addresses were asked for");
  fabric_->connect(question.addresses, question.self);
  const auto nodes = static_cast<uint32_t>(question.addresses.size());
  delegatee_ = std::make_unique<Delegatee>(
      Surroundings{*fabric_, nodes, node_, node_, node_, board_.delegatee_bell, board_.load},
      Options{});
  thread_ = std::thread([this] { delegatee_->run(); });
}

void Server::task_ended(const task::TaskRecord& record) {
  const mailbox::Owner dead = llcl::reclaim(board_, record.number);
  if (dead == mailbox::Owner{}) return;
  if (delegatee_ == nullptr) return board_.lanes->reclaim(dead);
  node_.note_dead(record.number, dead);
  delegatee_->abandon(record.number);
}

}  // namespace nagaya::delegatee
