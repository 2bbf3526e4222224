const NOT_COMPARABLE =
  'Its authors’ own figures, measured by them on other data with other measures: not comparable with the rows here.';

/** Results that other compressors report of themselves, word for word. None of them was measured here. */
export const peers = [
  {
    name: 'LLMLingua-2',
    quoted: true,
    source: 'https://arxiv.org/abs/2403.12968',
    says: [
      'our model is 3x-6x faster than existing prompt compression methods, while accelerating the end-to-end latency by 1.6x-2.9x with compression ratios of 2x-5x',
    ],
    note: NOT_COMPARABLE,
  },
  {
    name: 'Headroom',
    quoted: true,
    source: 'https://github.com/chopratejas/headroom/blob/022ccdb0fe7cdcd8bb6e6852038d2a403067cb43/README.md',
    says: [
      'Code search (100 results): 17,765 → 1,408 tokens, 92%',
      'SRE incident debugging: 65,694 → 5,118 tokens, 92%',
      'GitHub issue triage: 54,174 → 14,761 tokens, 73%',
      'Codebase exploration: 78,502 → 41,254 tokens, 47%',
      'SQuAD v2, N 100: 97%, 19% compression',
      'BFCL, N 100: 97%, 32% compression',
    ],
    note: NOT_COMPARABLE,
  },
] as const;
