"""A model that is made for embeddings, small enough to be written by a test: random weights, real layers."""

from pathlib import Path

import gguf
import numpy as np

SIZE, WIDE, WINDOW, HEADS = 32, 64, 64, 2
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"\u2581{word}" for word in ["one", "two", "three", "four"])]


def write_bert(path: Path) -> Path:
    """One layer that reads in both directions; the vector of a text is the mean of its tokens'."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(WIDE)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    _add_tokenizer(writer)
    _add_weights(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    writer.add_tokenizer_model("bert")
    writer.add_token_list(TOKENS)
    writer.add_token_types([gguf.TokenType.CONTROL] * 5 + [gguf.TokenType.NORMAL] * (len(TOKENS) - 5))
    writer.add_token_type_count(2)
    for name, number in {"bos": 2, "cls": 2, "eos": 3, "seperator": 3, "unknown": 1, "padding": 0, "mask": 4}.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", number)


def _add_weights(writer: gguf.GGUFWriter) -> None:
    random = np.random.default_rng(1)
    shapes = {"token_embd": (len(TOKENS), SIZE), "position_embd": (WINDOW, SIZE), "token_types": (2, SIZE)}
    both = {"blk.0.ffn_up": (WIDE, SIZE), "blk.0.ffn_down": (SIZE, WIDE)}
    both |= {f"blk.0.attn_{name}": (SIZE, SIZE) for name in ("q", "k", "v", "output")}
    for name, shape in {**shapes, **both}.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.5, shape).astype(np.float32))
    for name, shape in both.items():
        writer.add_tensor(f"{name}.bias", np.zeros(shape[0], np.float32))
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(SIZE, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(SIZE, np.float32))
