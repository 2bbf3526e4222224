/** A text, and whether an issuer's receipt may name it as recipient. */
export interface RecipientCase {
  readonly name: string;
  readonly text: string;
  readonly valid: boolean;
}

const EVM = '0x52908400098527886E0F7030069857D2E4169EE7';
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

export function recipientCases(): RecipientCase[] {
  const valid: Record<string, string> = {
    'an EVM address': EVM,
    'an EVM address in lower case': EVM.toLowerCase(),
    'an EVM address whose letter case is no checksum': EVM.replace('E', 'e'),
    'a Solana address': SOLANA,
    'the Solana address of 32 zero bytes': '1'.repeat(32),
    'a did:key': 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
    'a did:svc': 'did:svc:acme',
    'a did:web': 'did:web:agents.example.com:seven',
    'an EVM account in CAIP-10 form': `eip155:8453:${EVM}`,
    'a Bitcoin account in CAIP-10 form':
      'bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6',
  };
  const invalid: Record<string, string> = {
    'a name': 'bob',
    'the empty text': '',
    'an EVM address that is too short': EVM.slice(0, -1),
    'an EVM address that is too long': `${EVM}0`,
    'an EVM address without 0x': EVM.slice(2),
    'an EVM address with a capital X': EVM.replace('0x', '0X'),
    'an EVM address with a letter beyond f': EVM.replace('E', 'g'),
    'an EVM address with a line end': `${EVM}\n`,
    'base58 of 31 bytes': '1'.repeat(31),
    'base58 of 33 bytes': '1'.repeat(33),
    'base58 with an l': SOLANA.replace('E', 'l'),
    'a DID without its identifier': 'did:web:',
    'half a DID': 'did:svc',
    'a CAIP-10 account of an EVM chain with no EVM address': 'eip155:8453:bob',
    'an e-mail address': 'bob@example.com',
  };
  const casesOf = (texts: Record<string, string>, isValid: boolean): RecipientCase[] =>
    Object.entries(texts).map(([name, text]) => ({ name, text, valid: isValid }));
  return [...casesOf(valid, true), ...casesOf(invalid, false)];
}
