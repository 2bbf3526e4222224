import { isSession } from '../documents.ts';
import { partOf } from './calls.ts';

/** Kind of a dropped file. */
type Kind = 'receipt' | 'session' | 'evidence' | 'anchor' | 'trust' | 'policy' | 'request' | 'response';

const bundle = /"type"\s*:\s*"svc-trust-v1"/;
const anchor = /^\s*\{[^{}]*"(?:merkle_path|batch_id)"\s*:[^{}]*\}\s*$/;
const items = /^\s*(\[|\{\s*"(?:unit|receipt)"|\{[^{}]*"receipt_sha256")/;
/** The first line that is neither empty nor a comment. */
const policy = /^(?:[ \t]*(?:#.*)?\n)*[ \t]*(?:log|witness|group|quorum)[ \t]/;

/** Tells what a file is from its contents; one that looks like nothing else counts as a receipt, and is judged as one. */
export function kindOf(bytes: Uint8Array): Kind {
  const text = new TextDecoder().decode(bytes);
  if (bundle.test(text)) return 'trust';
  if (policy.test(text)) return 'policy';
  if (anchor.test(text)) return 'anchor';
  if (items.test(text)) return 'evidence';
  return isSession(bytes) ? 'session' : (partOf(bytes) ?? 'receipt');
}
