"""The parts of the recorder; they need torch, safetensors and the standard library alone."""
