"""What happens, a chapter a file: actions, each declared with what it shows in a trace and when it is tried.

Other packages that know an action have a file of the same name: ``model_check/wording/`` its sentence and picture,
``fuzz/actions/`` how the broker is driven through it.
"""
