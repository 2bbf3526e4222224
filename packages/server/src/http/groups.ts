/** What the operations of each group do, for the tags of the OpenAPI document and the reference. */
export const GROUPS: Readonly<Record<string, string>> = {
  Receipts: 'Mint, emit and read signed receipts.',
  Sessions: 'What an agent did, as receipts in order that the service signs.',
  Tenants: 'A tenant’s own receipts, and the evidence room that they are kept in.',
  Verify: 'Check receipts and evidence, without an account.',
  Anchor: 'Place hashes in the anchor log, look them up, and buy the API keys that anchoring needs.',
  Keys: 'The API keys of an account: make, limit, rotate and revoke them.',
  Balance: 'Prepaid balances: top-ups, statements and withdrawals.',
  Log: 'The anchor log: its state, its postings to the chain, and the tiles that its monitors read.',
  SCITT: 'The same log for tools that speak SCITT: register signed statements, get COSE Receipts.',
  Choose: 'What receipts cost, and which profile to take.',
  'Issuers and trust': 'Who issues receipts with which keys, and the signed bundle of whom to trust.',
  Inference:
    'OpenAI-compatible models, routed, compressed, metered and receipted; the members, and the benchmark of compression.',
  Webhooks: 'Messages that the service sends when something has happened, and the log of their deliveries.',
  Rosetta: 'A pilot: privacy policies expressed for other jurisdictions.',
  Prospector: 'A pilot: how ready an AI transaction surface is, seen from outside.',
  'Model Context Protocol': 'The other operations as tools for models.',
  Operator: 'How the whole service is, and rests of models and providers: for its operator.',
  Operations: 'How the service is, and what describes it.',
};
