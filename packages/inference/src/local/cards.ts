/** Descriptions of the built-in models, for callers who choose a model. */

export const extractCard = {
  id: 'local/extract-1',
  name: 'extract-1',
  kind: 'chat',
  description:
    'Answers with sentences quoted from the conversation itself, or summarises it by them. It is no language model: it writes no sentence of its own, knows nothing beyond the text it is given, and says so where that does not answer.',
  method:
    'Sentence retrieval (BM25 with neighbour smoothing, and cues for who, when, where, why and how much); summaries by SumBasic. The same request always has the same answer.',
  languages:
    'Questions and cues for English, and less well for German, French, Spanish, Italian, Portuguese, Chinese, Japanese and Korean; any language by its words.',
  cannot: [
    'reason, calculate, translate, write code, or combine facts of different sentences',
    'call tools, read images, give log probabilities or fill a JSON schema',
    'find an answer that shares too few words with its question',
  ],
  json_mode: 'An object {"answer": text or null, "sentences": [text]}; null where nothing answers.',
  limits: { context_tokens: 32_768, output_tokens: 1_024 },
  tokenizer: 'o200k, plus 3 tokens a message and 3 for the answer',
  hardware: 'cpu',
  license: 'Apache-2.0',
  source: 'built in',
} as const;

export const embedCard = {
  id: 'local/embed-512',
  name: 'embed-512',
  kind: 'embedding',
  description:
    'Turns an English sentence or paragraph into 512 numbers of length 1, so that texts of like words and like meaning lie close. It is small and made for trying things out: it knows words, not sentences.',
  method:
    'The mean of word vectors (GloVe, 12,711 terms, 50 dimensions), rare words weighing more (SIF), beside a hash of the words themselves. The same text always has the same numbers.',
  languages: 'English. Text without a word in Latin letters and without a number is refused.',
  cannot: [
    'give another number of dimensions',
    'take tokens in place of text',
    'tell apart texts of the same words in another order, or see what “not” turns round',
    'match a language model’s embeddings: bench/README.md has what was measured',
  ],
  limits: {
    dimensions: 512,
    inputs: 2_048,
    input_tokens: 2_048,
    input_characters: 16_384,
    all_characters: 1_048_576,
  },
  tokenizer: 'o200k',
  hardware: 'cpu',
  license: 'Apache-2.0',
  source: 'built in',
} as const;

export const localCards = [extractCard, embedCard] as const;
