"""Atomic operations, prefetching and wide products for the kernels, as LLVM instructions.

The first part of every generated module.
"""

import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LOADS_IN_ORDER = platform.machine() in ("x86_64", "AMD64", "i686")


def _address(context, builder, array_type, array, index):
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _prefetch(context, builder, array_type, array, index, to_write):
    address = builder.bitcast(_address(context, builder, array_type, array, index), cgutils.voidptr_t)
    number = ir.IntType(32)
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number]),
        "llvm.prefetch.p0",
    )
    builder.call(function, [address, number(to_write), number(3), number(1)])
    return context.get_dummy_value()


@intrinsic
def prefetch(typing_context, array, index):
    """Ask for the cache line of array[index], to be read soon; two threads may hold it then."""

    def generate(context, builder, signature, arguments):
        return _prefetch(context, builder, signature.args[0], *arguments, 0)

    return types.void(array, index), generate


@intrinsic
def prefetch_to_write(typing_context, array, index):
    """Ask for the cache line of array[index], to be written soon."""

    def generate(context, builder, signature, arguments):
        return _prefetch(context, builder, signature.args[0], *arguments, 1)

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
def look_at_line(typing_context, array, index, wanted, mask):
    """Bit i, of eight: whether array[index + i] is what is wanted, where the mask has ones; bit 8 + i: whether it is 0.

    Another thread may be writing there. Where the processor keeps loads in their order, a vector load does: it gives
    each word as it was before or after a write. Elsewhere each is loaded for itself.
    """

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, signature.args[0], *arguments[:2])
        word = ir.IntType(64)
        lanes = ir.VectorType(word, 8)
        if LOADS_IN_ORDER:
            line = builder.load(builder.bitcast(address, lanes.as_pointer()), align=8)
            builder.fence("acquire")
        else:
            line = ir.Constant(lanes, ir.Undefined)
            for i in range(8):
                one = builder.load_atomic(builder.gep(address, [word(i)]), "acquire", 8, typ=word)
                line = builder.insert_element(line, one, ir.IntType(32)(i))

        def in_all_lanes(value):
            undefined = ir.Constant(lanes, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.IntType(32)(0))
            return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8))

        def bits(left, right):
            return builder.zext(builder.bitcast(builder.icmp_unsigned("==", left, right), ir.IntType(8)), word)

        matches = bits(builder.and_(line, in_all_lanes(arguments[3])), in_all_lanes(arguments[2]))
        return builder.or_(matches, builder.shl(bits(line, in_all_lanes(word(0))), word(8)))

    return types.int64(array, index, types.uint64, types.uint64), generate


@intrinsic
def lowest_bit(typing_context, number):
    """The place of the lowest one in a number that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def give_way(typing_context):
    """Let another thread have the processor; `sched_yield` of the system's library."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate


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


@intrinsic
def folded(typing_context, left, right):
    """The two halves of the product of two unsigned 64-bit numbers, combined by exclusive or."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        halves = builder.trunc(product, ir.IntType(64)), builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))
        return builder.xor(*halves)

    return types.uint64(types.uint64, types.uint64), generate
