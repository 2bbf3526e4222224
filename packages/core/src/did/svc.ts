import { TallyError } from '../errors.ts';

const handleSyntax = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const svcSyntax = /^did:svc:([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::([A-Za-z0-9._-]{1,64}))?$/;

/** `did:svc:<handle>` names an issuer, `did:svc:<handle>:<kid>` one of its keys. */
export interface SvcDid {
  readonly handle: string;
  readonly kid: string | null;
}

/** The DID of the issuer with this handle, which is written like a DNS label. @throws invalid_did */
export function didSvc(handle: string): string {
  if (!handleSyntax.test(handle)) {
    throw new TallyError(
      'invalid_did',
      'A handle has 1 to 63 characters of a-z, 0-9 and "-", and neither starts nor ends with "-".',
    );
  }
  return `did:svc:${handle}`;
}

/** The parts of a did:svc. @throws invalid_did */
export function parseDidSvc(did: string): SvcDid {
  const [, handle, kid] = svcSyntax.exec(did) ?? [];
  if (handle === undefined) {
    throw new TallyError('invalid_did', 'Expected did:svc:<handle> or did:svc:<handle>:<kid>.');
  }
  return { handle, kid: kid ?? null };
}
