import type { ReferenceState, SessionCall, SessionEntry } from '@tallystick/core';
import { paint } from '../output.ts';
import { printable } from '../printable.ts';

/** A line about a receipt of a session. @param reference what is known of the receipt that it refers to, if it does */
export function entryLine(
  { seq, issued_at: at, call }: Pick<SessionEntry, 'seq' | 'issued_at' | 'call'>,
  reference?: ReferenceState,
): string {
  return paint('dim', `${String(seq).padStart(4)}  ${at}  `) + printable(whatOf(call, reference));
}

function whatOf(call: SessionCall, reference?: ReferenceState): string {
  if (call.kind === 'tool') return `${call.tool} (${call.server.name}): ${call.outcome}`;
  if (call.kind === 'reference') {
    const state = reference === undefined ? '' : `: ${reference.replace('_', ' ')}`;
    return `refers to ${call.receipt_id}${state}`;
  }
  return call.event === 'open'
    ? `opens the session ${call.session.id}`
    : `closes the session of ${call.count} receipts`;
}
