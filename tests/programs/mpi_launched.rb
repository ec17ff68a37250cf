# SPDX-License-Identifier: BSD-3-Clause
# mpi_launched.rb LIBRARY - opens an MPI at run time, as Julia and other interpreters do, and prints
# this process's rank.
require "fiddle"

library = ARGV[0]
mpi = Fiddle.dlopen(library)
is_mpich = library.end_with?(".12")
comm_type = is_mpich ? Fiddle::TYPE_INT : Fiddle::TYPE_VOIDP
call = lambda do |name, types, *arguments|
  Fiddle::Function.new(mpi[name], types, Fiddle::TYPE_INT).call(*arguments)
end
number = lambda do |name, comm|
  place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_INT, Fiddle::RUBY_FREE)
  call.(name, [comm_type, Fiddle::TYPE_VOIDP], comm, place)
  place[0, Fiddle::SIZEOF_INT].unpack1("i")
end

call.("MPI_Init", [Fiddle::TYPE_VOIDP] * 2, nil, nil)
world = 0x44000000 # MPICH's MPI_COMM_WORLD; Open MPI tells its own
unless is_mpich
  world = Fiddle::Function.new(mpi["MPI_Comm_f2c"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOIDP).call(0)
end
$stdout.write("rank #{number.("MPI_Comm_rank", world)} of #{number.("MPI_Comm_size", world)}\n")
call.("MPI_Barrier", [comm_type], world)
call.("MPI_Finalize", [])
