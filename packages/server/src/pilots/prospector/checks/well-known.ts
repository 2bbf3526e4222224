import { isObject } from '@tallystick/core';
import type { Documents } from '../documents.ts';
import type { FindingCode } from '../findings.ts';
import { type Answer, type Inspection, isDocument } from '../inspection.ts';

const WANTED = [
  ['trust', 'trust_missing'],
  ['descriptor', 'descriptor_missing'],
  ['did', 'did_missing'],
  ['pricing', 'pricing_missing'],
] as const satisfies readonly (readonly [keyof Documents, FindingCode])[];

/** Checks whether the documents exist by which a client finds the service. */
export async function checkWellKnown({ found, well }: Inspection, documents: Documents): Promise<boolean> {
  let looked = false;
  for (const [name, code] of WANTED) {
    const answer = documents[name];
    if (answer === null) continue;
    looked = true;
    const fault = faultOf(name, answer);
    if (fault === null) well('well_known', `${answer.evidence.url} exists.`);
    else found(code, fault, answer);
  }
  return looked;
}

function faultOf(name: (typeof WANTED)[number][0], answer: Answer): string | null {
  if (answer.status !== 200) return `It answered ${answer.status}.`;
  if (!isDocument(answer) || !isObject(answer.json)) return 'The answer is not a JSON object.';
  if (name === 'descriptor' && !isObject(answer.json['endpoints'])) return 'It has no endpoints.';
  return null;
}
