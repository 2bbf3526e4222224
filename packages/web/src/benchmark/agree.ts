import { canonicalize, type JsonObject, type JsonValue } from '@tallystick/core';
import { benchmarkProse as prose } from '../prose.ts';
import type { NodeName } from './documents.ts';
import type { Reading } from './read.ts';

/** Members that say how a document was made. */
const ORIGIN = ['version', 'corpus', 'command', 'generated_with'];
/** Members of a node that the summary repeats. */
const SUMMED = ['about', 'tiers', 'paired', 'lossless'];

/** Returns the reading of a node, failed if the summary contradicts it: both may be signed, but on different days. */
export function agreeing({ document: summary }: Reading, reading: Reading, name: NodeName): Reading {
  const node = reading.document;
  if (summary === null || node === null) return reading;
  const summed = (summary.nodes as JsonObject)[name] as JsonObject;
  const same =
    ORIGIN.every((member) => equal(summary[member], node[member])) &&
    SUMMED.every((member) => equal(summed[member], node[member]));
  return same ? reading : { ...reading, state: 'fail', detail: prose.text.disagrees, document: null };
}

const equal = (one: JsonValue | undefined, other: JsonValue | undefined): boolean =>
  canonicalize(one ?? null) === canonicalize(other ?? null);
