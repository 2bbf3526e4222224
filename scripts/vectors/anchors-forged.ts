import {
  type Checkpoint,
  cosignCheckpoint,
  encodePosting,
  formatNote,
  fromHex,
  type JsonObject,
  type JsonValue,
  noteKeyHash,
  parseCheckpointText,
  parseNote,
  type Signer,
  signCheckpoint,
  toBase64url,
  toHex,
  utf8,
} from '../../packages/core/src/index.ts';
import {
  type AnchorCase,
  type Anchored,
  anchorOf,
  authority,
  ORIGIN,
  specifiedOnly,
  type TransactionFacts,
} from './anchor-base.ts';
import { casesOf } from './cases.ts';
import { textAt, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signByReference } from './sign.ts';

const { refuses } = casesOf('profile');

const PATH = ['anchor'];
const LOG = ['anchor_checkpoint'];
const CHAIN = ['anchor_transaction'];
const HEAD = [...LOG, ...CHAIN];

/** Builds refused cases from one good anchor. */
interface Forger {
  readonly receipt: JsonObject;
  readonly good: Anchored;
  readonly refused: (
    name: string,
    comment: string,
    changes: Partial<Omit<AnchorCase, 'name'>>,
    failed: readonly string[],
    nulls?: readonly string[],
  ) => AnchorCase;
}

export async function forgedAnchorCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const good = await anchorOf(receipt);
  const forger: Forger = {
    receipt,
    good,
    refused: (name, comment, { document = receipt, ...changes }, failed, nulls = []) => ({
      ...refuses(name, comment, document, failed, { nulls }),
      authority,
      ...good,
      ...changes,
    }),
  };
  return [
    ...malformedCases(forger),
    ...contradictoryCases(forger),
    ...pathCases(forger),
    ...(await otherReceiptCases(forger)),
    ...(await otherTreeCases(forger)),
    ...(await checkpointCases(forger)),
    ...transactionCases(forger),
    ...calldataCases(forger),
  ];
}

function malformedCases({ good: { anchor }, refused }: Forger): AnchorCase[] {
  const hash = `sha256:${'0'.repeat(64)}`;
  const list: readonly (readonly [string, JsonValue])[] = [
    ['a text', 'urn:anchor:base:1:0xab:0'],
    ['a list', [anchor]],
    ['an empty object', {}],
    ...Object.keys(specifiedOnly(anchor)).map(
      (name) => [`${name} missing`, withoutMember(anchor, name)] as const,
    ),
    ['anchor_ref of another kind', { ...anchor, anchor_ref: 'urn:anchor:base' }],
    ['anchor_ref pending, malformed', { ...anchor, anchor_ref: 'urn:anchor:pending:2026-01-15T12:60Z:3' }],
    ['block_height as text', { ...anchor, block_height: '25000000' }],
    ['tx_hash in upper case', { ...anchor, tx_hash: textAt(anchor, 'tx_hash').toUpperCase() }],
    ['merkle_root without sha256:', { ...anchor, merkle_root: '0'.repeat(64) }],
    ['merkle_path as text', { ...anchor, merkle_path: hash }],
    ['merkle_path with a short hash', { ...anchor, merkle_path: [hash.slice(0, -2)] }],
    ['merkle_path of 54 hashes', { ...anchor, merkle_path: Array(54).fill(hash) as string[] }],
    ['verified_at without a zone', { ...anchor, verified_at: '2026-01-15T11:59:59' }],
    ['leaf_index negative', { ...anchor, leaf_index: -1 }],
    ['tree_size 0', { ...anchor, tree_size: 0 }],
    ['checkpoint null', { ...anchor, checkpoint: null }],
  ];
  return list.map(([name, value]) =>
    refused(`form: ${name}`, 'The form is wrong.', { anchor: value }, PATH, HEAD),
  );
}

/** Cases in which a member contradicts the reference. */
function contradictoryCases({ good: { anchor }, refused }: Forger): AnchorCase[] {
  const reference = textAt(anchor, 'anchor_ref');
  const list: readonly (readonly [string, JsonObject])[] = [
    ['network', { network: 'optimism' }],
    ['block_height', { block_height: 25_000_001 }],
    ['tx_hash', { tx_hash: `0x${'0'.repeat(64)}` }],
    ['leaf_index', { leaf_index: 2 }],
    ['short_id', { anchor_ref: reference.replace(/3$/, '2') }],
    ['tree_size not above the index', { tree_size: 3 }],
  ];
  return list.map(([name, changes]) =>
    refused(
      `${name} against the reference`,
      'The result contradicts itself.',
      { anchor: { ...anchor, ...changes } },
      PATH,
      HEAD,
    ),
  );
}

