import {
  applyStatement,
  type IssuerDocument,
  type SignedStatement,
  type Signer,
  type StatementFacts,
  signStatement,
} from '../src/index.ts';
import { NOW, signerOf } from './sample-receipts.ts';

export const did = 'did:svc:acme';
const audience = 'did:svc:local';
export const [first, second, third, foreign] = (await Promise.all([21, 22, 23, 24].map(signerOf))) as [
  Signer,
  Signer,
  Signer,
  Signer,
];

export const HOUR = 3_600_000;

export type Step = Pick<StatementFacts, 'action' | 'keyId'> & Partial<StatementFacts>;

/** The next statement of a record, or one with another sequence, DID or time where the step gives one. */
export function nextStatement(
  document: IssuerDocument | null,
  step: Step,
  signer: Signer,
  incoming?: Signer,
): Promise<SignedStatement> {
  const sequence = (document?.sequence ?? 0) + 1;
  return signStatement({ audience, did, sequence, at: NOW, ...step }, signer, incoming);
}

/** The record after a step. */
async function after(
  document: IssuerDocument | null,
  step: Step,
  signer: Signer,
  incoming?: Signer,
): Promise<IssuerDocument> {
  return applyStatement(document, await nextStatement(document, step, signer, incoming));
}

export const register = (at = NOW): Promise<SignedStatement> =>
  nextStatement(null, { action: 'register', keyId: first.keyId, at }, first);

export const registered = async (): Promise<IssuerDocument> => applyStatement(null, await register());

/** The record after the first key has added another. */
export const added = (
  document: IssuerDocument,
  incoming: Signer,
  step: Partial<StatementFacts> = {},
): Promise<IssuerDocument> =>
  after(document, { action: 'add_key', keyId: incoming.keyId, ...step }, first, incoming);

/** A record that was registered with the first key and then got a second. */
export const twoKeys = async (): Promise<IssuerDocument> => added(await registered(), second);
