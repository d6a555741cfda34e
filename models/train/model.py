"""The Llama that is trained here: RMSNorm, RoPE on adjacent pairs, grouped-query attention, SwiGLU,
tied embeddings, no biases. The same arithmetic as the `llama` architecture of GGUF files."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Config:
    vocab_size: int = 2048
    dim: int = 192
    layers: int = 6
    heads: int = 6
    kv_heads: int = 2
    ffn: int = 512
    context: int = 512
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


def rope_table(config: Config) -> torch.Tensor:
    """cos and sin, [2, context, 1, head_dim / 2]."""
    exponents = torch.arange(0, config.head_dim, 2).float() / config.head_dim
    angles = torch.outer(torch.arange(config.context).float(), config.rope_theta ** -exponents)
    return torch.stack((angles.cos(), angles.sin())).unsqueeze(2)


def rotate(x: torch.Tensor, rope: torch.Tensor) -> torch.Tensor:
    """x [batch, seq, heads, head_dim]; the pair (2i, 2i + 1) turns by the angle of its position."""
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = rope[0, :x.size(1)], rope[1, :x.size(1)]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).type_as(x)


class Layer(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        kv_dim = config.kv_heads * config.head_dim
        self.attn_norm = nn.RMSNorm(config.dim, eps=config.rms_norm_eps)
        self.attn_q = nn.Linear(config.dim, config.dim, bias=False)
        self.attn_k = nn.Linear(config.dim, kv_dim, bias=False)
        self.attn_v = nn.Linear(config.dim, kv_dim, bias=False)
        self.attn_output = nn.Linear(config.dim, config.dim, bias=False)
        self.ffn_norm = nn.RMSNorm(config.dim, eps=config.rms_norm_eps)
        self.ffn_gate = nn.Linear(config.dim, config.ffn, bias=False)
        self.ffn_up = nn.Linear(config.dim, config.ffn, bias=False)
        self.ffn_down = nn.Linear(config.ffn, config.dim, bias=False)

    def attention(self, x: torch.Tensor, rope: torch.Tensor) -> torch.Tensor:
        split = (-1, self.config.head_dim)
        q = rotate(self.attn_q(x).unflatten(-1, split), rope).transpose(1, 2)
        k = rotate(self.attn_k(x).unflatten(-1, split), rope).transpose(1, 2)
        v = self.attn_v(x).unflatten(-1, split).transpose(1, 2)
        group = self.config.heads // self.config.kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_output(out.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor, rope: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attn_norm(x), rope)
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Llama(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocab_size, config.dim)
        self.blk = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.output_norm = nn.RMSNorm(config.dim, eps=config.rms_norm_eps)
        self.register_buffer("rope", rope_table(config), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                residual = name.endswith(("attn_output.weight", "ffn_down.weight"))
                std = 0.02 / (2 * config.layers) ** 0.5 if residual else 0.02
                nn.init.normal_(weight, std=std)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens [batch, seq] -> logits [batch, seq, vocab]."""
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x, self.rope)
        return F.linear(self.output_norm(x), self.token_embd.weight)

    def parameter_count(self) -> int:
        return sum(p.numel() for p in self.parameters())