function pathCases({ good: { anchor }, refused }: Forger): AnchorCase[] {
  const path = anchor.merkle_path as string[];
  const [first = '', ...rest] = path;
  const reference = textAt(anchor, 'anchor_ref').replace(/3$/, '2');
  const flipped = `${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`;
  const root = textAt(anchor, 'merkle_root');
  const list: readonly (readonly [string, string, JsonObject, (readonly string[])?])[] = [
    ['one bit of the path', 'Another root comes out.', { merkle_path: [flipped, ...rest] }],
    ['path reversed', 'The order is from the leaf to the root.', { merkle_path: path.toReversed() }],
    ['path too short', 'The place decides the length.', { merkle_path: rest }],
    ['path too long', 'The place decides the length.', { merkle_path: [...path, first] }],
    ['path empty', 'The place decides the length.', { merkle_path: [] }],
    ['another place', 'The siblings stand on other sides.', { anchor_ref: reference, leaf_index: 2 }],
    [
      'one bit of the root',
      'It is another root than was signed and posted.',
      { merkle_root: `${root.slice(0, -1)}${root.endsWith('0') ? '1' : '0'}` },
      HEAD,
    ],
    [
      'a tree size with the same path',
      'The path fits it; checkpoint and transaction do not.',
      { tree_size: 8 },
      HEAD,
    ],
    ['a tree size with another path', 'Nothing fits it.', { tree_size: 9 }, HEAD],
  ];
  return list.map(([name, comment, changes, others = []]) => {
    const inclusion = name === 'a tree size with the same path' ? [] : PATH;
    return refused(name, comment, { anchor: { ...anchor, ...changes } }, [...inclusion, ...others]);
  });
}

async function otherReceiptCases({ receipt, good: { anchor }, refused }: Forger): Promise<AnchorCase[]> {
  const other = await emitted('standard', { purpose: 'another' });
  const resigned = await signByReference({ ...receipt, purpose: 'another' }, signers.service);
  return [
    refused('anchor of another receipt', 'A good one, but not of this receipt.', { document: other }, PATH),
    refused(
      'anchor of what was signed before',
      'The receipt was signed again since.',
      { document: resigned },
      PATH,
    ),
    refused(
      'carried anchor of another receipt',
      'What is carried may contradict.',
      { document: { ...other, anchor }, anchor: null },
      PATH,
    ),
  ];
}

async function otherTreeCases({
  receipt,
  good: { anchor, transaction },
  refused,
}: Forger): Promise<AnchorCase[]> {
  const other = await anchorOf(receipt, { size: 8 });
  const elsewhere = await anchorOf(receipt, { origin: 'other.example/log', log: signers.stranger });
  return [
    refused(
      'checkpoint of a later tree',
      'Of the same log, with another root.',
      { anchor: { ...anchor, checkpoint: other.anchor.checkpoint ?? null } },
      LOG,
    ),
    refused(
      'transaction of a later tree',
      'Its root is not that of the path.',
      { transaction: { ...other.transaction, tx_hash: transaction.tx_hash } },
      CHAIN,
    ),
    refused(
      'checkpoint of our log, transaction of another',
      'The calldata names another log than the checkpoint.',
      {
        anchor: { ...elsewhere.anchor, checkpoint: anchor.checkpoint ?? null },
        transaction: elsewhere.transaction,
      },
      CHAIN,
    ),
  ];
}

