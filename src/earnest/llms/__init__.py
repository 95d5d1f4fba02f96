"""Language models that can be asked for help; see `earnest.protocols.LLM`."""

from earnest.llms.scripted import ScriptedLLM

__all__ = ["ScriptedLLM"]
