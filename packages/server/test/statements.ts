import {
  createSigner,
  generateSecretKey,
  type SignedStatement,
  type Signer,
  type StatementFacts,
  signStatement,
} from '@tallystick/core';

/** The service that statements are made to in tests. */
const AUDIENCE = 'did:svc:local';

export const freshSigner = (): Promise<Signer> => createSigner(generateSecretKey());

/** A registration by the key that it registers. `at` is Unix milliseconds. */
export function registration(did: string, key: Signer, at: number): Promise<SignedStatement> {
  return signStatement(
    { audience: AUDIENCE, did, sequence: 1, action: 'register', keyId: key.keyId, at },
    key,
  );
}

/** A later statement, signed by `author` and, where a key comes in, by that one too. */
export function change(
  facts: Omit<StatementFacts, 'audience'>,
  author: Signer,
  incoming?: Signer,
): Promise<SignedStatement> {
  return signStatement({ audience: AUDIENCE, ...facts }, author, incoming);
}