async function checkpointCases({ good: { anchor }, refused }: Forger): Promise<AnchorCase[]> {
  const note = textAt(anchor, 'checkpoint');
  const head = parseCheckpointText(parseNote(note).text);
  const changed = (name: string, comment: string, checkpoint: string): AnchorCase =>
    refused(`checkpoint: ${name}`, comment, { anchor: { ...anchor, checkpoint } }, LOG);
  const [text = '', line = ''] = note.split('\n\n');
  const signed = (changes: Partial<Checkpoint>, log: Signer): Promise<string> =>
    signCheckpoint({ ...head, ...changes }, log);
  const witness = await cosignCheckpoint(note, { name: ORIGIN, signer: signers.log }, 1_768_476_600);
  const keyHash = noteKeyHash(ORIGIN, 1, signers.log.publicKey);
  const forged = {
    text: `${text}\n`,
    signatures: [{ name: ORIGIN, keyHash, signature: await signers.stranger.sign(utf8(`${text}\n`)) }],
  };
  return [
    changed('not a note', 'No signatures.', `${text}\n`),
    changed(
      'signed by a stranger',
      'Under the log’s name, with the stranger’s key id.',
      await signed({}, signers.stranger),
    ),
    changed('signed by a stranger with the log’s key id', 'The key id is no proof.', formatNote(forged)),
    refused(
      'checkpoint: another origin, signed by the log',
      'Nothing is known of that log; but the calldata are of another.',
      { anchor: { ...anchor, checkpoint: await signed({ origin: 'other.example/log' }, signers.log) } },
      CHAIN,
      LOG,
    ),
    changed('another size', 'Signed, but over another tree.', await signed({ size: 8 }, signers.log)),
    changed(
      'another root',
      'Signed, but over another tree.',
      await signed({ root: new Uint8Array(32) }, signers.log),
    ),
    changed('text changed', 'An extension line that was not signed.', `${text}\nextension\n\n${line}`),
    changed('only cosigned', 'A cosignature is not the log’s signature.', `${text}\n\n${witness}`),
    refused(
      'checkpoint: of a key that the log does not have',
      'The bundle holds another key.',
      {
        authority: {
          ...authority,
          log: {
            origin: ORIGIN,
            key_id: signers.acme.keyId,
            public_key: toBase64url(signers.acme.publicKey),
          },
        },
      },
      LOG,
    ),
  ];
}

function transactionCases({ good: { anchor, transaction }, refused }: Forger): AnchorCase[] {
  const changed = (name: string, comment: string, changes: Partial<TransactionFacts>): AnchorCase =>
    refused(`transaction: ${name}`, comment, { transaction: { ...transaction, ...changes } }, CHAIN);
  const network = 'optimism';
  const renamed = { ...anchor, network, anchor_ref: textAt(anchor, 'anchor_ref').replace('base', network) };
  const moved = {
    ...anchor,
    block_height: 24_000_000,
    anchor_ref: textAt(anchor, 'anchor_ref').replace('25000000', '24000000'),
  };
  return [
    refused('transaction: none', 'The chain has no such transaction.', { transaction: null }, CHAIN),
    changed('another hash', 'Not the transaction of the result.', { tx_hash: `0x${'0'.repeat(64)}` }),
    changed('another block', 'The reference names the height.', { block_height: 25_000_001 }),
    refused(
      'transaction: another block in result and reference',
      'The chain says otherwise.',
      { anchor: moved },
      CHAIN,
    ),
    changed('another sender', 'Anybody can post any root.', { from: `0x${'11'.repeat(20)}` }),
    changed('another chain', 'The same account, on a chain that the bundle does not name.', { chain_id: 1 }),
    refused(
      'transaction: another network',
      'The bundle names the chain otherwise.',
      { anchor: renamed },
      CHAIN,
    ),
    refused(
      'transaction: another sender, the specified members alone',
      'Anybody can post any root.',
      { anchor: specifiedOnly(anchor), transaction: { ...transaction, from: `0x${'11'.repeat(20)}` } },
      CHAIN,
      LOG,
    ),
  ];
}

function calldataCases({ good: { anchor, transaction }, refused }: Forger): AnchorCase[] {
  const head = parseCheckpointText(parseNote(textAt(anchor, 'checkpoint')).text);
  const posting = (changes: Partial<Checkpoint>): string =>
    `0x${toHex(encodePosting({ ...head, ...changes }))}`;
  const changed = (name: string, comment: string, data: string): AnchorCase =>
    refused(`calldata: ${name}`, comment, { transaction: { ...transaction, data } }, CHAIN);
  const { data } = transaction;
  const pastRange = fromHex(data.slice(2));
  pastRange.set(fromHex('0020000000000000'), 45);
  return [
    changed('empty', 'It posts nothing.', '0x'),
    changed('another tag', 'svc-anchor-v1 comes first.', data.replace(/^0x73/, '0x74')),
    changed('one byte short', '85 bytes exactly.', data.slice(0, -2)),
    changed('one byte more', '85 bytes exactly.', `${data}00`),
    changed('half a byte more', 'Hex has two characters for a byte.', `${data}0`),
    changed('without 0x', 'As a node writes it.', data.slice(2)),
    changed('another log', 'SHA-256 of another origin.', posting({ origin: 'other.example/log' })),
    changed('another size', 'The same root over another size.', posting({ size: 8 })),
    changed('a size past 2^53-1', 'No tree of that size.', `0x${toHex(pastRange)}`),
    changed('another root', 'The path leads elsewhere.', posting({ root: new Uint8Array(32) })),
  ];
}
