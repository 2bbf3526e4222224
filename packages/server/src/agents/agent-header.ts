import { isDid, TallyError } from '@tallystick/core';
import { type AppContext, header } from '../http/context.ts';

/** The DID of the `X-Agent-DID` header: what the caller says, not proved. @throws invalid_field */
export function agentHeader(c: AppContext): string | null {
  const did = header(c, 'x-agent-did');
  if (did === undefined) return null;
  if (!isDid(did))
    throw new TallyError('invalid_field', 'X-Agent-DID is not a DID.', { field: 'X-Agent-DID' });
  return did;
}
