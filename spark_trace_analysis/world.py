"""To what a broker was set when it wrote the traces of a run."""

from model_check.instances import constants_for
from spark_trace_analysis.invariants import World
from spark_trace_analysis.manifest import Parameters


def world_of(parameters: Parameters) -> World:
    """The sizes and switches of a simulated run.

    Raises
    ------
    ModelCheckError
        The profile, a fault or the instance is unknown.
    """
    return World.of(constants_for(parameters.profile, parameters.environment, parameters.instance))
