/** A small random Llama as a Hugging Face folder. */

export type FolderFiles = Record<string, Uint8Array<ArrayBuffer>>;

const DIM = 64;
const FFN = 96;
const VOCABULARY = 'abcdefghijklmnop';

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

function tensors(): Tensor[] {
  const layer = (name: string, ...shape: number[]): Tensor => ({ name: `model.layers.0.${name}.weight`, shape });
  return [
    { name: 'model.embed_tokens.weight', shape: [VOCABULARY.length + 1, DIM] },
    layer('input_layernorm', DIM),
    layer('post_attention_layernorm', DIM),
    layer('self_attn.q_proj', DIM, DIM),
    layer('self_attn.k_proj', DIM / 2, DIM),
    layer('self_attn.v_proj', DIM / 2, DIM),
    layer('self_attn.o_proj', DIM, DIM),
    layer('mlp.gate_proj', FFN, DIM),
    layer('mlp.up_proj', FFN, DIM),
    layer('mlp.down_proj', DIM, FFN),
    { name: 'model.norm.weight', shape: [DIM] },
  ];
}

function safetensors(list: readonly Tensor[]): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = {};
  const values: number[] = [];
  for (const { name, shape } of list) {
    const begin = values.length * 4;
    let state = [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
    for (let left = shape.reduce((a, b) => a * b); left > 0; --left) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      values.push(shape.length === 1 ? 1 : state / 2 ** 33);
    }
    header[name] = { dtype: 'F32', shape, data_offsets: [begin, values.length * 4] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.byteLength + values.length * 4);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.byteLength), true);
  bytes.set(text, 8);
  bytes.set(new Uint8Array(Float32Array.from(values).buffer), 8 + text.byteLength);
  return bytes;
}

function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** `sharded`: the weights in two files and an index. */
export function folderFiles(sharded = false): FolderFiles {
  const list = tensors();
  const vocab = Object.fromEntries([...VOCABULARY].map((letter, id) => [letter, id]));
  const files: FolderFiles = {
    'config.json': json({
      model_type: 'llama',
      hidden_size: DIM,
      intermediate_size: FFN,
      num_hidden_layers: 1,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      max_position_embeddings: 128,
      tie_word_embeddings: true,
      eos_token_id: VOCABULARY.length,
    }),
    'tokenizer.json': json({
      added_tokens: [{ id: VOCABULARY.length, content: '<end>', special: true }],
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
      model: { type: 'BPE', vocab, merges: [] },
    }),
    'chat_template.jinja': new TextEncoder().encode('{{ messages[0].content }}'),
  };
  if (!sharded) return { ...files, 'model.safetensors': safetensors(list) };
  const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;
  const map = Object.fromEntries(list.map(({ name }, index) => [name, shards[index < 5 ? 0 : 1]]));
  return {
    ...files,
    'model.safetensors.index.json': json({ weight_map: map }),
    [shards[0]]: safetensors(list.slice(0, 5)),
    [shards[1]]: safetensors(list.slice(5)),
  };
}
