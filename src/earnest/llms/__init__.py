"""Language models that can be asked for help; see `earnest.protocols.LLM`."""

from earnest.core.models import Reply
from earnest.llms.scripted import ScriptedLLM
from earnest.llms.services import AnthropicLLM, OllamaLLM, OpenAILLM, ZhipuLLM
from earnest.llms.specs import made, model

__all__ = ["AnthropicLLM", "OllamaLLM", "OpenAILLM", "Reply", "ScriptedLLM", "ZhipuLLM", "made", "model"]
