// SPDX-License-Identifier: BSD-3-Clause
#include "directives/coarrays.h"

namespace nagaya::xmp {
namespace {

// Parses [e][e]...
std::vector<Expression> parse_brackets(Cursor& cursor) {
  std::vector<Expression> all;
  while (cursor.accept("[")) {
    all.push_back(cursor.expression());
    cursor.expect("]", "after the expression");
  }
  return all;
}

// Parses (lock[i]:[k]).
LockDirective parse_lock(Cursor& cursor, bool is_unlock) {
  LockDirective lock;
  lock.is_unlock = is_unlock;
  cursor.expect("(", "before the lock");
  lock.name = cursor.identifier("the name of a lock");
  lock.indexes = parse_brackets(cursor);
  if (cursor.accept(":")) {
    if (!cursor.is("[")) cursor.complain("expected an image, lock:[image]");
    lock.images = parse_brackets(cursor);
  }
  cursor.expect(")", "after the lock");
  const auto clause = [&](const char* word, std::optional<Expression>& value) {
    if (value || !cursor.accept(word)) return false;
    cursor.expect("(", "after '" + std::string(word) + "'");
    value = cursor.expression();
    cursor.expect(")", "after the variable of '" + std::string(word) + "'");
    return true;
  };
  while ((!is_unlock && clause("acquired_lock", lock.acquired)) || clause("stat", lock.status)) {
  }
  return lock;
}

PostDirective parse_post(Cursor& cursor) {
  PostDirective post;
  cursor.expect("(", "after 'post'");
  post.node = cursor.reference();
  cursor.expect(",", "and the tag in 'post'");
  post.tag = cursor.expression();
  cursor.expect(")", "after the tag");
  return post;
}

WaitDirective parse_wait(Cursor& cursor) {
  WaitDirective wait;
  if (!cursor.accept("(")) return wait;
  wait.node = cursor.reference();
  if (cursor.accept(",")) wait.tag = cursor.expression();
  cursor.expect(")", "after the node and the tag");
  return wait;
}

ImageDirective parse_image(Cursor& cursor) {
  cursor.expect("(", "after 'image'");
  ImageDirective image{cursor.identifier("the name of nodes")};
  cursor.expect(")", "after the nodes");
  return image;
}

}  // namespace

CoarrayDirective parse_coarray(Cursor& cursor) {
  CoarrayDirective coarray;
  const auto name = [&] { coarray.names.push_back(cursor.identifier("the name of a variable")); };
  if (cursor.accept("on")) {
    coarray.on = cursor.identifier("the name of nodes");
    if (!cursor.accept("::")) {
      cursor.expect(":", "and another ':' before the names of the coarrays");
      cursor.expect(":", "and the names of the coarrays");
    }
    cursor.list(name);
    return coarray;
  }
  cursor.list(name);
  cursor.expect(":", "and the codimensions: [*]");
  while (cursor.accept("[")) {
    if (cursor.accept_star()) {
      cursor.expect("]", "after '*'");
      return coarray;
    }
    coarray.codimensions.push_back(cursor.expression());
    cursor.expect("]", "after the codimension");
  }
  cursor.complain("expected the last codimension: [*]");
}

std::optional<DirectiveBody> parse_of_images(Cursor& cursor, const Token& name) {
  if (name.text == "image") return parse_image(cursor);
  if (name.text == "post") return parse_post(cursor);
  if (name.text == "wait") return parse_wait(cursor);
  if (name.text == "lock" || name.text == "unlock")
    return parse_lock(cursor, name.text == "unlock");
  return std::nullopt;
}

}  // namespace nagaya::xmp
