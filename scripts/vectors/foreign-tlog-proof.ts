import {
  cosignCheckpoint,
  formatTlogProof,
  inclusionProof,
  leafHash,
  merkleRoot,
  type Signer,
  signCheckpoint,
  toBase64url,
  toHex,
  utf8,
  verifierKey,
  withSignature,
} from '../../packages/core/src/index.ts';
import { ISSUED_SECONDS } from './cases.ts';
import { type ForeignCase, foreignCases } from './foreign.ts';
import { signers } from './keys.ts';

const ORIGIN = 'log.example.com/2026';
const entries = Array.from({ length: 5 }, (_, index) => utf8(`entry ${index}`));
const leaves = entries.map((entry) => leafHash(entry));

async function proofBy(signer: Signer, origin = ORIGIN): Promise<string> {
  const checkpoint = await signCheckpoint({ origin, size: 5, root: merkleRoot(leaves) }, signer);
  return formatTlogProof({ index: 2, path: inclusionProof(leaves, 2), checkpoint });
}

export async function foreignTlogProofCases(): Promise<ForeignCase[]> {
  const tlog = foreignCases('tlog_proof', signers.agent.keyId);
  const good = await proofBy(signers.agent);
  const keys = [verifierKey(ORIGIN, signers.agent.publicKey)];
  const entry = toHex(entries[2] ?? new Uint8Array());
  const given = { keys, entry };
  const log = {
    origin: ORIGIN,
    key_id: signers.agent.keyId,
    public_key: toBase64url(signers.agent.publicKey),
  };
  const [head = '', ...note] = good.split('\n\n');
  const cosigned = withSignature(
    note.join('\n\n'),
    await cosignCheckpoint(
      note.join('\n\n'),
      { name: 'witness.example.com', signer: signers.stranger },
      ISSUED_SECONDS,
    ),
  );
  const [, first = ''] = /index 2\n(\S+)\n/.exec(good) ?? [];
  return [
    tlog('proof with its entry', 'The log key is given as a verifier key.', good, [], given),
    tlog('proof, key as a did:key', 'The name of the key is then that of the log.', good, [], {
      keys: [signers.agent.keyId],
      entry,
    }),
    tlog('proof, log of the trust bundle', 'The bundle names the log and its key.', good, [], { log, entry }),
    tlog(
      'proof without its entry',
      'Intact; nothing shows what it is about, so that it is not trusted.',
      good,
      [],
      { keys, trusted: false },
    ),
    tlog(
      'proof with a cosignature',
      'Signatures of others are passed over.',
      `${head}\n\n${cosigned}`,
      [],
      given,
    ),
    tlog('no key', 'Nothing can be checked.', good, ['key', 'signature'], { entry }),
    tlog('key of another name', 'A key is told by its name and id.', good, ['key', 'signature'], {
      keys: [verifierKey('other.example.com', signers.agent.publicKey)],
      entry,
    }),
    tlog('another log in the bundle', 'Its key is of another log.', good, ['key', 'signature'], {
      log: { ...log, origin: 'other.example.com' },
      entry,
    }),
    tlog('another entry', 'The path leads elsewhere.', good, ['inclusion'], {
      keys,
      entry: toHex(entries[1] ?? new Uint8Array()),
    }),
    tlog(
      'path changed',
      'The path leads elsewhere.',
      good.replace(first, `${first.startsWith('A') ? 'B' : 'A'}${first.slice(1)}`),
      ['inclusion'],
      given,
    ),
    tlog(
      'index changed',
      'The path is that of another place.',
      good.replace('index 2', 'index 3'),
      ['inclusion'],
      given,
    ),
    tlog('size changed', 'The checkpoint is signed.', good.replace('\n5\n', '\n6\n'), ['signature'], given),
    tlog(
      'two signatures of one key',
      'One of them would go unlooked at.',
      `${good}${note.join('\n\n').split('\n\n')[1] ?? ''}`,
      ['format'],
      given,
    ),
    tlog('version 2', 'It is not known.', good.replace('@v1', '@v2'), ['format'], given),
    tlog('no checkpoint', 'The form is wrong.', `${head}\n\n`, ['format'], given),
  ];
}
