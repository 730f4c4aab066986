# all-but.sh RANK COMMAND...: runs COMMAND, unless MPI's launcher says that this
# process is RANK: then it ends, with 0.
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$1" ] && exit 0
shift
exec "$@"
