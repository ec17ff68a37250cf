# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.25)
# Writes OUTPUT, which defines build_text (build.h): a hash of the files of PROJECT that say what
# lies in shared memory, those of include/ and src/.
file(GLOB_RECURSE files RELATIVE ${PROJECT} ${PROJECT}/include/*.h ${PROJECT}/src/*.h ${PROJECT}/src/*.cc)
list(SORT files)
foreach(file ${files})
  file(SHA256 ${PROJECT}/${file} hash)
  string(APPEND hashes ${file} ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 digits)
file(WRITE ${OUTPUT} "#include \"task/space/build.h\"
namespace nagaya::task {
const char build_text[kBuildBytes] = \"nagaya-build:${digits}\";
}
")
