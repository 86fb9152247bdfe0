"""Atomic operations, prefetching and wide products for the kernels, as LLVM instructions.

The first part of every generated module.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _address(context, builder, array_type, array, index):
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def prefetch(typing_context, array, index):
    """Ask for the cache line of array[index], to be read soon; two threads may hold it then."""

    def generate(context, builder, signature, arguments):
        address = builder.bitcast(_address(context, builder, signature.args[0], *arguments), cgutils.voidptr_t)
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number]),
            "llvm.prefetch.p0",
        )
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def swap_if_equal(typing_context, array, index, expected, wanted):
    """Compare-and-swap; gives what was found."""

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        pair = builder.cmpxchg(address, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return array.dtype(array, index, array.dtype, array.dtype), generate


@intrinsic
def load_shared(typing_context, array, index):
    """Load what another thread may be writing."""

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(address, "acquire", 8, typ=context.get_value_type(signature.return_type))

    return array.dtype(array, index), generate


@intrinsic
def fetch_and_add(typing_context, array, index, amount):
    """Add, and give what was there before."""

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", address, arguments[2], "acq_rel")

    return array.dtype(array, index, array.dtype), generate


@intrinsic
def call_native(typing_context, address, arguments):
    """Call the machine code at an address with numbers, and with arrays as pointers to their first elements."""

    def generate(context, builder, signature, given):
        number = ir.IntType(64)
        members = cgutils.unpack_tuple(builder, given[1])
        values = [
            context.make_array(kind)(context, builder, member).data if isinstance(kind, types.Array) else member
            for kind, member in zip(signature.args[1].types, members, strict=True)
        ]
        function = ir.FunctionType(number, [value.type for value in values])
        return builder.call(builder.inttoptr(given[0], function.as_pointer()), values)

    return types.int64(address, arguments), generate


@intrinsic
def multiply_high(typing_context, left, right):
    """The upper 64 bits of the product of two unsigned 64-bit numbers."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate
