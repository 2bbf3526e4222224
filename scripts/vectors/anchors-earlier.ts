import { type AnchorHistory, type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { type AnchorCase, anchorOf, authority } from './anchor-base.ts';
import { casesOf } from './cases.ts';
import { signers } from './keys.ts';

const { accepts, refuses } = casesOf('profile');

type Given = Omit<AnchorCase, 'name' | 'comment' | 'trust' | 'now' | 'expected'>;
type Log = AnchorHistory['logs'][number];
type Account = AnchorHistory['chains'][number];

const SPAN = { valid_from: '2026-01-01T00:00:00Z', valid_until: '2026-02-01T00:00:00Z' };
/** The block of `anchorOf`. */
const POSTED = '2026-01-15T11:30:00Z';
const LATER = '2026-03-01T00:00:00Z';
/** The authority that took the place of the one by whom everything is anchored. */
const present = {
  log: {
    origin: 'receipts.example/second',
    key_id: signers.stranger.keyId,
    public_key: toBase64url(signers.stranger.publicKey),
  },
  chain: { network: 'base', chain_id: 8453, address: `0x${'22'.repeat(20)}` },
};

/** Cases of anchors by a log or an account that the verifier's bundle has in its history. */
export async function earlierCases(receipt: JsonObject): Promise<AnchorCase[]> {
  const given = await anchorOf(receipt);
  if (authority.log === null || authority.chain === null)
    throw new Error('The vectors know a log and a chain.');
  const log: Log = { ...authority.log, last_size: 7, ...SPAN };
  const account: Account = { origin: authority.log.origin, ...authority.chain, ...SPAN };
  const knowing = (logChanges: Partial<Log>, accountChanges: Partial<Account>): Given => ({
    ...given,
    authority: {
      ...present,
      history: { logs: [{ ...log, ...logChanges }], chains: [{ ...account, ...accountChanges }] },
    },
  });
  const replaced = { ...given, authority: { ...authority, chain: present.chain } };
  const good = (name: string, comment: string, known: Given, nulls: readonly string[] = []): AnchorCase => ({
    ...accepts(`earlier: ${name}`, comment, receipt, { nulls }),
    ...known,
  });
  const bad = (
    name: string,
    comment: string,
    known: Given,
    failed: string,
    nulls: readonly string[] = [],
  ) => ({
    ...refuses(`earlier: ${name}`, comment, receipt, [failed], { nulls }),
    ...known,
  });
  const CHAIN = 'anchor_transaction';
  const LOG = 'anchor_checkpoint';
  return [
    good('log and account', 'Both were in use then.', knowing({}, {})),
    good('account of the present log', 'The log goes on; another account posts for it now.', {
      ...replaced,
      authority: { ...replaced.authority, history: { logs: [], chains: [account] } },
    }),
    good('members of an earlier one in the present', 'Verifiers pass over them: they bound what is over.', {
      ...given,
      authority: {
        log: Object.assign({ last_size: 1, valid_until: 'over' }, authority.log),
        chain: Object.assign(
          { origin: 'other.example/log', valid_from: LATER, valid_until: 'over' },
          authority.chain,
        ),
      },
    }),
    good(
      'another chain today',
      'The service went to another chain; its anchors of before are on the old one.',
      {
        ...given,
        authority: {
          ...present,
          chain: { network: 'optimism', chain_id: 10, address: present.chain.address },
          history: { logs: [log], chains: [account] },
        },
      },
    ),
    good('posted in the first second', 'valid_from is inclusive.', knowing({}, { valid_from: POSTED })),
    good('start not known', 'Nothing bounds it.', knowing({ valid_from: null }, { valid_from: null })),
    good('last size not known', 'Only the posting is dated.', knowing({ last_size: null }, {}), [LOG]),
    good(
      'log alone',
      'Its account is not known.',
      { ...given, authority: { ...present, history: { logs: [log], chains: [] } } },
      [CHAIN],
    ),
    bad(
      'posted as its time was over',
      'valid_until is exclusive.',
      knowing({}, { valid_until: POSTED }),
      CHAIN,
    ),
    bad(
      'posted before its time',
      'The account was not in use yet.',
      knowing({}, { valid_from: '2026-01-15T11:30:01Z' }),
      CHAIN,
    ),
    bad(
      'tree larger than the last one',
      'Signed after the log had ended.',
      knowing({ last_size: 6 }, {}),
      LOG,
    ),
    bad(
      'another key',
      'A log is told by its origin.',
      knowing({ key_id: present.log.key_id, public_key: present.log.public_key }, {}),
      LOG,
    ),
    bad(
      'account on another chain',
      'An address means nothing without its chain.',
      knowing({}, { chain_id: 1 }),
      CHAIN,
    ),
    good(
      'account of another log',
      'It did not post for this one.',
      knowing({}, { origin: 'other.example/log' }),
      [CHAIN],
    ),
    bad('account that was replaced', 'The bundle does not have it any more.', replaced, CHAIN),
  ];
}
