/** A text to parse as an anchor reference. */
export interface AnchorRefCase {
  readonly name: string;
  readonly text: string;
  readonly expected:
    | { readonly kind: 'pending'; readonly batch_id: string; readonly leaf_index: number }
    | {
        readonly kind: 'anchored';
        readonly network: string;
        readonly block_height: number;
        readonly tx_hash: string;
        readonly leaf_index: number;
      }
    | { readonly code: string };
}

const BATCH = '2026-11-21T12:00Z';
const TX = `0x${'0123456789abcdef'.repeat(4)}`;

export function anchorRefCases(): AnchorRefCase[] {
  return [...pendingCases(), ...anchoredCases(), ...refusedCases()];
}

function pendingCases(): AnchorRefCase[] {
  const shortIds = [
    ['0', 0],
    ['z', 35],
    ['10', 36],
    ['lfls', 1_000_000],
    ['2gosa7pa2gv', Number.MAX_SAFE_INTEGER],
  ] as const;
  const pending = (name: string, batch_id: string, short: string, leaf_index: number): AnchorRefCase => ({
    name,
    text: `urn:anchor:pending:${batch_id}:${short}`,
    expected: { kind: 'pending', batch_id, leaf_index },
  });
  return [
    ...shortIds.map(([short, index]) => pending(`pending, leaf ${index}`, BATCH, short, index)),
    pending('pending, leap day', '2028-02-29T23:59Z', '1', 1),
  ];
}

function anchoredCases(): AnchorRefCase[] {
  const anchored = (name: string, network: string, block_height: number): AnchorRefCase => ({
    name,
    text: `urn:anchor:${network}:${block_height}:${TX}:a`,
    expected: { kind: 'anchored', network, block_height, tx_hash: TX, leaf_index: 10 },
  });
  return [
    anchored('anchored', 'base', 25_000_000),
    anchored('anchored, block 0', 'devnet', 0),
    anchored('anchored, largest block', 'base', Number.MAX_SAFE_INTEGER),
    anchored('anchored, network with digits and hyphens', '0-base-2', 1),
    anchored('anchored, network of 32 characters', 'n'.repeat(32), 1),
    anchored('anchored, network that starts as pending does', 'pending-2', 1),
  ];
}

function refusedCases(): AnchorRefCase[] {
  const pending = (batch: string, short = '1'): string => `urn:anchor:pending:${batch}:${short}`;
  const anchored = (network: string, height: string, tx = TX, short = '1'): string =>
    `urn:anchor:${network}:${height}:${tx}:${short}`;
  const list: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['another namespace', `urn:tally:pending:${BATCH}:1`],
    ['upper case', `URN:ANCHOR:pending:${BATCH}:1`],
    ['space before', ` ${pending(BATCH)}`],
    ['newline after', `${pending(BATCH)}\n`],
    ['no short id', pending(BATCH, '')],
    ['short id in upper case', pending(BATCH, 'Z')],
    ['short id with a leading zero', pending(BATCH, '01')],
    ['short id past 2^53-1', pending(BATCH, '2gosa7pa2gw')],
    ['short id of 12 characters', pending(BATCH, '100000000000')],
    ['short id negative', pending(BATCH, '-1')],
    ['batch without Z', pending('2026-11-21T12:00')],
    ['batch with seconds', pending('2026-11-21T12:00:00Z')],
    ['batch without minutes', pending('2026-11-21T12Z')],
    ['batch on a day that is not', pending('2026-02-29T12:00Z')],
    ['batch at hour 24', pending('2026-11-21T24:00Z')],
    ['batch with an offset', pending('2026-11-21T12:00+00:00')],
    ['pending as a network', anchored('pending', '1')],
    ['network empty', anchored('', '1')],
    ['network in upper case', anchored('Base', '1')],
    ['network with a colon', anchored('eip155:8453', '1')],
    ['network of 33 characters', anchored('n'.repeat(33), '1')],
    ['network that starts with a hyphen', anchored('-base', '1')],
    ['block with a leading zero', anchored('base', '01')],
    ['block negative', anchored('base', '-1')],
    ['block past 2^53-1', anchored('base', '9007199254740992')],
    ['block in hex', anchored('base', '0x1')],
    ['transaction without 0x', anchored('base', '1', TX.slice(2))],
    ['transaction in upper case', anchored('base', '1', TX.toUpperCase())],
    ['transaction one character short', anchored('base', '1', TX.slice(0, -1))],
    ['anchored without a short id', `urn:anchor:base:1:${TX}`],
    ['one part more', `${anchored('base', '1')}:1`],
  ];
  return list.map(([name, text]) => ({ name, text, expected: { code: 'anchor_ref_invalid' } }));
}
